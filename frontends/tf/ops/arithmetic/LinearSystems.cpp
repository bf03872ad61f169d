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

/// Least squares by the singular values, as an orthogonal decomposition has no squares of small
/// elements: the shortest solution, where columns depend on each other.
Value solveBySingularValues(TensorMath &m, Value matrix, Value right, double precision) {
  NodeContext &n = m.n;
  SmallVector<Value> parts = n.callHost(graph::HostCall{
      "Svd", {matrix}, n.builder().getDictionaryAttr({n.hostInts("full_matrices", {0})}), 3});
  if (parts.empty())
    return {};
  const int64_t last = n.rank(matrix) - 2;
  Value largest = m.slice(parts[0], 0, 1, last), one = n.scalarLike(1, parts[0]);
  Value isKept = m.greater(parts[0], m.mul(largest, n.scalarLike(precision, largest)));
  Value inverse =
      m.select(isKept, m.div(one, m.select(isKept, parts[0], one)), n.scalarLike(0, parts[0]));
  Value scaled =
      m.mul(m.unsqueeze(inverse, {last + 1}), n.callHost("MatMul", {turned(n, parts[1]), right}));
  return n.callHost("MatMul", {parts[2], scaled});
}

/// Least squares by the normal equations, with `added` on their diagonal.
Value solveByNormalEquations(TensorMath &m, Value matrix, Value right, Value added) {
  NodeContext &n = m.n;
  const int64_t rank = n.rank(matrix), rows = n.shape(matrix)[rank - 2],
                columns = n.shape(matrix)[rank - 1];
  Value transposed = turned(n, matrix);
  const bool isTall = rows >= columns;
  Value square = isTall ? n.callHost("MatMul", {transposed, matrix})
                        : n.callHost("MatMul", {matrix, transposed});
  Value numbers = m.count(m.index(std::min(rows, columns)));
  Value isDiagonal = m.equal(m.unsqueeze(numbers, {0}), m.unsqueeze(numbers, {1}));
  square = m.add(square, m.mul(n.cast(isDiagonal, NodeContext::elementType(matrix)),
                               m.reshape(added, ArrayRef<int64_t>{1, 1})));
  NamedAttribute straight = n.hostInts("adjoint", {0});
  if (isTall)
    return n.callHost("MatrixSolve", {square, n.callHost("MatMul", {transposed, right})},
                      {straight});
  return n.callHost("MatMul", {transposed, n.callHost("MatrixSolve", {square, right}, {straight})});
}

/// In double precision. Input 2 counts where `fast` is set; without that, TensorFlow ignores it.
void importLeastSquares(NodeContext &n) {
  Value matrix = n.input(0), right = n.input(1), added = n.input(2);
  const bool isFast = n.boolAttr("fast", true);
  requireMatrices(n, 0);
  requireMatrices(n, 1);
  if (n.failed())
    return;
  const int64_t rows = n.shape(matrix)[n.rank(matrix) - 2], columns = n.shape(matrix).back();
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns))
    return n.failInput(0, "must have a known number of rows and columns");
  const Type type = NodeContext::elementType(right), wide = n.builder().getF64Type();
  // As in TensorFlow, the element type says which columns depend on each other.
  const double precision = (type.isF64() ? 0x1p-52 : 0x1p-23) * std::min(rows, columns);
  TensorMath m(n);
  matrix = n.cast(matrix, wide);
  right = n.cast(right, wide);
  n.setOutput(n.cast(isFast ? solveByNormalEquations(m, matrix, right, n.cast(added, wide))
                            : solveBySingularValues(m, matrix, right, precision),
                     type));
}

/// Returns input `index` of TridiagonalMatMul, a diagonal [.., 1, m], as columns [.., m, 1].
Value diagonalOf(TensorMath &m, unsigned index) {
  NodeContext &n = m.n;
  Value value = n.input(index), right = n.input(3);
  requireMatrices(n, index);
  if (n.failed())
    return {};
  const int64_t rank = n.rank(right);
  SmallVector<int64_t> expected(n.shape(right));
  expected[rank - 1] = expected[rank - 2];
  expected[rank - 2] = 1;
  bool fits = n.rank(value) == rank;
  for (int64_t d = 0; fits && d < rank; ++d)
    fits = ShapedType::isDynamic(expected[d]) || ShapedType::isDynamic(n.shape(value)[d]) ||
           expected[d] == n.shape(value)[d];
  if (!fits) {
    n.failInput(index, "has shape " + printDims(n.shape(value)) + ", expected " +
                           printDims(expected) + " for the rows of input 3");
    return {};
  }
  Value wanted =
      m.concat({m.dims(right, 0, rank - 2), n.intList({1}), m.dims(right, rank - 2, rank - 1)}, 0);
  value = m.required(value, m.equal(m.dims(value, 0, rank), wanted),
                     "a diagonal does not have one element for each row of the right-hand side");
  return turned(n, value);
}

/// Inputs: the diagonal above the main one, that one and the one below, each [.., 1, m]; and
/// matrices [.., m, k]. The last element of the first and the first one of the last do not count.
void importTridiagonalProduct(NodeContext &n) {
  requireMatrices(n, 3);
  TensorMath m(n);
  Value above = diagonalOf(m, 0), main = diagonalOf(m, 1), below = diagonalOf(m, 2);
  if (n.failed())
    return;
  Value right = n.input(3);
  const int64_t axis = n.rank(right) - 2;
  constexpr int64_t end = std::numeric_limits<int64_t>::max();
  auto padded = [&](Value value, int64_t before, int64_t behind) {
    SmallVector<int64_t> pads(2 * n.rank(right), 0);
    pads[axis] = before;
    pads[axis + n.rank(right)] = behind;
    return n.callHost("Pad", {value, n.intList(pads)});
  };
  // The products with the row behind each one, and with the row in front of it.
  Value next = m.mul(m.slice(above, 0, -1, axis), m.slice(right, 1, end, axis));
  Value last = m.mul(m.slice(below, 1, end, axis), m.slice(right, 0, -1, axis));
  n.setOutput(m.add(m.add(m.mul(main, right), padded(next, 0, 1)), padded(last, 1, 0)));
}

void importTridiagonalSolve(NodeContext &n) {
  Value diagonals = n.input(0), right = n.input(1);
  const bool pivots = n.boolAttr("partial_pivoting", true);
  if (n.boolAttr("perturb_singular", false))
    return n.failAttribute("perturb_singular", "is true, which is not supported");
  n.setOutput(n.callHost("TridiagonalSolve", {diagonals, right}, {n.hostInts("pivots", {pivots})}));
}

} // namespace

ArrayRef<OpRow> systemRows() {
  static const OpRow rows[] = {
      {"Lu", importLu, "real matrices"},
      {"MatrixSolveLs", importLeastSquares,
       "real matrices with a known number of rows and columns; with `fast`, of full rank"},
      {"MatrixSquareRoot", importSquareRoot, "real matrices"},
      {"TridiagonalMatMul", importTridiagonalProduct, "real matrices"},
      {"TridiagonalSolve", importTridiagonalSolve, "real matrices, without perturb_singular"},
  };
  return rows;
}

} // namespace atc::tf_import
