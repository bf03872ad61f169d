//===-- AlongRows.cpp - functions of a tensor as a matrix -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/ops/AlongRows.h"

using namespace mlir;

namespace atc::onnx_import {

Value alongRows(NodeContext &n, Value input, int64_t axis,
                llvm::function_ref<Value(Value, int64_t)> function) {
  if (n.failed())
    return {};
  const int64_t rank = n.rank(input);
  if (rank == 0)
    n.failInput(0, "has rank 0, expected at least 1");
  // A matrix with one column: the axis may equal the rank.
  else if (axis != rank)
    axis = n.normalizeAxis(axis, rank);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(input));
  auto isLarge = [&](int64_t dim) { return shape[dim] != 1; };
  auto rowDims = llvm::seq<int64_t>(axis, rank);
  if (axis < rank && llvm::count_if(rowDims, isLarge) <= 1) {
    auto only = llvm::find_if(rowDims, isLarge);
    return function(input, only == rowDims.end() ? axis : *only);
  }
  int64_t rows = 1, columns = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    (dim < axis ? rows : columns) *= shape[dim];
  return n.reshape(function(n.reshape(input, {rows, columns}), 1), shape);
}

} // namespace atc::onnx_import
