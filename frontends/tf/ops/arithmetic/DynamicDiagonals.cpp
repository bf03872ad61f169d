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

/// The numbers of the diagonals that an operator takes: all from the first to the last one.
struct Diagonals {
  int64_t first = 0, last = 0;
  bool isOne() const { return first == last; }
  int64_t count() const { return last - first + 1; }
};

/// Returns the diagonals that input `index` chooses: one number, or the first and the last one.
Diagonals readDiagonals(NodeContext &n, unsigned index) {
  SmallVector<int64_t> numbers = n.constantInts(index);
  if (n.failed())
    return {};
  if (numbers.empty() || numbers.size() > 2 || numbers.front() > numbers.back()) {
    n.failInput(index, "is " + printDims(numbers) +
                           ", expected the number of a diagonal, or those of the first and the "
                           "last one in their order");
    return {};
  }
  for (int64_t number : numbers)
    if (std::abs(number) > maxDim)
      n.failInput(index, "is " + Twine(number) + ", which is out of range");
  return {numbers.front(), numbers.back()};
}

/// Requires that a constant input holds one number, which fills what no diagonal covers, and
/// returns it.
double readFill(NodeContext &n, unsigned index) {
  SmallVector<double> fill = n.constantFloats(index);
  if (!n.failed() && fill.size() != 1)
    n.failInput(index, "has " + Twine(fill.size()) + " elements, expected 1");
  return n.failed() ? 0 : fill.front();
}

/// Returns the input if its rank is known and at least `min`; null after an error.
Value rankedInput(NodeContext &n, unsigned index, int64_t min) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(value)) {
    n.failInput(index, "has no known rank");
    return {};
  }
  n.requireRank(index, min, maxRank);
  return n.failed() ? Value() : value;
}

