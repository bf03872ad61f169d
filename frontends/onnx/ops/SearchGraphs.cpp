//===-- SearchGraphs.cpp - graphs of a search for tokens ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/SearchGraphs.h"

#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/GraphIndex.h"
#include "frontends/onnx/TensorData.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace atc::onnx_import {

using onnx::NodeProto;
using onnx::TensorProto;

namespace {
/// Renames what `names` has, in nodes and in the graphs inside them.
void rename(google::protobuf::RepeatedPtrField<NodeProto> &nodes,
            const llvm::StringMap<std::string> &names) {
  auto replace = [&](std::string &name) {
    if (auto found = names.find(name); found != names.end())
      name = found->second;
  };
  for (NodeProto &node : nodes) {
    for (std::string &input : *node.mutable_input())
      replace(input);
    for (std::string &output : *node.mutable_output())
      replace(output);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g()) {
        rename(*attribute.mutable_g()->mutable_node(), names);
        for (onnx::ValueInfoProto &output : *attribute.mutable_g()->mutable_output())
          replace(*output.mutable_name());
      }
  }
}
} // namespace

float numberOf(const NodeProto &node, llvm::StringRef name, float otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

void SearchGraph::read(NodeProto &node, llvm::StringRef attribute) {
  for (onnx::AttributeProto &own : *node.mutable_attribute())
    if (own.name() == attribute && own.has_g())
      graph = own.mutable_g();
  if (!graph)
    return;
  llvm::StringSet<> stored;
  for (const TensorProto &weight : graph->initializer())
    stored.insert(weight.name());
  for (const onnx::ValueInfoProto &input : graph->input())
    if (!stored.contains(input.name()))
      inputs.push_back(input);
  outputs.assign(graph->output().begin(), graph->output().end());
}

void SearchGraph::nameOwn(const std::string &prefix) {
  llvm::StringMap<std::string> names;
  auto own = [&](const std::string &name) {
    if (!name.empty())
      names[name] = prefix + name;
  };
  for (const onnx::ValueInfoProto &input : inputs)
    own(input.name());
  for (const TensorProto &weight : graph->initializer())
    own(weight.name());
  for (const NodeProto &node : graph->node())
    llvm::for_each(node.output(), own);
  for (std::vector<onnx::ValueInfoProto> *list : {&inputs, &outputs})
    for (onnx::ValueInfoProto &value : *list)
      if (auto found = names.find(value.name()); found != names.end())
        value.set_name(found->second);
  rename(*graph->mutable_node(), names);
  for (TensorProto &weight : *graph->mutable_initializer())
    weight.set_name(names[weight.name()]);
}

void SearchGraph::moveTo(onnx::GraphProto &nodes, onnx::GraphProto &weights) {
  for (NodeProto &own : *graph->mutable_node())
    nodes.add_node()->Swap(&own);
  for (TensorProto &weight : *graph->mutable_initializer())
    weights.add_initializer()->Swap(&weight);
}

int64_t SearchGraph::inputDim(size_t i, int dim, int rank) const {
  const onnx::TensorShapeProto &shape = inputs[i].type().tensor_type().shape();
  return shape.dim_size() == rank && shape.dim(dim).has_dim_value() ? shape.dim(dim).dim_value()
                                                                    : -1;
}

int64_t SearchGraph::vocabulary() const {
  const onnx::TensorShapeProto &logits = outputs[0].type().tensor_type().shape();
  return logits.dim_size() > 0 ? logits.dim(logits.dim_size() - 1).dim_value() : 0;
}

std::string SearchGraph::orderDecoder() {
  auto next = inputs.begin();
  for (const char *name : {"input_ids", "position_ids", "attention_mask"}) {
    auto found = std::find_if(next, inputs.end(),
                              [&](const onnx::ValueInfoProto &one) { return one.name() == name; });
    if (found == inputs.end())
      return "its decoder has no input '" + std::string(name) + "', which it must have beside " +
             "one past per layer";
    std::rotate(next, found, found + 1);
    const int64_t element = next++->type().tensor_type().elem_type();
    if (element != TensorProto::INT32 && element != TensorProto::INT64)
      return "input '" + std::string(name) + "' of its decoder has the type " +
             nameElementType(element) + ", expected INT32 or INT64";
  }
  const size_t taken = inputs.size(), made = outputs.size();
  if (taken < 4 || made != taken - 2)
    return "its decoder has " + std::to_string(taken) + " inputs and " + std::to_string(made) +
           " outputs, expected input_ids, position_ids, attention_mask and one past per layer, "
           "and logits and one present per layer";
  if (output(0) != "logits")
    return "the first output of its decoder is '" + output(0) + "', expected 'logits'";
  for (size_t i = 3; i < taken; ++i) {
    const int64_t element = inputType(i);
    if (inputDim(i, 2, 5) < 1 || inputDim(i, 4, 5) < 1)
      return "input '" + input(i) +
             "' of its decoder must have the shape [2, batch, heads, length, size], of which "
             "the heads and their size are numbers";
    if (element != TensorProto::FLOAT && element != TensorProto::FLOAT16 &&
        element != TensorProto::BFLOAT16)
      return "input '" + input(i) + "' of its decoder has the type " + nameElementType(element) +
             ", expected FLOAT, FLOAT16 or BFLOAT16";
  }
  return "";
}

std::string CoderForm::read(int64_t type, const SearchGraph &encoder, const SearchGraph &decoder) {
  const size_t taken = type == T5 ? 2 : 1, made = encoder.outputs.size();
  hasFirst = encoder.inputs.size() == taken + 1;
  layers = int64_t(hasFirst && made > 2 ? (made - 2) / 4 : made / 2);
  firstPast = taken;
  if (decoder.inputs.size() > taken && decoder.input(taken) == "encoder_hidden_states")
    ++firstPast;
  if (encoder.inputs.size() < taken || encoder.inputs.size() > taken + 1 || layers < 1 ||
      made != size_t(hasFirst ? 2 + 4 * layers : 2 * layers) || (firstPast > taken && !hasFirst) ||
      decoder.inputs.size() != firstPast + size_t(4 * layers) ||
      decoder.outputs.size() != size_t(1 + 2 * layers))
    return "its encoder has " + std::to_string(encoder.inputs.size()) + " inputs and " +
           std::to_string(made) + " outputs, its decoder " + std::to_string(decoder.inputs.size()) +
           " and " + std::to_string(decoder.outputs.size()) +
           ", expected those of T5 and Whisper with four pasts per layer";
  for (size_t i = firstPast; !hasFirst && i < firstPast + size_t(2 * layers); ++i)
    if (decoder.inputDim(i, 1, 4) < 1 || decoder.inputDim(i, 3, 4) < 1)
      return "input '" + decoder.input(i) +
             "' of its decoder must have the shape [batch, heads, length, size], of which the "
             "heads and their size are numbers";
  return "";
}

std::string makeChances(SearchWriter &w, const NodeProto &node, const std::string &steps,
                        const std::string &batch) {
  const std::string shape = w.concat({steps, batch, w.integers({1})}, 0);
  if (!hasInput(node, 8))
    return w.make("RandomUniformLike", {w.make("Expand", {w.number(0), shape})});
  // Hashes of the numbers of all tokens, moved by the seed, have the same values in each run.
  const std::string count = w.make("Mul", {steps, batch});
  const std::string seed = w.make("Mul", {w.make("Cast", {w.reshape(node.input(8), {1})}, toInt32),
                                          w.token(int32_t(0x9e3779b1u))});
  const std::string numbers =
      w.make("Add", {w.make("Cast", {w.reshape(w.steps(count, w.index(1)), {-1})}, toInt32), seed});
  const std::string bits = w.make("MurmurHash3", {numbers});
  w.setMicrosoft();
  // As many bits as a float holds without rounding up to 1.
  const std::string upper = w.make("Div", {w.make("Cast", {bits}, toIndex), w.index(512)});
  return w.make("Reshape",
                {w.make("Mul", {w.make("Cast", {upper}, toReal), w.number(0x1p-23f)}), shape});
}

std::string sampleTokens(SearchWriter &w, const NodeProto &node, const std::string &scores,
                         const std::string &chance) {
  const bool isCustom = integerOf(node, "custom", 0) != 0;
  const float share = numberOf(node, "top_p", 0);
  const std::string size = w.dim(scores, 1);
  auto [sorted, token] = w.topK(scores, size, /*largest=*/isCustom);
  auto sumsOf = [&](const std::string &x, bool exclusive) {
    const std::string shares = w.make("Softmax", {x}, {{"axis", int64_t(-1)}});
    return w.make("CumSum", {shares, w.index(1)}, {{"exclusive", int64_t(exclusive)}});
  };
  const std::string sums = sumsOf(sorted, isCustom);
  const std::string position = w.reshape(w.steps(size, w.index(1)), {1, -1});
  std::string isLeft;
  if (isCustom) { // all behind the first one with which the sum is above top_p
    isLeft = w.make("And", {w.make("Greater", {sums, w.number(share)}),
                            w.make("Greater", {position, w.index(0)})});
  } else {
    const std::string end =
        w.make("Sub", {size, w.index(integerOf(node, "min_tokens_to_keep", 0))});
    isLeft = w.make("And", {w.make("Not", {w.make("Greater", {sums, w.number(1 - share)})}),
                            w.make("Less", {position, end})});
  }
  const std::string filter = w.number(numberOf(node, "filter_value", -1e20f));
  const std::string total = sumsOf(w.make("Where", {isLeft, filter, sorted}), false);
  const std::string until = w.make("Mul", {w.slice(total, -1, toEnd, 1), chance});
  const std::string isBefore = w.make("Not", {w.make("Greater", {total, until})});
  const std::string at =
      w.make("ReduceSum", {w.make("Cast", {isBefore}, toIndex), w.integers({1})});
  return w.make("GatherElements", {token, at}, {{"axis", int64_t(1)}});
}

} // namespace atc::onnx_import
