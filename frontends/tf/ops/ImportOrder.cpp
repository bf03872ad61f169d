//===-- ImportOrder.cpp - running sums, sorting, diagonals, sequences -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "frontends/tf/ops/IndexMasks.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::tf_import {
namespace {

using graph::ComparePredicate;
using graph::ReduceKind;

//===----------------------------------------------------------------------===//
// Running sums and products
//===----------------------------------------------------------------------===//

/// Moves by `by` elements along `axis`; `identity` takes the locations left free.
Value shift(NodeContext &n, Value value, int64_t axis, int64_t by, bool down, double identity) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(n.shape(value)), zeros(shape.size(), 0), steps(shape.size(), 1);
  SmallVector<int64_t> starts(zeros), pads(zeros);
  shape[axis] -= by;
  pads[axis] = by;
  if (down)
    starts[axis] = by;
  Value rest = n.create<graph::SliceOp>(value, starts, shape, steps);
  return n.create<graph::PadOp>(rest, down ? zeros : pads, down ? pads : zeros,
                                graph::PadMode::Constant, APFloat(identity));
}

/// Doubles the span that every element has combined until it is the whole axis.
template <typename OpTy> void importScan(NodeContext &n) {
  constexpr double identity = std::is_same_v<OpTy, graph::MulOp> ? 1 : 0;
  Value value = n.input(0);
  int64_t axis = n.constantInt(1);
  bool reverse = n.boolAttr("reverse", false), exclusive = n.boolAttr("exclusive", false);
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(value));
  if (n.failed())
    return;
  int64_t size = n.shape(value)[axis];
  if (exclusive && size > 0)
    value = shift(n, value, axis, 1, reverse, identity);
  for (int64_t by = 1; by < size; by *= 2)
    value = n.create<OpTy>(value, shift(n, value, axis, by, reverse, identity));
  n.setOutput(value);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Returns, for rows [B, N], the position [B, N] of every element in its sorted row; equal
/// elements keep their order.
Value ranksInRow(NodeContext &n, Value rows, bool descending) {
  if (n.failed())
    return {};
  int64_t count = n.shape(rows)[0], size = n.shape(rows)[1];
  Type index = n.builder().getI32Type();
  if (!checkElements(n, {count, size, size}))
    return {};
  Value own = n.reshape(rows, {count, size, 1}), other = n.reshape(rows, {count, 1, size});
  Value isBetter = n.compare(other, own, descending ? ComparePredicate::Gt : ComparePredicate::Lt);
  Value isEarlier = n.compare(indicesAlong(n, 2, 3, size, index),
                              indicesAlong(n, 1, 3, size, index), ComparePredicate::Lt);
  Value isEqual = n.compare(other, own, ComparePredicate::Eq);
  Value before = n.create<graph::OrOp>(isBetter, n.create<graph::AndOp>(isEqual, isEarlier));
  return n.reduce(ReduceKind::Sum, n.cast(before, index), {2}, /*keepdims=*/false);
}

/// The elements of `rows` [B, N] at the locations `first` and following: [B, count].
/// With `indices`, their positions.
Value takeRanks(NodeContext &n, Value rows, Value locations, int64_t first, int64_t count,
                bool indices) {
  if (n.failed())
    return {};
  int64_t batch = n.shape(rows)[0], size = n.shape(rows)[1];
  Type index = n.builder().getI32Type();
  if (!checkElements(n, {batch, count, size}))
    return {};
  Value wanted =
      n.add(indicesAlong(n, 1, 3, count, index), n.scalar(static_cast<double>(first), index));
  Value isThere = n.compare(n.reshape(locations, {batch, 1, size}), wanted, ComparePredicate::Eq);
  Value from = indices ? indicesAlong(n, 2, 3, size, index) : n.reshape(rows, {batch, 1, size});
  Value chosen = n.create<graph::WhereOp>(isThere, from, n.scalarLike(0, from));
  return n.reduce(ReduceKind::Sum, chosen, {2}, /*keepdims=*/false);
}

void importTopK(NodeContext &n) {
  n.requireRank(0, 1, maxRank);
  Value input = n.input(0);
  int64_t k = n.op() == "TopK" ? n.requiredInt("k") : n.constantInt(1);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input));
  int64_t size = shape.back();
  if (k < 0 || k > size)
    return n.failNode("asks for " + Twine(k) + " of " + Twine(size) + " elements");
  int64_t batch = ShapedType::getNumElements(ArrayRef(shape).drop_back());
  Value rows = n.reshape(input, {batch, size});
  shape.back() = k;
  Value locations = ranksInRow(n, rows, /*descending=*/true);
  n.setOutput(0, n.reshape(takeRanks(n, rows, locations, 0, k, false), shape));
  Value indices = n.reshape(takeRanks(n, rows, locations, 0, k, true), shape);
  n.setOutput(1, n.cast(indices, n.typeAttr("index_type", pb::DT_INT32)));
}

