//===-- DynamicDim.cpp - the dynamic dim of an ONNX model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/DynamicDim.h"

#include <map>

#include "frontends/onnx/Scope.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace atc::onnx_import {

namespace {

/// Visits the integers that sizes can be computed with: attributes, dims and elements of
/// small constants. Those of external files are not looked at.
void forEachInteger(const onnx::TensorProto &tensor, llvm::function_ref<void(int64_t)> visit) {
  int64_t elements = 1;
  for (int64_t dim : tensor.dims()) {
    visit(dim);
    elements = dim >= 0 && dim <= maxSizes ? elements * dim : maxSizes + 1;
    if (elements > maxSizes)
      return;
  }
  for (int64_t number : tensor.int64_data())
    visit(number);
  for (int32_t number : tensor.int32_data())
    visit(number);
  const bool isWide = tensor.data_type() == onnx::TensorProto::INT64;
  if (isWide || tensor.data_type() == onnx::TensorProto::INT32)
    forEachStored(tensor.raw_data(), isWide ? 8 : 4, visit);
}

void forEachInteger(const onnx::GraphProto &graph, llvm::function_ref<void(int64_t)> visit) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    forEachInteger(tensor, visit);
  for (const onnx::ValueInfoProto &input : graph.input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      visit(dim.dim_value());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      visit(attribute.i());
      for (int64_t number : attribute.ints())
        visit(number);
      if (attribute.has_t())
        forEachInteger(attribute.t(), visit);
    }
    forEachGraph(node, [&](const onnx::GraphProto &inner) { forEachInteger(inner, visit); });
  }
}

} // namespace

std::optional<DynamicDim> findDynamicDim(const onnx::GraphProto &graph, const InputShapes &given) {
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializers.insert(tensor.values().name());
  auto givenShape = [&](const std::string &name) -> const std::vector<int64_t> * {
    auto found = llvm::find_if(given, [&](const auto &item) { return item.first == name; });
    return found == given.end() ? nullptr : &found->second;
  };
  // Errors of --input_shape are reported by the import of the model with its dynamic dims.
  llvm::StringSet<> seen;
  for (const auto &[name, dims] : given) {
    const bool isInput = llvm::any_of(
        graph.input(), [&](const auto &input) { return input.name() == StringRef(name); });
    if (!isInput || initializers.contains(name) || !seen.insert(name).second ||
        llvm::any_of(dims, [](int64_t dim) { return dim <= 0 && dim != -1; }))
      return std::nullopt;
  }
  // --input_shape decides for all dims of a name.
  std::map<std::string, int64_t> known;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (const std::vector<int64_t> *dims = givenShape(input.name()))
      for (auto [dim, size] : llvm::zip(input.type().tensor_type().shape().dim(), *dims))
        if (size > 0 && !dim.dim_param().empty() &&
            known.try_emplace(dim.dim_param(), size).first->second != size)
          return std::nullopt;

  DynamicDim result;
  std::optional<std::string> key;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (initializers.contains(input.name()))
      continue;
    const auto &type = input.type().tensor_type();
    const std::vector<int64_t> *shape = givenShape(input.name());
    const bool hasShape = input.type().has_tensor_type() && type.has_shape();
    if (!hasShape || (shape && static_cast<int>(shape->size()) != type.shape().dim_size()))
      return std::nullopt;
    std::vector<int64_t> dims;
    for (auto [index, dim] : llvm::enumerate(type.shape().dim())) {
      int64_t size = shape ? (*shape)[index] : dim.has_dim_value() ? dim.dim_value() : -1;
      if (!shape && known.contains(dim.dim_param()))
        size = known[dim.dim_param()];
      if (size <= 0) {
        const std::string own =
            dim.dim_param().empty() ? input.name() + '\0' + std::to_string(index) : dim.dim_param();
        if (key && *key != own)
          return std::nullopt;
        key = own;
        result.name = dim.dim_param().empty() ? "?" : dim.dim_param();
      }
      dims.push_back(size);
    }
    result.inputShapes.emplace_back(input.name(), std::move(dims));
  }
  if (!key)
    return std::nullopt;
  result.size = choosePlaceholder([&](llvm::function_ref<void(int64_t)> visit) {
    forEachInteger(graph, visit);
    for (const auto &[name, dims] : given)
      llvm::for_each(dims, visit);
  });
  if (!result.size)
    return std::nullopt;
  for (auto &[name, dims] : result.inputShapes)
    for (int64_t &dim : dims)
      if (dim <= 0)
        dim = result.size;
  return result;
}

SizeNode sizeNodeOf(const onnx::NodeProto &node, ArrayRef<Value> inputs) {
  auto parameter = [&node, inputs](StringRef name, unsigned index) {
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.name() == name)
        return std::optional(
            SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
    return index < inputs.size() ? constantInts(inputs[index]) : std::nullopt;
  };
  return {node.op_type(), inputs, parameter};
}

} // namespace atc::onnx_import
