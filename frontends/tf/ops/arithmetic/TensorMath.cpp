//===-- TensorMath.cpp - operators as arithmetic on tensors of any shape --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/arithmetic/TensorMath.h"

#include "frontends/tf/ops/Strings.h"

using namespace mlir;

namespace atc::tf_import {

Value TensorMath::dim(Value value, int64_t axis) { return element(shapeVector(n, value), axis); }

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

} // namespace atc::tf_import
