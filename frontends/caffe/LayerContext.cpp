//===-- LayerContext.cpp - one layer while it becomes ONNX nodes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/caffe/LayerContext.h"

#include <limits>

#include "llvm/Support/MathExtras.h"

using llvm::Twine;

namespace atc::caffe {

int64_t product(llvm::ArrayRef<int64_t> dims, int64_t begin, int64_t end) {
  int64_t count = 1;
  for (int64_t i = begin; i < end; ++i) {
    if (dims[i] < 0)
      return -1;
    if (llvm::MulOverflow(count, dims[i], count))
      return std::numeric_limits<int64_t>::max(); // as no weights have
  }
  return count;
}

std::string printShape(llvm::ArrayRef<int64_t> dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ", ") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return "[" + text + "]";
}

void LayerContext::fail(const Twine &text) {
  if (!hasFailed)
    diagnostics.error("E14001", "layer '" + proto.name() + "' (" + proto.type() + "): " + text);
  hasFailed = true;
}

const Tensor &LayerContext::bottom(unsigned index) {
  static const Tensor none;
  if (index < bottoms.size())
    return bottoms[index];
  fail("has " + Twine(bottoms.size()) + " bottoms, expected at least " + Twine(index + 1));
  return none;
}

int64_t LayerContext::knownDim(unsigned index, int64_t axis, const char *why) {
  const Tensor &value = bottom(index);
  if (hasFailed)
    return 1;
  if (axis < value.rank() && value.dims[axis] > 0)
    return value.dims[axis];
  if (axis >= value.rank())
    fail("bottom '" + proto.bottom(index) + "' of shape " + printShape(value.dims) +
         " has no dim " + Twine(axis));
  else
    fail("dim " + Twine(axis) + " of bottom '" + proto.bottom(index) + "' of shape " +
         printShape(value.dims) + " must be known for " + why + "; give it with --input_shape");
  return 1;
}

Dims LayerContext::knownDims(unsigned index, const char *why) {
  Dims dims;
  const int64_t rank = bottom(index).rank();
  for (int64_t axis = 0; axis < rank; ++axis)
    dims.push_back(knownDim(index, axis, why));
  return dims;
}

void LayerContext::requireRank(unsigned index, int64_t rank) {
  const Tensor &value = bottom(index);
  if (!hasFailed && value.rank() != rank)
    fail("bottom '" + proto.bottom(index) + "' has the shape " + printShape(value.dims) +
         ", expected " + Twine(rank) + " dims");
}

int64_t LayerContext::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail("axis " + Twine(axis) + " is out of range for " + Twine(rank) + " dims");
  return 0;
}

const Blob *LayerContext::blob(unsigned index) {
  if (index < blobs.size())
    return &blobs[index];
  fail("its weights " + Twine(index) + " are not in the .caffemodel, which has " +
       Twine(blobs.size()) + " for it");
  return nullptr;
}

Tensor LayerContext::weights(unsigned index, const Dims &dims) {
  const Blob *found = blob(index);
  if (hasFailed)
    return {};
  const int64_t expected = product(dims, 0, dims.size());
  if (expected != static_cast<int64_t>(found->values.size())) {
    fail("its weights " + Twine(index) + " have " + Twine(found->values.size()) + " elements " +
         printShape(found->dims) + ", expected " + Twine(expected) + " " + printShape(dims));
    return {};
  }
  return constant(dims, found->values);
}

std::string LayerContext::uniqueName(llvm::StringRef what) {
  return (proto.name() + "/" + what + Twine(numNames++)).str();
}

bool LayerContext::isOwn(const Tensor &value) const {
  return llvm::StringRef(value.name).starts_with(proto.name() + "/") &&
         llvm::none_of(bottoms, [&](const Tensor &other) { return other.name == value.name; });
}

std::vector<Tensor> LayerContext::nodes(const char *op, const std::vector<Tensor> &inputs,
                                        const std::vector<Dims> &dims, const Attrs &attributes) {
  if (hasFailed)
    return std::vector<Tensor>(dims.size());
  std::vector<std::string> names;
  for (const Tensor &input : inputs)
    names.push_back(input.name);
  onnx::NodeProto &node = addOnnxNode(graph, op, uniqueName(op), names, attributes);
  std::vector<Tensor> results;
  for (const Dims &shape : dims) {
    results.push_back({uniqueName("value"), shape});
    node.add_output(results.back().name);
  }
  return results;
}

Tensor LayerContext::node(const char *op, const std::vector<Tensor> &inputs, const Dims &dims,
                          const Attrs &attributes) {
  return nodes(op, inputs, {dims}, attributes).front();
}

Tensor LayerContext::constant(const Dims &dims, llvm::ArrayRef<float> values) {
  if (hasFailed)
    return {};
  const std::string name = uniqueName("weights");
  addOnnxConstant(graph, name, onnx::TensorProto::FLOAT, dims, bytesOf(values));
  return {name, dims};
}

Tensor LayerContext::ints(llvm::ArrayRef<int64_t> values) {
  if (hasFailed)
    return {};
  const std::string name = uniqueName("list");
  const Dims dims = {static_cast<int64_t>(values.size())};
  addOnnxConstant(graph, name, onnx::TensorProto::INT64, dims, bytesOf(values));
  return {name, dims};
}

Tensor LayerContext::reshape(const Tensor &value, const Dims &dims) {
  if (llvm::count(dims, -1) > 1)
    fail("more than one dim of its result " + printShape(dims) +
         " is not known; give the shape with --input_shape");
  return node("Reshape", {value, ints(dims)}, dims);
}

} // namespace atc::caffe