/// Fails the node, whose input `index` chooses diagonal k, unless matrices of this shape have it;
/// dims may be dynamic.
void requireDiagonal(NodeContext &n, unsigned index, int64_t k, ArrayRef<int64_t> shape) {
  const int64_t size = k < 0 ? shape[shape.size() - 2] : shape.back();
  if (k != 0 && !ShapedType::isDynamic(size) && std::abs(k) >= size)
    n.failInput(index, "asks for diagonal " + Twine(k) + " of a matrix with " + Twine(size) +
                           (k < 0 ? " rows" : " columns"));
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

/// Several diagonals of matrices, packed as rows [count, longest] from the last diagonal to the
/// first one. Shorter ones stand at the left or the right of their row.
class PackedDiagonals {
public:
  PackedDiagonals(TensorMath &m, Diagonals numbers, Value rows, Value columns, Value longest)
      : m(m), numbers(numbers), rows(rows), columns(columns), longest(longest) {
    // Before the operators of version 3 all stand at the left.
    const std::string align =
        m.n.op().ends_with("V3") ? m.n.stringAttr("align", "RIGHT_LEFT") : "LEFT_LEFT";
    const auto [above, below] = StringRef(align).split('_');
    isRightAbove = above == "RIGHT";
    isRightBelow = below == "RIGHT";
    if ((!isRightAbove && above != "LEFT") || (!isRightBelow && below != "LEFT"))
      m.n.failAttribute(
          "align", "is '" + align + "', expected RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT or RIGHT_RIGHT");
  }

  /// Returns the packed diagonals of matrices, with `fill` beside those that are shorter.
  Value taken(Value matrix, double fill) {
    const int64_t rank = m.n.rank(matrix);
    Value zero = m.index(0);
    Value diagonal =
        m.unsqueeze(m.sub(m.index(numbers.last), m.count(m.index(numbers.count()))), {1});
    Value position = m.sub(m.unsqueeze(m.count(longest), {0}), front(diagonal));
    Value isIn = m.both(m.greater(position, m.index(-1)), m.less(position, length(diagonal)));
    Value row = m.sub(position, m.min(diagonal, zero)),
          column = m.add(position, m.max(diagonal, zero));
    Value at = m.select(isIn, m.add(m.mul(row, columns), column), zero);
    return m.select(isIn, m.gather(joined(matrix, m.mul(rows, columns)), at, rank - 2),
                    m.n.scalarLike(fill, matrix));
  }

  /// Returns matrices with the packed diagonals, and what `other` has elsewhere.
  Value placed(Value diagonals, Value other) {
    const int64_t rank = m.n.rank(diagonals);
    Value row = m.unsqueeze(m.count(rows), {1}), column = m.unsqueeze(m.count(columns), {0});
    Value diagonal = m.sub(column, row);
    Value isOn = m.both(m.greater(diagonal, m.index(numbers.first - 1)),
                        m.less(diagonal, m.index(numbers.last + 1)));
    Value begin = m.mul(m.sub(m.index(numbers.last), diagonal), longest);
    Value at = m.select(isOn, m.add(begin, m.add(m.min(row, column), front(diagonal))), m.index(0));
    Value packed = joined(diagonals, m.mul(m.index(numbers.count()), longest));
    return m.select(isOn, m.gather(packed, at, rank - 2), other);
  }

private:
  Value length(Value diagonal) {
    Value zero = m.index(0);
    return m.min(m.add(rows, m.min(diagonal, zero)), m.sub(columns, m.max(diagonal, zero)));
  }
  /// Returns how many elements of its row stand in front of a diagonal.
  Value front(Value diagonal) {
    Value none = m.index(0), rest = m.sub(longest, length(diagonal));
    if (isRightAbove == isRightBelow)
      return isRightAbove ? rest : none;
    return m.select(m.greater(diagonal, none), isRightAbove ? rest : none,
                    isRightBelow ? rest : none);
  }
  /// Makes the last two axes one of this size.
  Value joined(Value value, Value size) {
    SmallVector<Value> shape;
    if (const int64_t rank = m.n.rank(value); rank > 2)
      shape.push_back(m.dims(value, 0, rank - 2));
    shape.push_back(m.shapeOf({size}));
    return m.reshape(value, m.concat(shape, 0));
  }

  TensorMath &m;
  Diagonals numbers;
  Value rows, columns, longest;
  bool isRightAbove = false, isRightBelow = false;
};

/// Returns the size of an axis of the result of MatrixDiag, that of input `index`: at least
/// `min`; -1 stands for that.
Value sizeOfMatrix(TensorMath &m, unsigned index, int64_t stated, int64_t diagonal, int64_t beyond,
                   Value min) {
  if (stated == -1)
    return min;
  // The length of a diagonal may be open, which is a negative number.
  if (stated < std::max<int64_t>(diagonal, 0) + beyond)
    m.n.failInput(index, "is " + Twine(stated) + ", expected at least " +
                             Twine(std::max<int64_t>(diagonal, 0) + beyond) +
                             " for these diagonals");
  return m.index(stated);
}

/// Returns the number of elements of the longest one of diagonals.
Value longestOf(TensorMath &m, Diagonals numbers, Value rows, Value columns) {
  return m.min(m.add(rows, m.index(std::min<int64_t>(numbers.last, 0))),
               m.sub(columns, m.index(std::max<int64_t>(numbers.first, 0))));
}

/// Imports MatrixDiag of several diagonals, or with a stated number of rows or columns.
void importPackedDiagonals(NodeContext &n, Value diagonals, Diagonals numbers, int64_t rows,
                           int64_t columns, double fill) {
  TensorMath m(n);
  if (numbers.isOne())
    diagonals = m.unsqueeze(diagonals, {n.rank(diagonals) - 1});
  if (n.failed())
    return;
  const int64_t rank = n.rank(diagonals), size = n.shape(diagonals).back(),
                count = rank < 2 ? 1 : n.shape(diagonals)[rank - 2];
  if (rank < 2 || (!ShapedType::isDynamic(count) && count != numbers.count()))
    return n.failInput(0, "has " + Twine(count) + " diagonals, expected " + Twine(numbers.count()) +
                              " from " + Twine(numbers.first) + " to " + Twine(numbers.last));
  Value longest = m.dim(diagonals, rank - 1);
  const int64_t below = -std::min<int64_t>(numbers.last, 0),
                beside = std::max<int64_t>(numbers.first, 0);
  Value height = sizeOfMatrix(m, 2, rows, size, below, m.add(longest, m.index(below))),
        width = sizeOfMatrix(m, 3, columns, size, beside, m.add(longest, m.index(beside)));
  if (rows == -1 && columns == -1)
    height = width = m.max(height, width);
  else if (!ShapedType::isDynamic(size) && rows > size + below && columns > size + beside)
    n.failInput(0, "has diagonals of " + Twine(size) + " elements, which are too short for " +
                       Twine(rows) + " rows and " + Twine(columns) + " columns");
  if (n.failed())
    return;
  // A run with diagonals of another length than the matrix has fails: they are reshaped to this
  // one.
  if (rows != -1 || columns != -1)
    longest = longestOf(m, numbers, height, width);
  PackedDiagonals packed(m, numbers, height, width, longest);
  if (!n.failed())
    n.setOutput(packed.placed(diagonals, n.scalarLike(fill, diagonals)));
}

/// Inputs behind the diagonals are rows, columns and what fills the rest of the matrix.
void importMatrixDiag(NodeContext &n) {
  Value diagonal = rankedInput(n, 0, 1);
  const bool hasNumbers = n.op() != "MatrixDiag";
  const Diagonals numbers = hasNumbers ? readDiagonals(n, 1) : Diagonals();
  double fill = 0;
  int64_t rows = -1, columns = -1;
  if (hasNumbers) {
    fill = readFill(n, 4);
    rows = n.constantInt(2);
    columns = n.constantInt(3);
  }
  if (n.failed())
    return;
  if (!numbers.isOne() || rows != -1 || columns != -1)
    return importPackedDiagonals(n, diagonal, numbers, rows, columns, fill);
  const int64_t k = numbers.first;
  TensorMath m(n);
  Value size = m.add(m.dim(diagonal, n.rank(diagonal) - 1), m.index(std::abs(k)));
  n.setOutput(
      spread(m, diagonal, size, k, isOnDiagonal(m, size, size, k), n.scalarLike(fill, diagonal)));
}

/// Returns the size of an axis; where no element `number` is on it, a run fails.
Value sizeBeyond(TensorMath &m, Value size, int64_t number) {
  if (number <= 0)
    return size;
  return m.add(size, m.sub(m.gather(m.count(size), m.index(number), 0), m.index(number)));
}

void importMatrixDiagPart(NodeContext &n) {
  Value matrix = rankedInput(n, 0, 2);
  const bool hasNumbers = n.op() != "MatrixDiagPart";
  const Diagonals numbers = hasNumbers ? readDiagonals(n, 1) : Diagonals();
  const int64_t k = numbers.last;
  for (int64_t number : {numbers.first, numbers.last})
    if (!n.failed())
      requireDiagonal(n, 1, number, n.shape(matrix));
  if (n.failed())
    return;
  TensorMath m(n);
  if (!numbers.isOne()) {
    const double fill = readFill(n, 2);
    const int64_t rank = n.rank(matrix);
    Value rows = sizeBeyond(m, m.dim(matrix, rank - 2), -numbers.first),
          columns = sizeBeyond(m, m.dim(matrix, rank - 1), numbers.last);
    PackedDiagonals packed(m, numbers, rows, columns, longestOf(m, numbers, rows, columns));
    if (!n.failed())
      n.setOutput(packed.taken(matrix, fill));
    return;
  }
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
  Value position = m.add(m.mul(m.add(number, top), columns), m.add(number, left));
  SmallVector<Value> shape;
  if (rank > 2)
    shape.push_back(m.dims(matrix, 0, rank - 2));
  shape.push_back(m.shapeOf({m.mul(rows, columns)}));
  n.setOutput(m.gather(m.reshape(matrix, m.concat(shape, 0)), position, rank - 2));
}

/// Returns diagonals, of which each matrix gets `count` (0 stands for one without an axis of its
/// own); a run with other outer dims or another length than the matrices have fails.
Value fitted(TensorMath &m, Value diagonals, Value matrix, int64_t count, Value longest) {
  SmallVector<Value> wanted = {m.dims(matrix, 0, m.n.rank(matrix) - 2)};
  if (count > 0)
    wanted.push_back(m.n.intList({count}));
  wanted.push_back(m.shapeOf({longest}));
  return m.required(
      diagonals, m.equal(m.dims(diagonals, 0, m.n.rank(diagonals)), m.concat(wanted, 0)),
      "the diagonals do not have the outer dims of the matrices and the length of a diagonal");
}

/// Imports MatrixSetDiag of several diagonals.
void setDiagonals(TensorMath &m, Value matrix, Value diagonals, Diagonals numbers) {
  NodeContext &n = m.n;
  const int64_t rank = n.rank(matrix);
  Value rows = sizeBeyond(m, m.dim(matrix, rank - 2), -numbers.first),
        columns = sizeBeyond(m, m.dim(matrix, rank - 1), numbers.last);
  if (n.rank(diagonals) != rank)
    return n.failInput(1, "has rank " + Twine(n.rank(diagonals)) + ", expected " + Twine(rank) +
                              " for several diagonals");
  if (const int64_t count = n.shape(diagonals)[rank - 2];
      !ShapedType::isDynamic(count) && count != numbers.count())
    return n.failInput(1, "has " + Twine(count) + " diagonals, expected " + Twine(numbers.count()));
  Value longest = longestOf(m, numbers, rows, columns);
  PackedDiagonals packed(m, numbers, rows, columns, longest);
  if (n.failed())
    return;
  n.setOutput(packed.placed(fitted(m, diagonals, matrix, numbers.count(), longest), matrix));
}

void importMatrixSetDiag(NodeContext &n) {
  Value matrix = rankedInput(n, 0, 2), diagonal = rankedInput(n, 1, 1);
  const Diagonals numbers = n.op() == "MatrixSetDiag" ? Diagonals() : readDiagonals(n, 2);
  const int64_t k = numbers.first;
  if (n.op() != "MatrixSetDiag")
    for (int64_t number : {numbers.first, numbers.last})
      if (!n.failed())
        requireDiagonal(n, 2, number, n.shape(matrix));
  if (n.failed())
    return;
  TensorMath m(n);
  const int64_t rank = n.rank(matrix);
  if (!numbers.isOne())
    return setDiagonals(m, matrix, diagonal, numbers);
  // A tensor of diagonals may have an axis of size 1 for the number of diagonals.
  if (n.rank(diagonal) == rank)
    diagonal = m.squeeze(diagonal, {rank - 2});
  Value rows = m.dim(matrix, rank - 2), columns = m.dim(matrix, rank - 1);
  diagonal = fitted(m, diagonal, matrix, 0, longestOf(m, numbers, rows, columns));
  n.setOutput(spread(m, diagonal, columns, k, isOnDiagonal(m, rows, columns, k), matrix));
}

/// A tensor [a, b] becomes [a, b, a, b] with its elements where both halves of an index agree.
void importDiag(NodeContext &n) {
  Value input = rankedInput(n, 0, 1);
  if (n.failed())
    return;
  if (2 * n.rank(input) > maxRank)
    return n.failInput(0, "has rank " + Twine(n.rank(input)) + ", expected at most " +
                              Twine(maxRank / 2));
  TensorMath m(n);
  Value half = m.dims(input, 0, n.rank(input)), size = m.product(half);
  Value matrix = spread(m, m.reshape(input, ArrayRef<int64_t>{-1}), size, 0,
                        isOnDiagonal(m, size, size, 0), n.scalarLike(0, input));
  n.setOutput(m.reshape(matrix, m.concat({half, half}, 0)));
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

ArrayRef<OpRow> dynamicDiagonalRows() {
  static const OpRow rows[] = {
      {"Diag", importDiag},
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
