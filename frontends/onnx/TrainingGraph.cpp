//===-- TrainingGraph.cpp - an ONNX graph whose weights are inputs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/TrainingGraph.h"

#include "support/NamePattern.h"
#include "support/NearestName.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

/// Returns whether an input of a node is a setting and no weight.
bool isSetting(const onnx::NodeProto &node, int input) {
  static const llvm::StringSet<> all = {"Resize",           "Upsample", "Clip", "QuantizeLinear",
                                        "DequantizeLinear", "Range",    "Pow",  "ConstantOfShape",
                                        "Dropout"};
  if (node.op_type() == "BatchNormalization")
    return input >= 3;
  return (all.contains(node.op_type()) || node.op_type() == "Pad") && input >= 1;
}

/// Returns whether an input of a node is a weight by the operator's definition, however few
/// elements it has.
bool isWeight(const onnx::NodeProto &node, int input) {
  static const llvm::StringSet<> layers = {"Conv",
                                           "ConvTranspose",
                                           "Gemm",
                                           "PRelu",
                                           "LSTM",
                                           "GRU",
                                           "RNN",
                                           "BatchNormalization",
                                           "MatMul",
                                           "InstanceNormalization",
                                           "GroupNormalization",
                                           "LayerNormalization"};
  return layers.contains(node.op_type()) && (input >= 1 || node.op_type() == "MatMul");
}

class TrainingGraph {
public:
  TrainingGraph(onnx::GraphProto &graph, const TrainingImport &options, Diagnostics &diags)
      : graph(graph), options(options), diags(diags) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      initializers[tensor.name()] = &tensor;
  }

  std::optional<std::vector<TrainingInput>> run();

private:
  bool checkPatterns(const std::vector<std::string> &patterns);
  void findParameters();
  void findStatistics();
  void addStatistic(onnx::NodeProto &node, int input);
  bool dropsElements(const onnx::NodeProto &node) const;
  bool isBiasOfProduct(const onnx::NodeProto &node, int input,
                       const llvm::StringSet<> &products) const;

  onnx::GraphProto &graph;
  const TrainingImport &options;
  Diagnostics &diags;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringSet<> parameters;
  llvm::StringMap<std::string> statistics; ///< the output of each
};

bool TrainingGraph::checkPatterns(const std::vector<std::string> &patterns) {
  std::vector<std::string> names;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (tensor.data_type() == onnx::TensorProto::FLOAT)
      names.push_back(tensor.name());
  bool done = true;
  for (const std::string &pattern : patterns)
    if (llvm::none_of(names, [&](StringRef name) { return matchesPattern(pattern, name); })) {
      diags.error("E15002", "no float initializer of the model has the name '" + pattern + "'" +
                                didYouMean(pattern, names));
      done = false;
    }
  return done;
}

/// Returns whether an input is the vector that is added to the product of a weight, which is how
/// exporters write layers on tensors of rank 3.
bool TrainingGraph::isBiasOfProduct(const onnx::NodeProto &node, int input,
                                    const llvm::StringSet<> &products) const {
  return node.op_type() == "Add" && node.input_size() == 2 &&
         initializers.lookup(node.input(input))->dims_size() == 1 &&
         products.contains(node.input(1 - input));
}

void TrainingGraph::findParameters() {
  llvm::StringSet<> products;
  for (const onnx::NodeProto &node : graph.node()) {
    if (node.op_type() == "MatMul" && node.output_size() == 1 &&
        llvm::any_of(node.input(),
                     [&](const std::string &name) { return initializers.contains(name); }))
      products.insert(node.output(0));
    for (int input = 0; input < node.input_size(); ++input) {
      const std::string &name = node.input(input);
      const onnx::TensorProto *tensor = initializers.lookup(name);
      if (!tensor || tensor->data_type() != onnx::TensorProto::FLOAT)
        continue;
      // An exponent may be learned, which only its name tells; other settings have no gradient.
      const bool isWanted = llvm::is_contained(options.parameters, name);
      if (isSetting(node, input) && !(isWanted && node.op_type() == "Pow")) {
        if (isWanted)
          diags.error("E15002", "'" + name + "' cannot be trained: it is a setting of the node '" +
                                    node.name() + "' (" + node.op_type() + ")");
        continue;
      }
      auto isNamed = [&](const std::vector<std::string> &patterns) {
        return llvm::any_of(patterns,
                            [&](StringRef pattern) { return matchesPattern(pattern, name); });
      };
      int64_t elements = 1;
      for (int64_t dim : tensor->dims())
        elements *= dim;
      // A lone number is a constant of a formula, as a rule, unless it stands for a weight: the
      // bias of a layer with one output.
      const bool isTrained =
          elements > 1 || isWeight(node, input) || isBiasOfProduct(node, input, products);
      if (options.parameters.empty() ? isTrained : isNamed(options.parameters))
        if (!isNamed(options.frozen))
          parameters.insert(name);
    }
  }
}

