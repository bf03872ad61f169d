//===-- DynamicDiagonals.cpp - diagonals of matrices of any size ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diagonal k has the elements [i, i + k]. The last two axes are rows and columns; a diagonal lies
// along the last axis of a tensor.

#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Returns the number of the one diagonal that input `index` chooses.
int64_t readDiagonal(NodeContext &n, unsigned index) {
  SmallVector<int64_t> numbers = n.constantInts(index);
  if (n.failed())
    return 0;
  if (numbers.empty() || numbers.front() != numbers.back()) {
    n.failInput(index, "asks for several diagonals, from " +
                           Twine(numbers.empty() ? 0 : numbers.front()) + " to " +
                           Twine(numbers.empty() ? 0 : numbers.back()) + "; expected one");
    return 0;
  }
  if (std::abs(numbers.front()) > maxDim)
    n.failInput(index, "is " + Twine(numbers.front()) + ", which is out of range");
  return numbers.front();
}

/// Requires that a constant input holds one number, which fills what no diagonal covers, and
/// returns it.
double readFill(NodeContext &n, unsigned index) {
  SmallVector<double> fill = n.constantFloats(index);
  if (!n.failed() && fill.size() != 1)
    n.failInput(index, "has " + Twine(fill.size()) + " elements, expected 1");
  return n.failed() ? 0 : fill.front();
}

/// Returns the input if its rank is known and at least `least`; null after an error.
Value rankedInput(NodeContext &n, unsigned index, int64_t least) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(value)) {
    n.failInput(index, "has no known rank");
    return {};
  }
  n.requireRank(index, least, maxRank);
  return n.failed() ? Value() : value;
}

/// Returns a condition [rows, columns] that holds on diagonal k.
Value isOnDiagonal(TensorMath &m, Value rows, Value columns, int64_t k) {
  Value row = m.unsqueeze(m.count(rows), {1}), column = m.unsqueeze(m.count(columns), {0});
  return m.equal(m.add(row, m.index(k)), column);
}

/// Puts a diagonal into a matrix: the element of column j is the one at j - max(k, 0) of the
/// diagonal.
Value spread(TensorMath &m, Value diagonal, Value columns, int64_t k, Value isOn, Value other) {
  NodeContext &n = m.n;
  const int64_t last = n.rank(diagonal) - 1, front = std::max<int64_t>(k, 0);
  Value behind = m.sub(m.sub(columns, m.index(front)), m.dim(diagonal, last));
  Value padded = n.callHost(
      "Pad",
      {diagonal, m.shapeOf({m.index(front), behind}), n.scalarLike(0, diagonal), n.intList({last})},
      {n.hostText("mode", "constant")});
  return m.select(isOn, m.unsqueeze(padded, {last}), other);
}

/// Inputs behind the diagonals are rows, columns and what fills the rest of the matrix.
void importMatrixDiag(NodeContext &n) {
  Value diagonal = rankedInput(n, 0, 1);
  const bool hasNumbers = n.op() != "MatrixDiag";
  const int64_t k = hasNumbers ? readDiagonal(n, 1) : 0;
  double fill = 0;
  if (hasNumbers) {
    fill = readFill(n, 4);
    for (unsigned index : {2u, 3u})
      if (SmallVector<int64_t> size = n.constantInts(index);
          !n.failed() && (size.size() != 1 || size[0] != -1))
        n.failInput(index, "must be -1 where the length of the diagonal is not fixed or is not "
                           "the main one");
  }
  if (n.failed())
    return;
  TensorMath m(n);
  Value size = m.add(m.dim(diagonal, n.rank(diagonal) - 1), m.index(std::abs(k)));
  n.setOutput(
      spread(m, diagonal, size, k, isOnDiagonal(m, size, size, k), n.scalarLike(fill, diagonal)));
}

