//===-- DynamicDim.cpp - a placeholder for a dynamic dim while importing --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/DynamicDim.h"

#include <cstring>
#include <map>

#include "dialects/graph/tiling/TiledDims.h"
#include "frontends/Tensors.h"
#include "frontends/onnx/Scope.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::onnx_import {

//===----------------------------------------------------------------------===//
// The dim and its placeholder
//===----------------------------------------------------------------------===//

namespace {

/// Integers of more elements are no sizes.
constexpr int64_t maxSizes = 4096;

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
  const std::string &raw = tensor.raw_data();
  auto read = [&]<typename T>(T) {
    for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
      T number;
      std::memcpy(&number, raw.data() + i, sizeof(T));
      visit(number);
    }
  };
  if (tensor.data_type() == onnx::TensorProto::INT64)
    read(int64_t());
  else if (tensor.data_type() == onnx::TensorProto::INT32)
    read(int32_t());
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

/// Returns a prime that divides none of the graph's integers; 0 where all that are tried do.
int64_t choosePlaceholder(const onnx::GraphProto &graph, const InputShapes &given) {
  // Large enough that products of other sizes are no multiples by chance, small enough for a
  // constant with this many rows.
  SmallVector<int64_t> primes = {10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079};
  auto drop = [&](int64_t number) {
    if (number != 0)
      llvm::erase_if(primes, [&](int64_t prime) { return number % prime == 0; });
  };
  forEachInteger(graph, drop);
  for (const auto &[name, dims] : given)
    llvm::for_each(dims, drop);
  return primes.empty() ? 0 : primes.front();
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
  if (!key || !(result.size = choosePlaceholder(graph, given)))
    return std::nullopt;
  for (auto &[name, dims] : result.inputShapes)
    for (int64_t &dim : dims)
      if (dim <= 0)
        dim = result.size;
  return result;
}

//===----------------------------------------------------------------------===//
// Rules for nodes that use sizes
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>> constantInts(Value value) {
  ElementsAttr attr;
  if (!value || !matchPattern(value, m_Constant(&attr)) ||
      !isa<IntegerType>(attr.getElementType()) || attr.getNumElements() > maxSizes)
    return std::nullopt;
  return readInts(attr);
}

/// The integers of an attribute, or of input `index` where a newer opset has it there.
static std::optional<SmallVector<int64_t>> parameter(const onnx::NodeProto &node, StringRef name,
                                                     ArrayRef<Value> inputs, unsigned index) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end());
  return index < inputs.size() ? constantInts(inputs[index]) : std::nullopt;
}

bool PlaceholderRules::grows(Value value) const {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && llvm::any_of(type.getShape(), [&](int64_t dim) { return isMultiple(dim); });
}

/// Whether inputs that hold sizes stand where they keep their meaning.
std::string PlaceholderRules::whyNoSize(const onnx::NodeProto &node, ArrayRef<Value> inputs) const {
  const StringRef op = node.op_type();
  auto isSize = [&](size_t index) {
    return index < inputs.size() && sizes.contains(inputs[index]);
  };
  auto onlyAt = [&](std::initializer_list<size_t> allowed) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (isSize(i) && !llvm::is_contained(allowed, i))
        return false;
    return true;
  };
  const bool isKnown =
      llvm::StringSwitch<bool>(op)
          .Cases({"Concat", "Mul", "Div", "Equal"}, true)
          .Cases({"Gather", "Slice", "Squeeze", "Unsqueeze", "Cast", "Identity", "Split"},
                 onlyAt({0}))
          .Case("Reshape", onlyAt({0, 1}))
          .Case("ConstantOfShape", true)
          .Case("Expand", onlyAt({1}))
          .Case("Where", onlyAt({1, 2}))
          .Case("Resize", onlyAt({3}))
          .Default(false);
  if (!isKnown)
    return "computes with the size of a dynamic dim";
  if (op != "Mul" && op != "Div" && op != "Equal")
    return "";
  // Element by element where there are as many, else one against all.
  auto lhs = constantInts(inputs[0]), rhs = constantInts(inputs[1]);
  if (!lhs || !rhs || lhs->empty() || rhs->empty())
    return "computes with the size of a dynamic dim";
  const size_t count = std::max(lhs->size(), rhs->size());
  if ((lhs->size() != count && lhs->size() != 1) || (rhs->size() != count && rhs->size() != 1))
    return "computes with the size of a dynamic dim";
  for (size_t i = 0; i < count; ++i) {
    const int64_t a = (*lhs)[lhs->size() == 1 ? 0 : i], b = (*rhs)[rhs->size() == 1 ? 0 : i];
    const bool first = isMultiple(a), second = isMultiple(b);
    if (!first && !second)
      continue;
    if (op == "Mul" && first && second)
      return "multiplies the size of a dynamic dim by itself";
    if (op == "Div" && (second || b == 0 || a % b != 0 || !isMultiple(a / b)))
      return "divides the size of a dynamic dim with a remainder";
    // A size is never negative.
    if (op == "Equal" && (first ? b : a) >= 0)
      return "compares the size of a dynamic dim";
  }
  return "";
}

