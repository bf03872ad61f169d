//===-- ChannelGraph.cpp - which channels of a model belong together ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/ChannelGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <numeric>

namespace atc::quantize {

/// Operators whose result has the channels of their first input, each computed from that channel
/// alone. Further inputs are no tensors with channels.
static bool keepsChannels(const onnx::NodeProto &node) {
  static const llvm::StringSet<> types = {"Relu",          "LeakyRelu",
                                          "Sigmoid",       "HardSigmoid",
                                          "HardSwish",     "Tanh",
                                          "Elu",           "Selu",
                                          "Softplus",      "Softsign",
                                          "Mish",          "Gelu",
                                          "Clip",          "Erf",
                                          "Abs",           "Neg",
                                          "Exp",           "Sqrt",
                                          "MaxPool",       "AveragePool",
                                          "GlobalMaxPool", "GlobalAveragePool",
                                          "LpPool",        "Dropout",
                                          "Identity"};
  return node.domain().empty() && types.contains(node.op_type()) && node.output_size() == 1;
}

ChannelGraph::ChannelGraph(OnnxModel &model) : model(model) {
  for (int i = 0; i < model.graph().node_size(); ++i)
    addNode(i, model.graph().node(i));
  for (const onnx::ValueInfoProto &output : model.graph().output())
    lockTensor(output.name());
}

int ChannelGraph::find(int label) const {
  while (parents[label] != label)
    label = parents[label] = parents[parents[label]];
  return label;
}

std::vector<int> ChannelGraph::makeLabels(int64_t count) {
  std::vector<int> labels(count);
  std::iota(labels.begin(), labels.end(), static_cast<int>(parents.size()));
  parents.insert(parents.end(), labels.begin(), labels.end());
  locked.resize(parents.size(), false);
  return labels;
}

void ChannelGraph::join(int a, int b) {
  a = find(a);
  b = find(b);
  // The smaller label stands for both, so that results do not depend on the order of calls.
  parents[std::max(a, b)] = std::min(a, b);
  locked[std::min(a, b)] = locked[a] || locked[b];
}

void ChannelGraph::lock(llvm::ArrayRef<int> labels) {
  for (int label : labels)
    locked[find(label)] = true;
}

const ChannelGraph::Tensor *ChannelGraph::tensorOf(const std::string &name) const {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

void ChannelGraph::lockTensor(const std::string &name) {
  if (const Tensor *tensor = tensorOf(name))
    lock(tensor->channels.labels);
}

void ChannelGraph::lockInputs(const onnx::NodeProto &node) {
  for (const std::string &input : node.input())
    lockTensor(input);
  // Bodies of If and Loop read tensors by name.
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g())
      for (const onnx::NodeProto &inner : attribute.g().node())
        lockInputs(inner);
}

void ChannelGraph::addLayer(int index, const onnx::NodeProto &node, const ChannelDim &inputs,
                            int64_t inputAxis, int64_t outputAxis, int64_t rank) {
  const onnx::TensorProto &weights = *model.findConstant(node.input(1));
  ChannelLayer layer;
  layer.node = node.name().empty() ? node.output(0) : node.name();
  layer.type = node.op_type();
  layer.output = node.output(0);
  layer.nodeIndex = index;
  layer.inputs = inputs;
  layer.inputAxis = inputAxis;
  layer.outputAxis = outputAxis;
  layer.outputs = makeLabels(weights.dims(static_cast<int>(outputAxis)));
  if (!inputs.labels.empty())
    cuts.push_back({index, 1, inputAxis, inputs});
  cuts.push_back({index, 1, outputAxis, {layer.outputs, 1}});
  if (node.input_size() > 2 && !node.input(2).empty()) {
    const onnx::TensorProto *bias = model.findConstant(node.input(2));
    if (bias && readFloats(*bias) && bias->dims_size() == 1 &&
        bias->dims(0) == static_cast<int64_t>(layer.outputs.size()))
      cuts.push_back({index, 2, 0, {layer.outputs, 1}});
    else
      lock(layer.outputs);
  }
  // Weights that several layers share would be cut for each of them.
  if (model.findUsers(node.input(1)).size() > 1) {
    lock(layer.outputs);
    lock(inputs.labels);
  }
  tensors[node.output(0)] = {{layer.outputs, 1}, rank};
  foundLayers.push_back(std::move(layer));
}

void ChannelGraph::addConvolution(int index, const onnx::NodeProto &node) {
  const onnx::TensorProto *weights =
      node.input_size() > 1 ? model.findConstant(node.input(1)) : nullptr;
  const Tensor *input = tensorOf(node.input(0));
  if (!weights || weights->dims_size() < 3 || !readFloats(*weights) ||
      countElements(*weights) < 1) {
    lockInputs(node);
    return;
  }
  const bool isTransposed = node.op_type() == "ConvTranspose";
  const int64_t groups = intAttribute(node, "group", 1), rank = weights->dims_size();
  const int64_t reads = weights->dims(isTransposed ? 0 : 1);
  if (groups == 1) {
    ChannelDim channels;
    if (input && static_cast<int64_t>(input->channels.labels.size()) == reads)
      channels = input->channels;
    else
      lockInputs(node);
    addLayer(index, node, channels, isTransposed ? 0 : 1, isTransposed ? 1 : 0, rank);
    return;
  }
  const bool isDepthwise = !isTransposed && weights->dims(0) == groups && reads == 1;
  if (isDepthwise && input && static_cast<int64_t>(input->channels.labels.size()) == groups) {
    const Tensor tensor = *input;
    cuts.push_back({index, 1, 0, tensor.channels});
    if (node.input_size() > 2 && !node.input(2).empty()) {
      const onnx::TensorProto *bias = model.findConstant(node.input(2));
      if (bias && readFloats(*bias) && bias->dims_size() == 1 && bias->dims(0) == groups)
        cuts.push_back({index, 2, 0, tensor.channels});
      else
        lock(tensor.channels.labels);
    }
    if (model.findUsers(node.input(1)).size() > 1)
      lock(tensor.channels.labels);
    depthwise.emplace_back(index, tensor.channels.labels);
    tensors[node.output(0)] = tensor;
    return;
  }
  lockInputs(node);
}

void ChannelGraph::addProduct(int index, const onnx::NodeProto &node) {
  const bool isGemm = node.op_type() == "Gemm";
  const onnx::TensorProto *weights =
      node.input_size() > 1 ? model.findConstant(node.input(1)) : nullptr;
  const Tensor *input = tensorOf(node.input(0));
  // The rank of a product's input is known where channels are: without it the columns could be
  // those of a stack of matrices.
  const bool fits = weights && weights->dims_size() == 2 && readFloats(*weights) &&
                    countElements(*weights) > 0 &&
                    (isGemm ? !intAttribute(node, "transA", 0) : input && input->rank == 2);
  if (!fits) {
    lockInputs(node);
    return;
  }
  const int64_t inputAxis = isGemm && intAttribute(node, "transB", 0) ? 1 : 0;
  const int64_t reads = weights->dims(static_cast<int>(inputAxis));
  ChannelDim channels;
  const int64_t count = input ? input->channels.labels.size() : 0;
  if (count && reads % count == 0 && input->rank == 2)
    channels = {input->channels.labels, reads / count};
  else
    lockInputs(node);
  addLayer(index, node, channels, inputAxis, 1 - inputAxis, 2);
}

/// Adds a constant operand that has one element per channel or one in all. Returns false for
/// constants of other shapes.
bool ChannelGraph::addOperand(int index, int input, const Tensor &tensor) {
  const onnx::TensorProto &constant = *model.findConstant(model.graph().node(index).input(input));
  const int64_t count = countElements(constant);
  if (count == 1)
    return true;
  const int64_t axis = constant.dims_size() - (tensor.rank - 1);
  if (axis < 0 || axis >= constant.dims_size() ||
      count != static_cast<int64_t>(tensor.channels.labels.size()) ||
      constant.dims(static_cast<int>(axis)) != count || !readFloats(constant))
    return false;
  cuts.push_back({index, input, axis, tensor.channels});
  return true;
}

void ChannelGraph::addBinary(int index, const onnx::NodeProto &node) {
  const Tensor *left = tensorOf(node.input(0)), *right = tensorOf(node.input(1));
  const bool leftIsConstant = isConstant(node.input(0)),
             rightIsConstant = isConstant(node.input(1));
  if (left && right && left->rank == right->rank &&
      left->channels.labels.size() == right->channels.labels.size()) {
    for (size_t i = 0; i < left->channels.labels.size(); ++i)
      join(left->channels.labels[i], right->channels.labels[i]);
    tensors[node.output(0)] = *left;
  } else if (left && rightIsConstant && addOperand(index, 1, *left)) {
    tensors[node.output(0)] = Tensor(*left);
  } else if (right && leftIsConstant && node.op_type() != "PRelu" && addOperand(index, 0, *right)) {
    tensors[node.output(0)] = Tensor(*right);
  } else {
    lockInputs(node);
  }
}

void ChannelGraph::addConcat(const onnx::NodeProto &node) {
  Tensor result;
  for (const std::string &name : node.input()) {
    const Tensor *tensor = tensorOf(name);
    if (!tensor || tensor->channels.repeat != 1 || (result.rank && tensor->rank != result.rank)) {
      lockInputs(node);
      return;
    }
    result.rank = tensor->rank;
  }
  const int64_t axis = intAttribute(node, "axis", 1);
  if (axis != 1 && axis != 1 - result.rank) {
    lockInputs(node);
    return;
  }
  for (const std::string &name : node.input())
    llvm::append_range(result.channels.labels, tensorOf(name)->channels.labels);
  tensors[node.output(0)] = result;
}

void ChannelGraph::addFlatten(int index, const onnx::NodeProto &node) {
  const Tensor *input = tensorOf(node.input(0));
  if (!input)
    return;
  bool fits = intAttribute(node, "axis", 1) == 1 && input->rank >= 2;
  if (node.op_type() == "Reshape") {
    const onnx::TensorProto *constant =
        node.input_size() > 1 ? model.findConstant(node.input(1)) : nullptr;
    const auto shape = constant ? readInts(*constant) : std::nullopt;
    const int64_t count = input->channels.labels.size();
    // A batch of one, or any: what follows it are the channels with all their elements.
    fits = shape && shape->size() == 2 && (*shape)[0] <= 1 &&
           ((*shape)[1] == -1 || ((*shape)[1] > 0 && (*shape)[1] % count == 0));
    if (fits && (*shape)[1] > 0)
      shapes.emplace_back(index, ChannelDim{input->channels.labels, (*shape)[1] / count});
  }
  if (!fits)
    lockInputs(node);
  else
    tensors[node.output(0)] = {input->channels, 2};
}

void ChannelGraph::addNorm(int index, const onnx::NodeProto &node) {
  const Tensor *input = tensorOf(node.input(0));
  if (!input)
    return;
  const bool fits =
      node.output_size() == 1 && node.input_size() == 5 &&
      llvm::all_of(llvm::drop_begin(node.input()), [&](const std::string &name) {
        const onnx::TensorProto *constant = model.findConstant(name);
        return constant && readFloats(*constant) &&
               countElements(*constant) == static_cast<int64_t>(input->channels.labels.size());
      });
  if (!fits) {
    lockInputs(node);
    return;
  }
  const Tensor tensor = *input;
  for (int i = 1; i < 5; ++i)
    cuts.push_back({index, i, 0, tensor.channels});
  tensors[node.output(0)] = tensor;
}

void ChannelGraph::addNode(int index, const onnx::NodeProto &node) {
  const std::string &type = node.op_type();
  if (!node.domain().empty() || node.input_size() < 1 || node.output_size() < 1) {
    lockInputs(node);
  } else if (type == "Conv" || type == "ConvTranspose") {
    addConvolution(index, node);
  } else if (type == "Gemm" || type == "MatMul") {
    addProduct(index, node);
  } else if ((type == "Add" || type == "Sub" || type == "Mul" || type == "Div" ||
              type == "PRelu") &&
             node.input_size() == 2) {
    addBinary(index, node);
  } else if (type == "Concat") {
    addConcat(node);
  } else if (type == "Flatten" || type == "Reshape") {
    addFlatten(index, node);
  } else if (type == "BatchNormalization") {
    addNorm(index, node);
  } else if (keepsChannels(node)) {
    if (const Tensor *input = tensorOf(node.input(0)))
      tensors[node.output(0)] = Tensor(*input);
    for (const std::string &input : llvm::drop_begin(node.input()))
      lockTensor(input);
  } else {
    lockInputs(node);
  }
}

void ChannelGraph::remove(const std::vector<bool> &goes) {
  auto keptOf = [&](const ChannelDim &channels) {
    std::vector<int64_t> kept;
    for (size_t i = 0; i < channels.labels.size(); ++i)
      if (!goes[find(channels.labels[i])])
        for (int64_t r = 0; r < channels.repeat; ++r)
          kept.push_back(static_cast<int64_t>(i) * channels.repeat + r);
    return kept;
  };
  for (const Cut &cut : cuts) {
    onnx::NodeProto &node = *model.graph().mutable_node(cut.node);
    const onnx::TensorProto &constant = *model.findConstant(node.input(cut.input));
    std::vector<int64_t> dims(constant.dims().begin(), constant.dims().end());
    const std::vector<int64_t> kept = keptOf(cut.channels);
    const int64_t size = dims[cut.axis];
    if (static_cast<int64_t>(kept.size()) == size)
      continue;
    int64_t inner = 1;
    for (size_t d = cut.axis + 1; d < dims.size(); ++d)
      inner *= dims[d];
    const std::vector<float> values = *readFloats(constant);
    std::vector<float> cutValues;
    for (size_t outer = 0; outer < values.size() / (size * inner); ++outer)
      for (int64_t i : kept) {
        const float *from = values.data() + (outer * size + i) * inner;
        cutValues.insert(cutValues.end(), from, from + inner);
      }
    dims[cut.axis] = static_cast<int64_t>(kept.size());
    const std::string name = model.freshName(node.input(cut.input) + "_pruned");
    model.addConstant(makeFloats(name, dims, cutValues));
    node.set_input(cut.input, name);
  }
  for (const auto &[index, labels] : depthwise)
    setAttribute(*model.graph().mutable_node(index), "group",
                 static_cast<int64_t>(keptOf({labels, 1}).size()));
  for (const auto &[index, channels] : shapes) {
    onnx::NodeProto &node = *model.graph().mutable_node(index);
    std::vector<int64_t> shape = *readInts(*model.findConstant(node.input(1)));
    shape[1] = static_cast<int64_t>(keptOf(channels).size());
    const std::string name = model.freshName(node.input(1) + "_pruned");
    model.addConstant(makeInts(name, shape));
    node.set_input(1, name);
  }
  // Sizes of tensors inside the graph may have changed.
  model.graph().clear_value_info();
  model.removeUnusedConstants();
  model.index();
}

} // namespace atc::quantize
