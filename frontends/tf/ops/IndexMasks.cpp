//===-- IndexMasks.cpp - operators that choose elements by comparing indices -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/ops/IndexMasks.h"

#include <limits>

#include "dialects/graph/ops/BinaryOps.h"

using namespace mlir;

namespace atc::tf_import {

using graph::ReduceKind;

Value indicesAlong(NodeContext &n, int64_t axis, int64_t rank, int64_t count, Type element) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = count;
  Value numbers = n.intList(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  return n.reshape(n.cast(numbers, element), shape);
}

Value identityOf(NodeContext &n, ReduceKind kind, Type element) {
  if (kind != ReduceKind::Max && kind != ReduceKind::Min)
    return n.scalar(kind == ReduceKind::Prod ? 1 : 0, element);
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<FloatType>(element))
    return n.scalar(kind == ReduceKind::Max ? -infinity : infinity, element);
  // The limits of 64-bit integers cannot be represented as doubles, so they are made as APInt.
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  APInt min = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt max = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return n.constant(DenseElementsAttr::get(RankedTensorType::get({}, element),
                                           kind == ReduceKind::Max ? min : max));
}

bool checkElements(NodeContext &n, ArrayRef<int64_t> dims) {
  llvm::Expected<int64_t> count = countElements(dims);
  bool isGood = count && *count <= maxMadeElements;
  if (!count)
    llvm::consumeError(count.takeError());
  if (!isGood)
    n.failNode("compares more than 2^26 pairs of elements, which is not supported");
  return isGood;
}

Value combineRows(NodeContext &n, ReduceKind kind, Value ids, Value updates, int64_t rows,
                  Value identity) {
  if (n.failed())
    return {};
  int64_t count = n.shape(ids)[0], inner = n.shape(updates)[1];
  if (rows == 0 || count == 0 || inner == 0)
    return n.fill({rows, inner}, identity);
  if (!checkElements(n, {rows, count, inner}))
    return {};
  Value row = indicesAlong(n, 0, 3, rows, n.elementType(ids));
  Value isOfRow = n.compare(n.reshape(ids, {1, count, 1}), row, graph::ComparePredicate::Eq);
  Value chosen = n.create<graph::WhereOp>(isOfRow, n.reshape(updates, {1, count, inner}), identity);
  return n.reduce(kind, chosen, {1}, /*keepdims=*/false);
}

Value flatIndices(NodeContext &n, unsigned index, ArrayRef<int64_t> shape, int64_t &depth) {
  Value indices = n.input(index);
  if (n.failed())
    return {};
  if (n.rank(indices) == 0 || isa<FloatType>(n.elementType(indices))) {
    n.failInput(index, "must hold lists of integers");
    return {};
  }
  depth = n.shape(indices).back();
  if (depth < 1 || depth > static_cast<int64_t>(shape.size())) {
    n.failInput(index,
                "names " + Twine(depth) + " axes of a tensor of rank " + Twine(shape.size()));
    return {};
  }
  int64_t count = 1;
  for (int64_t dim : n.shape(indices).drop_back())
    count *= dim;
  n.requireIndices(index, /*wraps=*/false, shape.take_front(depth), 0);
  if (n.failed())
    return {};
  Value table = n.reshape(n.cast(indices, n.builder().getI64Type()), {count, depth});
  if (depth == 1 || count == 0)
    return n.reshape(depth == 1 ? table : n.fill({0}, n.scalar(0, n.builder().getI64Type())),
                     {count});
  SmallVector<int64_t> strides(depth, 1);
  for (int64_t axis = depth - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * shape[axis];
  return n.reduce(ReduceKind::Sum, n.mul(table, n.intList(strides)), {1}, /*keepdims=*/false);
}

} // namespace atc::tf_import