void importMatrixDiagPart(NodeContext &n) {
  Value matrix = rankedInput(n, 0, 2);
  const int64_t k = n.op() == "MatrixDiagPart" ? 0 : readDiagonal(n, 1);
  if (!n.failed())
    requireDiagonal(n, k, n.shape(matrix));
  if (n.failed())
    return;
  TensorMath m(n);
  const int64_t rank = n.rank(matrix);
  Value rows = m.dim(matrix, rank - 2), columns = m.dim(matrix, rank - 1);
  // An index among as many as there are rows or columns fails a run that has too few.
  auto within = [&](int64_t first, Value limit) {
    return first == 0 ? m.index(0) : m.gather(m.count(limit), m.index(first), 0);
  };
  Value top = within(std::max<int64_t>(-k, 0), rows),
        left = within(std::max<int64_t>(k, 0), columns);
  Value size = m.min(m.sub(rows, top), m.sub(columns, left));
  // Element i of the diagonal among the elements of the matrix in one row.
  Value number = m.count(size);
  Value place = m.add(m.mul(m.add(number, top), columns), m.add(number, left));
  SmallVector<Value> shape;
  if (rank > 2)
    shape.push_back(m.dims(matrix, 0, rank - 2));
  shape.push_back(m.shapeOf({m.mul(rows, columns)}));
  n.setOutput(m.gather(m.reshape(matrix, m.concat(shape, 0)), place, rank - 2));
}

void importMatrixSetDiag(NodeContext &n) {
  Value matrix = rankedInput(n, 0, 2), diagonal = rankedInput(n, 1, 1);
  const int64_t k = n.op() == "MatrixSetDiag" ? 0 : readDiagonal(n, 2);
  if (n.failed())
    return;
  TensorMath m(n);
  const int64_t rank = n.rank(matrix);
  // A tensor of diagonals may have an axis of size 1 for the number of diagonals.
  if (n.rank(diagonal) == rank)
    diagonal = m.squeeze(diagonal, {rank - 2});
  Value rows = m.dim(matrix, rank - 2), columns = m.dim(matrix, rank - 1);
  n.setOutput(spread(m, diagonal, columns, k, isOnDiagonal(m, rows, columns, k), matrix));
}

/// A tensor [a, b, a, b] becomes [a, b]: in flat order every element that is one row and one column
/// behind the last one.
void importDiagPart(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(input) || n.rank(input) < 2 || n.rank(input) % 2 != 0)
    return n.failInput(0, "has no even rank that is known");
  ArrayRef<int64_t> shape = n.shape(input);
  for (auto [first, second] :
       llvm::zip(shape.take_front(shape.size() / 2), shape.drop_front(shape.size() / 2)))
    if (!ShapedType::isDynamic(first) && !ShapedType::isDynamic(second) && first != second)
      return n.failInput(0, "has no shape whose second half repeats the first one");
  TensorMath m(n);
  Value half = m.dims(input, 0, n.rank(input) / 2);
  Value size = m.shapeOf({m.product(half)});
  Value flat = m.reshape(input, ArrayRef<int64_t>{-1});
  Value diagonal =
      n.callHost("Slice", {flat, n.intList({0}), m.unsqueeze(n.callHost("Size", {input}), {0}),
                           n.intList({0}), m.add(size, m.index(1))});
  n.setOutput(m.reshape(diagonal, half));
}

} // namespace

void requireDiagonal(NodeContext &n, int64_t k, ArrayRef<int64_t> shape) {
  const int64_t size = k < 0 ? shape[shape.size() - 2] : shape.back();
  if (k != 0 && !ShapedType::isDynamic(size) && std::abs(k) >= size)
    n.failInput(1, "asks for diagonal " + Twine(k) + " of a matrix with " + Twine(size) +
                       (k < 0 ? " rows" : " columns"));
}

ArrayRef<OpRow> dynamicDiagonalRows() {
  static const OpRow rows[] = {
      {"DiagPart", importDiagPart},
      {"MatrixDiag", importMatrixDiag},
      {"MatrixDiagPart", importMatrixDiagPart},
      {"MatrixDiagPartV2", importMatrixDiagPart},
      {"MatrixDiagPartV3", importMatrixDiagPart},
      {"MatrixDiagV2", importMatrixDiag},
      {"MatrixDiagV3", importMatrixDiag},
      {"MatrixSetDiag", importMatrixSetDiag},
      {"MatrixSetDiagV2", importMatrixSetDiag},
      {"MatrixSetDiagV3", importMatrixSetDiag},
  };
  return rows;
}

} // namespace atc::tf_import
