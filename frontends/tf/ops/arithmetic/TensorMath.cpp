//===-- TensorMath.cpp - operators as arithmetic on tensors of any shape --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/arithmetic/TensorMath.h"

#include "frontends/tf/ops/Strings.h"

using namespace mlir;

namespace atc::tf_import {

Value shapeVector(NodeContext &n, Value value) {
  if (!n.failed() && value && NodeContext::isStatic(value))
    return n.intList(n.shape(value));
  return n.callHost("Shape", {value});
}

Value TensorMath::dim(Value value, int64_t axis) {
  if (!n.failed() && NodeContext::hasRank(value) && axis >= 0 && axis < n.rank(value))
    if (const int64_t size = n.shape(value)[axis]; !ShapedType::isDynamic(size))
      return index(size);
  return element(shapeVector(n, value), axis);
}

Value TensorMath::element(Value vector, int64_t number) {
  return squeeze(slice(vector, number, number + 1, 0), {0});
}

Value TensorMath::shapeOf(ArrayRef<Value> sizes) {
  SmallVector<Value> parts;
  for (Value size : sizes)
    parts.push_back(reshape(toIndex(size), ArrayRef<int64_t>{1}));
  return concat(parts, 0);
}

Value TensorMath::dims(Value value, int64_t first, int64_t last) {
  if (!n.failed() && NodeContext::hasRank(value) && first >= 0 && first <= last &&
      last <= n.rank(value)) {
    ArrayRef<int64_t> known = n.shape(value).slice(first, last - first);
    if (llvm::none_of(known, ShapedType::isDynamic))
      return n.intList(known);
  }
  return slice(shapeVector(n, value), first, last, 0);
}

Value TensorMath::reshape(Value value, Value shape) {
  return n.callHost("Reshape", {value, shape}, {n.hostInts("allowzero", {1})});
}

Value TensorMath::reshape(Value value, ArrayRef<int64_t> shape) {
  return n.callHost("Reshape", {value, n.intList(shape)});
}

Value TensorMath::unsqueeze(Value value, ArrayRef<int64_t> axes) {
  return n.callHost("Unsqueeze", {value, n.intList(axes)});
}

Value TensorMath::squeeze(Value value, ArrayRef<int64_t> axes) {
  return n.callHost("Squeeze", {value, n.intList(axes)});
}

Value TensorMath::count(Value limit) {
  return n.callHost("Range", {index(0), toIndex(limit), index(1)});
}

Value TensorMath::concat(ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  return n.callHost("Concat", parts, {n.hostInts("axis", {axis})});
}

Value TensorMath::slice(Value value, int64_t first, int64_t last, int64_t axis) {
  return n.callHost("Slice", {value, n.intList({first}), n.intList({last}), n.intList({axis})});
}

Value TensorMath::gather(Value value, Value indices, int64_t axis) {
  return gatherRows(n, value, indices, axis);
}

Value TensorMath::firstOf(Value value, Value count) {
  return n.callHost("Slice", {value, n.intList({0}), shapeOf({count}), n.intList({0})});
}

Value TensorMath::expand(Value value, Value shape) { return n.callHost("Expand", {value, shape}); }

Value TensorMath::required(Value value, Value condition, StringRef message) {
  DenseElementsAttr known;
  if (n.failed() ||
      (matchPattern(condition, m_Constant(&known)) && known.getElementType().isInteger(1) &&
       llvm::all_of(known.getValues<bool>(), [](bool holds) { return holds; })))
    return value;
  return withShapeOf(n.callHost("Require", {value, condition}, {n.hostText("message", message)}),
                     value);
}

Value TensorMath::product(Value vector) {
  return n.callHost("ReduceProd", {vector, n.intList({0})}, {n.hostInts("keepdims", {0})});
}

Value TensorMath::sum(Value value, int64_t axis) {
  return n.callHost("ReduceSum", {value, n.intList({axis})}, {n.hostInts("keepdims", {1})});
}

Value TensorMath::largestSize(Value sizes) {
  return n.callHost("ReduceMax", {concat({n.intList({0}), sizes}, 0), n.intList({0})},
                    {n.hostInts("keepdims", {0})});
}

Value TensorMath::indicesWhere(Value condition) {
  return reshape(n.callHost("NonZero", {condition}), ArrayRef<int64_t>{-1});
}

Value TensorMath::positionsWhere(Value condition) {
  return n.callHost("Transpose", {n.callHost("NonZero", {condition})},
                    {n.hostInts("perm", {1, 0})});
}

void transposeByValue(NodeContext &n, Value input, Value permutation) {
  const int64_t rank = n.rank(input);
  TensorMath m(n);
  Value order = m.reshape(m.toIndex(permutation), ArrayRef<int64_t>{rank}),
        shape = shapeVector(n, input), at = m.index(0);
  // The elements between two neighbours along each axis.
  SmallVector<Value> distances(rank, m.index(1)), sizes;
  for (int64_t axis = rank - 1; axis > 0; --axis)
    distances[axis - 1] = m.mul(distances[axis], m.dim(input, axis));
  Value steps = m.shapeOf(distances);
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value from = m.element(order, axis), size = m.gather(shape, from, 0);
    SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(1, rank - axis));
    Value offset = m.mul(m.count(size), m.gather(steps, from, 0));
    at = m.add(at, behind.empty() ? offset : m.unsqueeze(offset, behind));
    sizes.push_back(size);
  }
  Value axes = n.intList(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  Value isNamed = m.equal(m.unsqueeze(order, {1}), m.unsqueeze(axes, {0}));
  at = m.required(at, m.equal(m.sum(m.toIndex(isNamed), 0), m.index(1)),
                  "the permutation does not name each axis once");
  n.setOutput(m.gather(m.reshape(input, ArrayRef<int64_t>{-1}), at, 0));
}

} // namespace atc::tf_import