void TrainingGraph::addStatistic(onnx::NodeProto &node, int input) {
  const std::string &name = node.input(input);
  const std::string next = name + ".next";
  statistics[name] = next;
  if (node.output_size() > input - 2)
    node.set_output(input - 2, next);
  else
    node.add_output(next);
  onnx::ValueInfoProto &output = *graph.add_output();
  output.set_name(next);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
}

/// Switches batch norms to training whose running statistics are initializers of their own.
void TrainingGraph::findStatistics() {
  if (!options.batchStatistics)
    return;
  llvm::StringSet<> read;
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(input);
  for (const onnx::ValueInfoProto &output : graph.output())
    read.insert(output.name());
  auto isRead = [&](const std::string &name) { return read.contains(name); };
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    auto isOwn = [&](int input) {
      const onnx::TensorProto *tensor = initializers.lookup(node.input(input));
      return tensor && tensor->data_type() == onnx::TensorProto::FLOAT &&
             !statistics.contains(node.input(input));
    };
    // The updated statistics must have no other readers: nodes read them by the names of the
    // outputs.
    const bool isFree =
        node.output_size() == 1 ||
        (node.output_size() == 3 && !isRead(node.output(1)) && !isRead(node.output(2)));
    if (node.op_type() != "BatchNormalization" || node.input_size() != 5 || !isFree || !isOwn(3) ||
        !isOwn(4) || node.input(3) == node.input(4))
      continue;
    auto attribute = llvm::find_if(*node.mutable_attribute(),
                                   [](const auto &each) { return each.name() == "training_mode"; });
    onnx::AttributeProto &mode =
        attribute == node.mutable_attribute()->end() ? *node.add_attribute() : *attribute;
    mode.set_name("training_mode");
    mode.set_type(onnx::AttributeProto::INT);
    mode.set_i(1);
    addStatistic(node, 3);
    addStatistic(node, 4);
  }
}

/// Returns whether the training mode of a dropout is an initializer or constant that is true.
bool TrainingGraph::dropsElements(const onnx::NodeProto &node) const {
  if (node.input_size() < 3)
    return false;
  const onnx::TensorProto *mode = initializers.lookup(node.input(2));
  for (const onnx::NodeProto &other : graph.node())
    if (other.op_type() == "Constant" && other.output_size() == 1 &&
        other.output(0) == node.input(2))
      for (const onnx::AttributeProto &attribute : other.attribute())
        if (attribute.name() == "value")
          mode = &attribute.t();
  if (!mode || mode->data_type() != onnx::TensorProto::BOOL)
    return false;
  return mode->raw_data().empty() ? mode->int32_data_size() == 1 && mode->int32_data(0) != 0
                                  : mode->raw_data() != std::string(1, '\0');
}

std::optional<std::vector<TrainingInput>> TrainingGraph::run() {
  const bool known = checkPatterns(options.parameters);
  if (!checkPatterns(options.frozen) || !known)
    return std::nullopt;
  findParameters();
  findStatistics();
  // A dropout without ratio and mode is that of inference, which passes its input on.
  for (onnx::NodeProto &node : *graph.mutable_node())
    if (node.op_type() == "Dropout" && !dropsElements(node))
      while (node.input_size() > 1)
        node.mutable_input()->RemoveLast();
  std::vector<TrainingInput> inputs;
  llvm::StringSet<> listed;
  for (const onnx::ValueInfoProto &input : graph.input())
    listed.insert(input.name());
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    auto statistic = statistics.find(tensor.name());
    if (!parameters.contains(tensor.name()) && statistic == statistics.end()) {
      kept.Add(std::move(tensor));
      continue;
    }
    if (!listed.contains(tensor.name())) {
      onnx::ValueInfoProto &input = *graph.add_input();
      input.set_name(tensor.name());
      auto &type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      type.mutable_shape();
      for (int64_t dim : tensor.dims())
        type.mutable_shape()->add_dim()->set_dim_value(dim);
    }
    inputs.push_back(
        {std::move(tensor), statistic == statistics.end() ? std::string() : statistic->second});
  }
  graph.mutable_initializer()->Swap(&kept);
  return inputs;
}

} // namespace

std::optional<std::vector<TrainingInput>> makeTrainingGraph(onnx::GraphProto &graph,
                                                            const TrainingImport &options,
                                                            Diagnostics &diagnostics) {
  return TrainingGraph(graph, options, diagnostics).run();
}

} // namespace atc::onnx_import