std::string PlaceholderRules::whyRefused(const onnx::NodeProto &node, ArrayRef<Value> inputs) {
  if (llvm::any_of(inputs, [&](Value input) { return input && sizes.contains(input); }))
    if (std::string why = whyNoSize(node, inputs); !why.empty())
      return why;
  if (inputs.empty() || !grows(inputs[0]))
    return "";
  // Operators that depend on whether a dim is 1, or on which of two sizes is smaller.
  auto type = cast<RankedTensorType>(inputs[0].getType());
  if (node.op_type() == "Squeeze" && !parameter(node, "axes", inputs, 1))
    return "drops the dynamic dim where its size is 1";
  if (node.op_type() == "Slice") {
    auto starts = parameter(node, "starts", inputs, 1), ends = parameter(node, "ends", inputs, 2),
         axes = parameter(node, "axes", inputs, 3), steps = parameter(node, "steps", inputs, 4);
    if (!starts || !ends)
      return "slices at bounds that are computed";
    for (size_t i = 0; i < starts->size(); ++i) {
      const bool complete = i < ends->size() && (!axes || i < axes->size());
      int64_t axis = !complete ? -1 : axes ? (*axes)[i] : static_cast<int64_t>(i);
      axis += axis < 0 ? type.getRank() : 0;
      if (!complete || axis < 0 || axis >= type.getRank())
        return "has starts, ends and axes that do not fit";
      // Exporters write the largest integer for "to the end".
      const bool isWhole = (*starts)[i] == 0 && (*ends)[i] >= INT32_MAX &&
                           (!steps || (i < steps->size() && (*steps)[i] == 1));
      if (isMultiple(type.getDimSize(axis)) && !isWhole)
        return "takes some of the elements of a dynamic dim";
    }
  }
  return "";
}

std::string PlaceholderRules::whyUnsound(const onnx::NodeProto &node, ArrayRef<Value> inputs,
                                         ArrayRef<Value> outputs) {
  const bool isShape = node.op_type() == "Shape" || node.op_type() == "Size";
  const bool hasSizes =
      isShape || llvm::any_of(inputs, [&](Value input) { return input && sizes.contains(input); });
  auto isGrowingConstant = [&](Value value) {
    return value && grows(value) && matchPattern(value, m_Constant());
  };
  const bool fromGrowing = llvm::any_of(inputs, isGrowingConstant);
  for (Value output : outputs) {
    ElementsAttr attr;
    if (!output || !matchPattern(output, m_Constant(&attr)))
      continue;
    if (grows(output)) {
      for (auto [dim, length] : llvm::enumerate(attr.getShapedType().getShape()))
        if (isMultiple(length) && !graph::hasEqualShares(attr, dim, size))
          return "makes a constant that differs along a dynamic dim";
      continue;
    }
    if (fromGrowing && !isShape)
      return "computes a constant from all indices of a dynamic dim";
    if (!hasSizes)
      continue;
    auto numbers = constantInts(output);
    if (!numbers)
      return "computes with the size of a dynamic dim";
    if (llvm::any_of(*numbers, [&](int64_t number) { return isMultiple(number); }))
      sizes.insert(output);
  }
  return "";
}

} // namespace atc::onnx_import
