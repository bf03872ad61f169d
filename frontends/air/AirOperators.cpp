//===-- AirOperators.cpp - operators of an .air graph as ONNX nodes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/air/AirGraph.h"
#include "frontends/air/AirNames.h"
#include "frontends/air/InferredOutputs.h"
#include "frontends/onnx/singleop/SingleOpGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace atc::air {

std::string AirGraph::outputName(const pb::Op &op, int64_t output) {
  return prefix + keyOf(op.name(), output);
}

bool AirGraph::readInputs(const pb::Op &op, SingleOp &single, std::vector<std::string> &names) {
  std::vector<std::string> read = dataInputs(op);
  while (!read.empty() && read.back().empty())
    read.pop_back();
  bool isComplete = true;
  for (auto [i, key] : llvm::enumerate(read)) {
    if (key.empty()) {
      single.inputs.push_back({});
      single.inputs.back().isAbsent = true;
      names.push_back("");
      continue;
    }
    auto found = values.find(key);
    if (found == values.end()) {
      isComplete = false;
      // An error of the operator that makes it has been reported.
      if (!positions.contains(splitInput(key).first))
        fail("E16001", op, "it reads '" + key + "', which no operator makes");
      continue;
    }
    SingleOpTensor tensor = found->second.tensor;
    // A reader may name the order of dims that its input does not state.
    if (const int format =
            int(i) < op.input_desc_size() ? formatOf(op.input_desc(i).layout()) : single_op::kND;
        format != single_op::kND && tensor.dims.size() == 4)
      tensor.format = format;
    names.push_back(found->second.name);
    // Axes, shapes, paddings and packed scales are integers that the operator's nodes are made of.
    if (found->second.values && (tensor.type == 3 || tensor.type == 9 || tensor.type == 10))
      if (auto settings = valuesOf(*found->second.values, maxSettings)) {
        tensor.isConstant = true;
        tensor.values = std::move(*settings);
      }
    single.inputs.push_back(std::move(tensor));
  }
  return isComplete;
}

void AirGraph::readOutputs(const pb::Op &op, SingleOp &single) {
  auto attribute = [&](StringRef name) -> const nlohmann::ordered_json * {
    auto found =
        llvm::find_if(single.attributes, [&](const auto &item) { return item.name == name; });
    return found == single.attributes.end() ? nullptr : &found->value;
  };
  // Where nothing states the order of an image's dims, an attribute of many operators does, and
  // filters have that of TensorFlow beside images whose channels come last.
  if (const auto *layout = attribute("data_format");
      layout && layout->is_string() && !single.inputs.empty() &&
      single.inputs[0].dims.size() == 4 && single.inputs[0].format == single_op::kND)
    single.inputs[0].format = formatOf(layout->get<std::string>());
  if (single.inputs.size() > 1 && single.inputs[0].format == single_op::kNHWC &&
      single.inputs[1].dims.size() == 4 && single.inputs[1].format == single_op::kND)
    single.inputs[1].format = single_op::kHWCN;
  for (int i = 0; i < std::max(op.output_desc_size(), 1); ++i) {
    SingleOpTensor tensor;
    tensor.type = resultType(single, size_t(i));
    if (!single.inputs.empty())
      tensor.format = single.inputs[0].format;
    if (i < op.output_desc_size()) {
      const pb::TensorDesc &desc = op.output_desc(i);
      tensor.type = typeOf(desc.dtype()).value_or(tensor.type);
      tensor.dims.assign(desc.shape().dim().begin(), desc.shape().dim().end());
    }
    single.outputs.push_back(std::move(tensor));
  }
  if (const auto *type = attribute("dst_type");
      op.type() == "Cast" && type && type->is_number_integer())
    single.outputs[0].type = resultType(single, 0);
}

/// Returns whether an operator states the dims of its outputs, for the inputs that it has.
static bool statesOutputs(const pb::Op &op, const SingleOp &single) {
  if (!op.output_desc_size())
    return false;
  for (const pb::TensorDesc &desc : op.output_desc())
    if (!desc.has_shape() || !typeOf(desc.dtype()) ||
        isDynamic({desc.shape().dim().data(), size_t(desc.shape().dim_size())}))
      return false;
  for (auto [i, input] : llvm::enumerate(single.inputs))
    if (!input.isAbsent && (int(i) >= op.input_desc_size() || !op.input_desc(i).has_shape() ||
                            !llvm::equal(op.input_desc(i).shape().dim(), input.dims)))
      return false;
  return true;
}

void AirGraph::importOther(const pb::Op &op) {
  SingleOp single;
  single.type = op.type();
  single.name = op.name();
  single.attributes = attributesOf(op);
  std::vector<std::string> names;
  if (!readInputs(op, single, names))
    return;
  readOutputs(op, single);
  Diagnostics ofOp;
  std::optional<std::string> bytes = statesOutputs(op, single)
                                         ? makeSingleOpModel(single, ofOp)
                                         : air::inferOutputs(single, file.context, ofOp);
  if (!bytes) {
    for (const CodedMessage &error : ofOp.all())
      if (error.code == "E10055")
        file.unsupported.add(op.type(), prefix + op.name());
      else
        fail("E14001", op, error.text);
    return;
  }
  onnx::ModelProto part;
  if (!part.ParseFromString(*bytes))
    return fail("E14001", op, "it cannot be converted");
  append(*part.mutable_graph(), op, names);
  for (auto [i, output] : llvm::enumerate(single.outputs))
    values[keyOf(op.name(), i)] = {outputName(op, i), output};
}

void AirGraph::append(onnx::GraphProto &part, const pb::Op &op, ArrayRef<std::string> inputs) {
  llvm::StringMap<std::string> renamed;
  for (auto [i, input] : llvm::enumerate(inputs))
    renamed["x" + std::to_string(i)] = input;
  for (auto [i, output] : llvm::enumerate(part.output()))
    renamed[output.name()] = outputName(op, i);
  // A setting that the operator has read itself is a constant of its own.
  for (const onnx::NodeProto &node : part.node())
    for (const std::string &output : node.output())
      if (StringRef(output).starts_with("x"))
        renamed.erase(output);
  auto rename = [&](std::string &name) {
    if (name.empty())
      return;
    auto found = renamed.find(name);
    name = found == renamed.end() ? prefix + op.name() + "/" + name : found->second;
  };
  for (onnx::TensorProto &constant : *part.mutable_initializer()) {
    rename(*constant.mutable_name());
    whole.add_initializer()->Swap(&constant);
  }
  int number = 0;
  for (onnx::NodeProto &node : *part.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      rename(input);
    for (std::string &output : *node.mutable_output())
      rename(output);
    // The node that makes the first output is the operator for who names it.
    const bool isLast = llvm::is_contained(node.output(), outputName(op, 0));
    node.set_name(prefix + op.name() + (isLast ? "" : "/" + std::to_string(number++)));
    whole.add_node()->Swap(&node);
  }
}

} // namespace atc::air
