//===-- InferShapes.cpp - dims and types of a graph's tensors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph is compiled for the CPU with all of its tensors as outputs, which the model describes.
#include "ge/ge_ir_build.h"

#include "ascend/graph/Node.h"

#include "acl/acl_mdl.h"

#include <set>

namespace ge {

namespace {

using Output = std::pair<std::shared_ptr<detail::Node>, int32_t>;

/// Returns the tensors of a graph but those of its inputs and constants: the first output of each
/// operator, and what is read.
std::vector<Output> tensorsOf(const detail::GraphContent &graph) {
  std::set<std::pair<const detail::Node *, int32_t>> known;
  std::vector<Output> found;
  auto add = [&](const std::shared_ptr<detail::Node> &node, int32_t output) {
    static const std::set<std::string> given = {"Data", "RefData", "Const", "Constant",
                                                "NetOutput"};
    if (node && output >= 0 && !given.count(node->type) &&
        known.insert({node.get(), output}).second)
      found.emplace_back(node, output);
  };
  for (const auto &node : graph.nodes) {
    add(node, 0);
    for (const detail::Input &input : node->inputs)
      if (input.source)
        add(input.source, detail::Node::outputOf(input));
  }
  for (const auto &[node, output] : graph.outputs)
    add(node, output);
  return found;
}

/// Returns the description of an output of a model, in the format that `stated` has.
TensorDesc descOf(aclmdlDesc *model, size_t index, const std::optional<TensorDesc> &stated) {
  aclmdlIODims dims;
  aclmdlGetOutputDims(model, index, &dims);
  std::vector<int64_t> sizes(dims.dims, dims.dims + dims.dimCount);
  if (sizes.empty() && aclmdlGetOutputSizeByIndex(model, index) == 0)
    sizes = {-2}; // a tensor whose rank only an execution knows
  const Shape shape(sizes);
  TensorDesc desc = stated.value_or(TensorDesc());
  desc.SetShape(shape);
  desc.SetOriginShape(shape);
  // Types have the same numbers in both interfaces.
  desc.SetDataType(static_cast<DataType>(aclmdlGetOutputDataType(model, index)));
  return desc;
}

/// Describes the output of a constant as its value is, and that of an input as its input was
/// stated.
void describeGiven(detail::Node &node) {
  if (node.outputs.empty())
    return;
  std::optional<TensorDesc> &desc = node.outputs[0].desc;
  Tensor value;
  const auto found = node.attributes.find("value");
  if (found != node.attributes.end() && found->second.GetValue(value) == GRAPH_SUCCESS)
    desc = value.GetTensorDesc();
  else if (!desc && node.type == "Data" && !node.inputs.empty())
    desc = node.inputs[0].desc;
}

} // namespace

graphStatus aclgrphInferShapeAndType(Graph &graph) {
  const auto &content = graph.content();
  if (content->file)
    return detail::fail(GRAPH_FAILED, __func__,
                        "the operators of a model file are not visible: atc --mode=1 shows them");
  Graph whole("infer");
  *whole.content() = *content;
  const std::vector<Output> outputs = tensorsOf(*content);
  whole.content()->outputs = outputs;
  whole.content()->flags = {{"target", "cpu"}, {"log", "error"}};
  if (outputs.empty())
    return GRAPH_SUCCESS;
  ModelBufferData model;
  if (const graphStatus status = detail::build(__func__, whole, {}, model); status != GRAPH_SUCCESS)
    return status;
  aclmdlDesc *described = aclmdlCreateDesc();
  const bool isGood =
      aclmdlGetDescFromMem(described, model.data.get(), model.length) == ACL_SUCCESS &&
      aclmdlGetNumOutputs(described) == outputs.size();
  for (size_t i = 0; isGood && i < outputs.size(); ++i) {
    auto &[node, output] = outputs[i];
    if (size_t(output) >= node->outputs.size())
      continue;
    std::optional<TensorDesc> &desc = node->outputs[size_t(output)].desc;
    desc = descOf(described, i, desc);
  }
  aclmdlDestroyDesc(described);
  if (!isGood)
    return detail::fail(GRAPH_FAILED, __func__, "the model does not describe its outputs");
  for (const auto &node : content->nodes)
    describeGiven(*node);
  for (const auto &node : content->nodes)
    for (detail::Input &input : node->inputs) {
      const int32_t output = input.source ? detail::Node::outputOf(input) : -1;
      if (output < 0 || size_t(output) >= input.source->outputs.size())
        continue;
      const std::optional<TensorDesc> &desc = input.source->outputs[size_t(output)].desc;
      if (!desc)
        continue;
      if (!input.desc)
        input.desc = desc;
      input.desc->SetShape(desc->GetShape());
      input.desc->SetDataType(desc->GetDataType());
    }
  return GRAPH_SUCCESS;
}

} // namespace ge