/// The element that would stand at location `n` of the sorted last axis.
void importNthElement(NodeContext &n) {
  n.requireRank(0, 1, maxRank);
  Value input = n.input(0);
  int64_t location = n.constantInt(1);
  bool reverse = n.boolAttr("reverse", false);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  if (location < 0 || location >= shape.back())
    return n.failInput(1, "is " + Twine(location) + ", out of range for " + Twine(shape.back()) +
                              " elements");
  SmallVector<int64_t> result(shape.drop_back());
  Value rows = n.reshape(input, {ShapedType::getNumElements(result), shape.back()});
  Value locations = ranksInRow(n, rows, reverse);
  n.setOutput(n.reshape(takeRanks(n, rows, locations, location, 1, false), result));
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

/// Column minus row of every element of a matrix.
Value diagonalNumbers(NodeContext &n, int64_t rows, int64_t columns) {
  Type index = n.builder().getI32Type();
  return n.sub(indicesAlong(n, 1, 2, columns, index), indicesAlong(n, 0, 2, rows, index));
}

Value isOnDiagonal(NodeContext &n, int64_t rows, int64_t columns) {
  return n.compare(diagonalNumbers(n, rows, columns), n.scalar(0, n.builder().getI32Type()),
                   ComparePredicate::Eq);
}

/// Vectors along the last axis become the diagonals of matrices of zeros.
void importMatrixDiag(NodeContext &n) {
  n.requireRank(0, 1, maxRank - 1);
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input));
  int64_t size = shape.back();
  shape.insert(shape.end() - 1, 1);
  n.setOutput(n.create<graph::WhereOp>(isOnDiagonal(n, size, size), n.reshape(input, shape),
                                       n.scalarLike(0, input)));
}

/// Diag: a tensor [a, b] becomes [a, b, a, b].
void importDiag(NodeContext &n) {
  n.requireRank(0, 1, maxRank / 2);
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input));
  int64_t size = ShapedType::getNumElements(shape);
  shape.append(n.shape(input).begin(), n.shape(input).end());
  Value matrix = n.create<graph::WhereOp>(isOnDiagonal(n, size, size), n.reshape(input, {1, size}),
                                          n.scalarLike(0, input));
  n.setOutput(n.reshape(matrix, shape));
}

/// DiagPart: a tensor [a, b, a, b] becomes the [a, b] that Diag makes it of.
void importDiagPart(NodeContext &n) {
  n.requireRank(0, 2, maxRank);
  Value input = n.input(0);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input), half = shape.take_front(shape.size() / 2);
  if (shape.size() % 2 != 0 || half != shape.drop_front(half.size()))
    return n.failInput(0, "has no shape whose second half repeats the first one");
  const int64_t size = ShapedType::getNumElements(half);
  Value flat = n.reshape(input, {size * size});
  n.setOutput(
      n.reshape(n.create<graph::SliceOp>(flat, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{size},
                                         ArrayRef<int64_t>{size + 1}),
                half));
}

void importMatrixSetDiag(NodeContext &n) {
  n.requireRank(0, 2, maxRank);
  Value input = n.input(0), diagonal = n.input(1);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  SmallVector<int64_t> wide(shape.drop_back(2));
  wide.push_back(std::min(rows, columns));
  if (n.shape(diagonal) != ArrayRef(wide))
    return n.failInput(1, "has the shape " + printDims(n.shape(diagonal)) + ", expected " +
                              printDims(wide));
  if (columns > rows) {
    SmallVector<int64_t> low(wide.size(), 0), high(low);
    high.back() = columns - rows;
    diagonal = n.create<graph::PadOp>(diagonal, low, high, graph::PadMode::Constant, APFloat(0.0));
  }
  wide.back() = columns;
  wide.insert(wide.end() - 1, 1);
  n.setOutput(
      n.create<graph::WhereOp>(isOnDiagonal(n, rows, columns), n.reshape(diagonal, wide), input));
}

void importMatrixDiagPart(NodeContext &n) {
  n.requireRank(0, 2, maxRank);
  Value input = n.input(0);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(input)), zeros(shape.size(), 0), ones(shape.size(), 1);
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  int64_t size = std::min(shape[last], shape[last - 1]);
  shape[last] = shape[last - 1] = size;
  Value square = n.create<graph::SliceOp>(input, zeros, shape, ones);
  Value chosen =
      n.create<graph::WhereOp>(isOnDiagonal(n, size, size), square, n.scalarLike(0, input));
  n.setOutput(n.reduce(ReduceKind::Sum, chosen, {last}, /*keepdims=*/false));
}

