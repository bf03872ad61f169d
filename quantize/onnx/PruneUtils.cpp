//===-- PruneUtils.cpp - what ways of pruning share -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/PruneUtils.h"

#include "quantize/onnx/Prune.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace atc::quantize {

std::optional<PruneConfig> resolvePruneNames(OnnxModel &model, PruneConfig config,
                                             Diagnostics &diagnostics) {
  config.resolve(model.aliases);
  std::set<std::string> known, wanted = config.skipLayers;
  for (const onnx::NodeProto &node : model.graph().node()) {
    known.insert(node.name());
    known.insert(node.output().begin(), node.output().end()); // names a node without a name
  }
  for (const auto &[name, layer] : config.layers)
    wanted.insert(name);
  for (const std::string &name : wanted)
    if (!known.count(name))
      diagnostics.error("E10016", "the configuration names the node \"" + name +
                                      "\", which the model has not");
  return diagnostics.hasErrors() ? std::nullopt : std::optional(std::move(config));
}

int64_t countWeights(OnnxModel &model) {
  int64_t count = 0;
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    if (const auto values = readFloats(tensor))
      count +=
          std::count_if(values->begin(), values->end(), [](float value) { return value != 0; });
  return count;
}

void addMissingBiases(OnnxModel &model) {
  for (onnx::NodeProto &node : *model.graph().mutable_node()) {
    const bool isConv = node.op_type() == "Conv";
    if ((!isConv && node.op_type() != "Gemm") || node.input_size() < 2 ||
        (node.input_size() > 2 && !node.input(2).empty()))
      continue;
    const onnx::TensorProto *weights = model.findConstant(node.input(1));
    if (!weights || !readFloats(*weights))
      continue;
    const int axis = isConv || intAttribute(node, "transB", 0) ? 0 : 1;
    const int64_t count = weights->dims(axis);
    const std::string name = model.freshName(node.input(1) + "_bias");
    model.addConstant(makeFloats(name, {count}, std::vector<float>(count, 0)));
    if (node.input_size() < 3)
      node.add_input("");
    node.set_input(2, name);
  }
  model.index();
}

/// Visits the elements of weights: their index in the file, and as rows of outputs.
template <typename Visit>
static void forRows(const onnx::TensorProto &weights, int64_t axis, Visit &&visit) {
  const int64_t count = countElements(weights);
  if (axis == 0) {
    for (int64_t i = 0; i < count; ++i)
      visit(i, i);
    return;
  }
  const int64_t inputs = weights.dims(0), outputs = weights.dims(1);
  const int64_t taps = count / std::max<int64_t>(1, inputs * outputs);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t input = i / (outputs * taps), output = i / taps % outputs;
    visit(i, (output * inputs + input) * taps + i % taps);
  }
}

std::vector<float> weightRows(OnnxModel &model, const onnx::NodeProto &node, int64_t axis) {
  const onnx::TensorProto &weights = *model.findConstant(node.input(1));
  const std::vector<float> values = *readFloats(weights);
  std::vector<float> rows(values.size());
  forRows(weights, axis, [&](int64_t from, int64_t to) { rows[to] = values[from]; });
  return rows;
}

void setWeightRows(OnnxModel &model, onnx::NodeProto &node, int64_t axis,
                   llvm::ArrayRef<float> rows) {
  const onnx::TensorProto &weights = *model.findConstant(node.input(1));
  std::vector<float> values(rows.size());
  forRows(weights, axis, [&](int64_t to, int64_t from) { values[to] = rows[from]; });
  const std::string name = model.freshName(node.input(1) + "_changed");
  model.addConstant(makeFloats(name, {weights.dims().begin(), weights.dims().end()}, values));
  node.set_input(1, name);
}

std::string pruningJson(const Pruning &pruning) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const PrunedLayer &layer : pruning.layers)
    layers.push_back({{"node", layer.node}, {"before", layer.before}, {"after", layer.after}});
  const nlohmann::ordered_json result = {
      {"layers", layers}, {"before", pruning.before}, {"after", pruning.after}};
  return result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace atc::quantize
