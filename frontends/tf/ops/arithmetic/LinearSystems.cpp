//===-- LinearSystems.cpp - systems of equations and roots of matrices -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Exchanges the last two dims.
Value turned(NodeContext &n, Value matrix) {
  if (n.failed())
    return {};
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(matrix)));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.callHost("Transpose", {matrix}, {n.hostInts("perm", order)});
}

/// Fails the node unless input `index` is matrices, perhaps in batches.
void requireMatrices(NodeContext &n, unsigned index) {
  if (Value value = n.input(index); value && (!NodeContext::hasRank(value) || n.rank(value) < 2))
    n.failInput(index, "has no known rank of at least 2");
}

/// Outputs: both triangles in one matrix, and the order of the rows.
void importLu(NodeContext &n) {
  Value input = n.input(0);
  const Type index = n.typeAttr("output_idx_type", atc::tf::pb::DT_INT32);
  requireMatrices(n, 0);
  if (n.failed())
    return;
  SmallVector<Value> results =
      n.callHost(graph::HostCall{"Lu", {input}, n.builder().getDictionaryAttr({}), 2});
  if (results.empty())
    return;
  n.setOutput(0, results[0]);
  n.setOutput(1, n.cast(results[1], index));
}

void importSquareRoot(NodeContext &n) {
  Value input = n.input(0);
  n.setOutput(n.callHost("MatrixSquareRoot", {input}));
}

/// Least squares by the normal equations, in double precision. Input 2 is added to their diagonal
/// where `fast` is set; without that, TensorFlow ignores it.
void importLeastSquares(NodeContext &n) {
  Value matrix = n.input(0), right = n.input(1), added = n.input(2);
  const bool isRegular = n.boolAttr("fast", true);
  requireMatrices(n, 0);
  requireMatrices(n, 1);
  if (n.failed())
    return;
  const int64_t rank = n.rank(matrix), rows = n.shape(matrix)[rank - 2],
                columns = n.shape(matrix)[rank - 1];
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns))
    return n.failInput(0, "must have a known number of rows and columns");
  const Type type = NodeContext::elementType(right), wide = n.builder().getF64Type();
  TensorMath m(n);
  matrix = n.cast(matrix, wide);
  right = n.cast(right, wide);
  Value transposed = turned(n, matrix);
  const bool isTall = rows >= columns;
  Value square = isTall ? n.callHost("MatMul", {transposed, matrix})
                        : n.callHost("MatMul", {matrix, transposed});
  const int64_t size = std::min(rows, columns);
  if (isRegular) {
    SmallVector<int64_t> identity(size * size, 0);
    for (int64_t i = 0; i < size; ++i)
      identity[i * size + i] = 1;
    Value diagonal = m.reshape(n.cast(n.intList(identity), wide), ArrayRef<int64_t>{size, size});
    square = n.callHost(
        "Add",
        {square,
         n.callHost("Mul", {diagonal, m.reshape(n.cast(added, wide), ArrayRef<int64_t>{1, 1})})});
  }
  Value result =
      isTall ? n.callHost("MatrixSolve", {square, n.callHost("MatMul", {transposed, right})},
                          {n.hostInts("adjoint", {0})})
             : n.callHost("MatMul", {transposed, n.callHost("MatrixSolve", {square, right},
                                                            {n.hostInts("adjoint", {0})})});
  n.setOutput(n.cast(result, type));
}

/// Inputs: the diagonal above the main one, that one and the one below, each [.., 1, m]; and
/// matrices [.., m, k]. The last element of the first and the first one of the last do not count.
void importTridiagonalProduct(NodeContext &n) {
  requireMatrices(n, 3);
  for (unsigned i : {0u, 1u, 2u})
    requireMatrices(n, i);
  if (n.failed())
    return;
  Value right = n.input(3);
  const int64_t axis = n.rank(right) - 2;
  TensorMath m(n);
  auto scaled = [&](unsigned diagonal, Value by) {
    return n.callHost("Mul", {turned(n, n.input(diagonal)), by});
  };
  auto padded = [&](Value value, int64_t before, int64_t behind) {
    SmallVector<int64_t> pads(2 * n.rank(right), 0);
    pads[axis] = before;
    pads[axis + n.rank(right)] = behind;
    return n.callHost("Pad", {value, n.intList(pads)});
  };
  // The row behind each one, and the row in front of it.
  Value next = padded(m.slice(right, 1, std::numeric_limits<int64_t>::max(), axis), 0, 1);
  Value last = padded(m.slice(right, 0, -1, axis), 1, 0);
  // What does not count meets a row of zeros.
  Value result = n.callHost("Add", {scaled(1, right), scaled(0, next)});
  n.setOutput(n.callHost("Add", {result, scaled(2, last)}));
}

void importTridiagonalSolve(NodeContext &n) {
  Value diagonals = n.input(0), right = n.input(1);
  const bool pivots = n.boolAttr("partial_pivoting", true);
  n.setOutput(n.callHost("TridiagonalSolve", {diagonals, right}, {n.hostInts("pivots", {pivots})}));
}

} // namespace

ArrayRef<OpRow> systemRows() {
  static const OpRow rows[] = {
      {"Lu", importLu, "real matrices"},
      {"MatrixSolveLs", importLeastSquares,
       "real matrices with a known number of rows and columns; of full rank"},
      {"MatrixSquareRoot", importSquareRoot, "real matrices"},
      {"TridiagonalMatMul", importTridiagonalProduct, "real matrices"},
      {"TridiagonalSolve", importTridiagonalSolve, "real matrices"},
  };
  return rows;
}

} // namespace atc::tf_import