/// Whether the numbers of diagonals, input `index`, choose the main one only.
bool isMainDiagonal(NodeContext &n, unsigned index) {
  SmallVector<int64_t> numbers = n.constantInts(index);
  return !numbers.empty() && llvm::all_of(numbers, [](int64_t number) { return number == 0; });
}

/// Imports other diagonals by the form for matrices of any size.
void importOtherDiagonals(NodeContext &n) {
  if (!n.failed())
    findDynamicOp(n.op())->build(n);
}

/// Imports the form of an operator whose input 1 (2 of MatrixSetDiag) chooses diagonals.
template <void (*import)(NodeContext &), unsigned index> void importMain(NodeContext &n) {
  if (isMainDiagonal(n, index))
    import(n);
  else
    importOtherDiagonals(n);
}

/// Inputs behind the diagonals are rows, columns and what fills the rest of the matrix.
void importMatrixDiagV3(NodeContext &n) {
  if (!isMainDiagonal(n, 1))
    return importOtherDiagonals(n);
  SmallVector<int64_t> rows = n.constantInts(2), columns = n.constantInts(3);
  SmallVector<double> fill = n.constantFloats(4);
  n.requireRank(0, 1, maxRank - 1);
  if (n.failed())
    return;
  const int64_t size = n.shape(n.input(0)).back();
  auto isSquare = [&](ArrayRef<int64_t> stated) {
    return stated.size() == 1 && (stated[0] == -1 || stated[0] == size);
  };
  if (isSquare(rows) && isSquare(columns) && fill.size() == 1 && fill[0] == 0)
    importMatrixDiag(n);
  else
    importOtherDiagonals(n);
}

/// Keeps some diagonals below and above the main one; a negative number keeps all.
void importBandPart(NodeContext &n) {
  n.requireRank(0, 2, maxRank);
  Value input = n.input(0);
  int64_t lower = n.constantInt(1), upper = n.constantInt(2);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(input);
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  lower = lower < 0 ? rows : std::min(lower, rows);
  upper = upper < 0 ? columns : std::min(upper, columns);
  Value number = diagonalNumbers(n, rows, columns);
  Type index = n.builder().getI32Type();
  Value isInside = n.create<graph::AndOp>(
      n.compare(number, n.scalar(-static_cast<double>(lower), index), ComparePredicate::Ge),
      n.compare(number, n.scalar(static_cast<double>(upper), index), ComparePredicate::Le));
  n.setOutput(n.create<graph::WhereOp>(isInside, input, n.scalarLike(0, input)));
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// Imports ReverseSequence: reverses the first elements of every sequence of the batch.
void importReverseSequence(NodeContext &n) {
  Value input = n.input(0), lengths = n.input(1);
  int64_t along = n.requiredInt("seq_dim"), batchDim = n.intAttr("batch_dim", 0);
  if (n.failed())
    return;
  int64_t rank = n.rank(input);
  along = n.normalizeAxis(along, rank);
  batchDim = n.normalizeAxis(batchDim, rank);
  if (!n.failed() && along == batchDim)
    n.failNode("has the sequences along the batch");
  if (n.failed())
    return;
  SmallVector<int64_t> permutation{batchDim, along}, inverse(rank);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != along && axis != batchDim)
      permutation.push_back(axis);
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = static_cast<int64_t>(to);
  Value moved = n.transpose(input, permutation);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(moved));
  int64_t batch = shape[0], size = shape[1];
  if (n.shape(lengths) != ArrayRef<int64_t>{batch})
    return n.failInput(1, "has the shape " + printDims(n.shape(lengths)) + ", expected [" +
                              Twine(batch) + "]");
  Type index = n.builder().getI64Type();
  Value length = n.reshape(n.cast(lengths, index), {batch, 1});
  Value step = indicesAlong(n, 1, 2, size, index);
  Value mirrored = n.sub(n.sub(length, n.scalar(1, index)), step);
  Value from =
      n.create<graph::WhereOp>(n.compare(step, length, ComparePredicate::Lt), mirrored, step);
  Value first =
      n.mul(indicesAlong(n, 0, 2, batch, index), n.scalar(static_cast<double>(size), index));
  SmallVector<int64_t> rows(ArrayRef(shape).drop_front(2));
  rows.insert(rows.begin(), batch * size);
  Value result = n.create<graph::GatherOp>(n.reshape(moved, rows),
                                           n.reshape(n.add(from, first), {batch * size}), 0);
  n.setOutput(n.transpose(n.reshape(result, shape), inverse));
}

/// Where a known condition is true, as lists of indices.
void importWhere(NodeContext &n) {
  Value condition = n.input(0);
  SmallVector<int64_t> known = n.constantInts(0);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(condition);
  SmallVector<int64_t> found;
  int64_t count = 0;
  for (auto [position, value] : llvm::enumerate(known)) {
    if (value == 0)
      continue;
    ++count;
    int64_t rest = static_cast<int64_t>(position);
    SmallVector<int64_t> at(shape.size());
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
      at[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    llvm::append_range(found, at);
  }
  n.setOutput(n.reshape(n.intList(found), {count, static_cast<int64_t>(shape.size())}));
}

/// Imports ListDiff: the elements of x that are not in y, and their indices in x. Constants, as
/// lists of axes are, give constants.
void importListDiff(NodeContext &n) {
  Value values = n.input(0), others = n.input(1);
  DenseIntElementsAttr known;
  if (!n.failed() &&
      !(matchPattern(values, m_Constant(&known)) && matchPattern(others, m_Constant(&known))))
    return importDifference(n);
  SmallVector<int64_t> list = n.constantInts(0), without = n.constantInts(1), kept, positions;
  Type index = n.typeAttr("out_idx", pb::DT_INT32);
  if (n.failed())
    return;
  for (auto [position, value] : llvm::enumerate(list))
    if (!llvm::is_contained(without, value)) {
      kept.push_back(value);
      positions.push_back(static_cast<int64_t>(position));
    }
  n.setOutput(0, n.cast(n.intList(kept), n.elementType(values)));
  n.setOutput(1, n.intList(positions, index));
}

/// `num` values from start to stop, both included.
void importLinSpace(NodeContext &n) {
  Value start = n.input(0), stop = n.input(1);
  int64_t count = n.constantInt(2);
  n.requireRank(0, 0, 0);
  n.requireRank(1, 0, 0);
  if (n.failed())
    return;
  if (count < 1 || count > (1 << 20))
    return n.failInput(2, "asks for " + Twine(count) + " values");
  Value step = n.div(n.sub(stop, start),
                     n.scalarLike(static_cast<double>(std::max<int64_t>(count - 1, 1)), start));
  n.setOutput(n.add(start, n.mul(indicesAlong(n, 0, 1, count, n.elementType(start)), step)));
}

/// The shape that two known shapes broadcast to.
void importBroadcastArgs(NodeContext &n) {
  SmallVector<int64_t> lhs = n.constantInts(0), rhs = n.constantInts(1);
  if (n.failed())
    return;
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  for (size_t i = 1; i <= rhs.size(); ++i) {
    int64_t &dim = lhs[lhs.size() - i], other = rhs[rhs.size() - i];
    if (dim != other && dim != 1 && other != 1)
      return n.failNode("its shapes do not broadcast");
    dim = dim == 1 ? other : dim;
  }
  n.setOutput(n.intList(lhs, n.elementType(n.input(0))));
}

/// The product of vectors of 3 along the last axis.
void importCross(NodeContext &n) {
  n.requireRank(0, 1, maxRank);
  Value lhs = n.input(0), rhs = n.input(1);
  if (n.failed())
    return;
  int64_t axis = n.rank(lhs) - 1;
  if (n.shape(lhs) != n.shape(rhs) || n.shape(lhs)[axis] != 3)
    return n.failNode("needs two tensors of one shape that ends in 3");
  auto turned = [&](Value value, ArrayRef<int64_t> order) {
    return n.create<graph::GatherOp>(value, n.intList(order), axis);
  };
  n.setOutput(n.sub(n.mul(turned(lhs, {1, 2, 0}), turned(rhs, {2, 0, 1})),
                    n.mul(turned(lhs, {2, 0, 1}), turned(rhs, {1, 2, 0}))));
}

} // namespace

ArrayRef<OpRow> orderRows() {
  static const OpRow rows[] = {
      {"BroadcastArgs", importBroadcastArgs},
      {"Cross", importCross},
      {"Cumprod", importScan<graph::MulOp>},
      {"Cumsum", importScan<graph::AddOp>},
      {"Diag", importDiag},
      {"DiagPart", importDiagPart},
      {"LinSpace", importLinSpace},
      {"ListDiff", importListDiff},
      {"MatrixBandPart", importBandPart},
      {"MatrixDiag", importMatrixDiag},
      {"MatrixDiagPart", importMatrixDiagPart},
      {"MatrixDiagPartV2", importMain<importMatrixDiagPart, 1>},
      {"MatrixDiagPartV3", importMain<importMatrixDiagPart, 1>},
      {"MatrixDiagV2", importMatrixDiagV3},
      {"MatrixDiagV3", importMatrixDiagV3},
      {"MatrixSetDiag", importMatrixSetDiag},
      {"MatrixSetDiagV2", importMain<importMatrixSetDiag, 2>},
      {"MatrixSetDiagV3", importMain<importMatrixSetDiag, 2>},
      {"NthElement", importNthElement},
      {"ReverseSequence", importReverseSequence},
      {"TopK", importTopK},
      {"TopKV2", importTopK},
      {"Where", importWhere},
  };
  return rows;
}

} // namespace atc::tf_import
