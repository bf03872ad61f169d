//===-- SparseTensors.cpp - sparse tensors --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sparse tensor is the positions of its elements [n, rank], their values [n] and its shape
// [rank].

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/SparseParts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace atc::tf_import {

void setRanked(NodeContext &n, unsigned index, Value value, int64_t rank) {
  n.setOutput(index, withKnownDims(n, value, SmallVector<int64_t>(rank, ShapedType::kDynamic), 0));
}

Value stepsOf(TensorMath &m, Value shape) {
  return m.n.callHost("CumProd", {shape, m.index(0)},
                      {m.n.hostInts("exclusive", {1}), m.n.hostInts("reverse", {1})});
}

Value numbersOf(TensorMath &m, Value positions, Value shape) {
  return m.squeeze(m.sum(m.mul(positions, stepsOf(m, shape)), 1), {1});
}

Value indicesOf(TensorMath &m, Value numbers, Value shape) {
  // Without elements nothing is divided, so that any divisor but 0 does.
  Value one = m.index(1), along = m.div(numbers, m.max(stepsOf(m, shape), one));
  return m.n.callHost("Mod", {along, m.max(shape, one)});
}

namespace {

/// Returns the order of numbers that rise; of equal ones the first one stays first.
Value risingOrder(TensorMath &m, Value numbers) {
  NodeContext &n = m.n;
  graph::HostCall call{
      "TopK",
      {numbers, shapeVector(n, numbers)},
      n.builder().getDictionaryAttr({n.hostInts("axis", {0}), n.hostInts("largest", {0})}),
      2};
  SmallVector<Value> results = n.callHost(call);
  return results.empty() ? Value() : results[1];
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

/// Inputs: positions, values and shape of a sparse matrix, and a dense one that it is multiplied
/// with.
void importProduct(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = n.input(2),
        right = withRank(n, 3, 2);
  const bool turnsLeft = n.boolAttr("adjoint_a", false),
             turnsRight = n.boolAttr("adjoint_b", false);
  if (n.failed())
    return;
  TensorMath m(n);
  positions = m.toIndex(positions);
  if (turnsRight)
    right = n.callHost("Transpose", {right}, {n.hostInts("perm", {1, 0})});
  Value terms =
      m.mul(m.gather(right, m.column(positions, !turnsLeft), 0), m.unsqueeze(values, {1}));
  n.setOutput(sumOfRows(m, terms, m.column(positions, turnsLeft),
                        m.element(indexVector(n, shape), turnsLeft)));
}

/// Outputs: the positions in the new shape, and that shape, in which one dim may be stated as -1.
void importSparseReshape(NodeContext &n) {
  Value positions = withRank(n, 0, 2), shape = withRank(n, 1, 1), stated = withRank(n, 2, 1);
  if (n.failed())
    return;
  if (ElementsAttr known; matchPattern(stated, m_Constant(&known)))
    if (const int64_t open = llvm::count_if(readInts(known), [](int64_t size) { return size < 0; });
        open > 1)
      return n.failInput(2, "leaves " + Twine(open) + " dims open, expected at most one");
  TensorMath m(n);
  Value old = indexVector(n, shape), wanted = indexVector(n, stated), one = m.index(1);
  Value isOpen = m.less(wanted, m.index(0));
  Value others = m.max(m.product(m.select(isOpen, one, wanted)), one);
  Value result = m.select(isOpen, m.div(m.product(old), others), wanted);
  Value flat = m.sum(m.mul(m.toIndex(positions), stepsOf(m, old)), 1);
  setRanked(n, 0, indicesOf(m, flat, result), 2);
  n.setOutput(1, result);
}

/// Inserts an element at the first position of each row without any. Outputs: positions, values,
/// which rows were empty, and where each element is now.
void importFillRows(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1),
        fallback = n.input(3);
  if (n.failed())
    return;
  TensorMath m(n);
  Value all = indexVector(n, shape), rowCount = m.element(all, 0), one = m.index(1);
  Value rows = m.column(m.toIndex(positions), 0), number = m.dim(rows, 0);
  Value ones = n.callHost("Expand", {one, m.shapeOf({number, one})});
  Value isEmpty = m.squeeze(m.equal(sumOfRows(m, ones, rows, rowCount), m.index(0)), {1});
  Value added = m.indicesWhere(isEmpty);
  Value count = m.dim(added, 0);
  Value further =
      n.callHost("Expand", {m.index(0), m.shapeOf({count, m.sub(m.dim(positions, 1), one)})});
  Value newIndices =
      m.concat({m.toIndex(positions), m.concat({m.unsqueeze(added, {1}), further}, 1)}, 0);
  Value newValues = m.concat(
      {values,
       n.callHost("Expand", {m.reshape(fallback, ArrayRef<int64_t>{1}), m.shapeOf({count})})},
      0);
  Value order = risingOrder(m, m.concat({rows, added}, 0));
  if (n.failed())
    return;
  setRanked(n, 0, m.gather(newIndices, order, 0), 2);
  setRanked(n, 1, m.gather(newValues, order, 0), 1);
  setRanked(n, 2, isEmpty, 1);
  setRanked(n, 3, m.firstOf(risingOrder(m, order), number), 1);
}

//===----------------------------------------------------------------------===//
// Order, parts and sums
//===----------------------------------------------------------------------===//

/// Sets the outputs of a sparse tensor whose elements are brought into the order of their
/// positions.
void setOrdered(TensorMath &m, Value positions, Value values, Value shape) {
  Value order = risingOrder(m, numbersOf(m, positions, shape));
  if (m.n.failed())
    return;
  setRanked(m.n, 0, m.gather(positions, order, 0), 2);
  setRanked(m.n, 1, m.gather(values, order, 0), 1);
}

void importSparseReorder(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1);
  TensorMath m(n);
  if (!n.failed())
    setOrdered(m, m.toIndex(positions), values, indexVector(n, shape));
}

/// Inputs: the axis is an attribute; the positions of all tensors, their values, and their shapes.
void importSparseConcat(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  const size_t count = inputs.size() / 3;
  if (!n.failed() && (count == 0 || inputs.size() != 3 * count))
    n.failNode("has " + Twine(inputs.size()) + " inputs, expected three per tensor");
  int64_t axis = n.intAttr("concat_dim", 0);
  if (n.failed())
    return;
  const unsigned firstShape = 2 * count;
  if (!NodeContext::isStatic(inputs[firstShape]) || n.rank(inputs[firstShape]) != 1)
    return n.failInput(firstShape, "must be a vector of known length");
  const int64_t rank = n.shape(inputs[firstShape])[0];
  axis = n.normalizeAxis(axis, rank);
  if (n.failed())
    return;
  SmallVector<int64_t> chosen(rank, 0);
  chosen[axis] = 1;
  TensorMath m(n);
  Value isAxis = n.intList(chosen), zero = m.index(0), before;
  SmallVector<Value> positions, values;
  for (size_t i = 0; i < count; ++i) {
    Value moved = m.toIndex(inputs[i]);
    Value size = m.mul(indexVector(n, inputs[firstShape + i]), isAxis);
    positions.push_back(before ? m.add(moved, before) : moved);
    values.push_back(inputs[count + i]);
    before = before ? m.add(before, size) : size;
  }
  Value first = indexVector(n, inputs[firstShape]);
  Value shape = m.add(m.select(m.equal(isAxis, zero), first, zero), before);
  setOrdered(m, m.concat(positions, 0), m.concat(values, 0), shape);
  n.setOutput(2, shape);
}

/// The positions and values of the elements of a box, whose first position becomes the origin.
std::pair<Value, Value> elementsOfBox(TensorMath &m, Value positions, Value values, Value from,
                                      Value size) {
  Value zero = m.index(0), moved = m.sub(positions, from);
  Value isOut = m.n.create<graph::OrOp>(m.less(moved, zero),
                                        m.n.compare(moved, size, graph::ComparePredicate::Ge));
  Value outside = m.sum(m.toIndex(isOut), 1);
  Value kept = m.indicesWhere(m.squeeze(m.equal(outside, zero), {1}));
  return {m.gather(moved, kept, 0), m.gather(values, kept, 0)};
}

/// Keeps the elements of a box, whose first position becomes the origin.
void importSparseSlice(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1),
        begin = withRank(n, 3, 1), size = withRank(n, 4, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  Value zero = m.index(0), all = indexVector(n, shape), from = indexVector(n, begin);
  Value wanted = m.max(m.min(indexVector(n, size), m.sub(all, from)), zero);
  const auto [newIndices, newValues] = elementsOfBox(m, m.toIndex(positions), values, from, wanted);
  setRanked(n, 0, newIndices, 2);
  setRanked(n, 1, newValues, 1);
  n.setOutput(2, wanted);
}

/// Divides a tensor along an axis; where parts cannot be equal, the first ones are larger by one.
/// Outputs: the positions of all parts, their values, and their shapes.
void importSparseSplit(NodeContext &n) {
  int64_t axis = n.constantInt(0);
  Value positions = withRank(n, 1, 2), values = withRank(n, 2, 1), shape = withRank(n, 3, 1);
  const int64_t parts = n.requiredInt("num_split");
  if (n.failed())
    return;
  constexpr int64_t maxParts = 1024;
  if (parts < 1 || parts > maxParts)
    return n.failAttribute("num_split", "is " + Twine(parts) + ", expected 1 to 1024");
  if (!NodeContext::isStatic(shape))
    return n.failInput(3, "must be a vector of known length");
  const int64_t rank = n.shape(shape)[0];
  axis = n.normalizeAxis(axis, rank);
  if (n.failed())
    return;
  TensorMath m(n);
  SmallVector<int64_t> along(rank, 0);
  along[axis] = 1;
  Value all = indexVector(n, shape), isAxis = n.intList(along), length = m.element(all, axis);
  positions = m.toIndex(positions);
  Value begin = m.index(0);
  for (int64_t part = 0; part < parts; ++part) {
    // What is left is divided among the parts that are left, rounded up.
    const int64_t left = parts - part;
    Value size = m.div(m.add(m.sub(length, begin), m.index(left - 1)), m.index(left));
    Value box = m.select(m.equal(isAxis, m.index(1)), size, all);
    const auto [newIndices, newValues] =
        elementsOfBox(m, positions, values, m.mul(isAxis, begin), box);
    setRanked(n, part, newIndices, 2);
    setRanked(n, parts + part, newValues, 1);
    n.setOutput(2 * parts + part, box);
    begin = m.add(begin, size);
  }
}

/// Returns which numbers below `total` are among `numbers`.
Value areAmong(TensorMath &m, Value numbers, Value total) {
  Value ones = m.expand(m.index(1), m.shapeOf({m.dim(numbers, 0)}));
  Value isSet = m.n.callHost(
      "ScatterND", {m.expand(m.index(0), m.shapeOf({total})), m.unsqueeze(numbers, {1}), ones},
      {m.n.hostText("reduction", "max")});
  return m.greater(isSet, m.index(0));
}

/// Returns the largest one of the values of each number; 0 where there are none.
Value largestOfRows(TensorMath &m, Value values, Value numbers, Value total) {
  NodeContext &n = m.n;
  Value column = m.unsqueeze(numbers, {1}), shape = m.shapeOf({total});
  // Only what has a value is read from this sum, so that any start below all values does.
  Value min =
      n.callHost("ReduceMin",
                 {m.concat({m.reshape(n.scalarLike(0, values), ArrayRef<int64_t>{1}), values}, 0),
                  n.intList({0})},
                 {n.hostInts("keepdims", {0})});
  Value max = n.callHost("ScatterND", {m.expand(min, shape), column, values},
                         {n.hostText("reduction", "max")});
  return m.select(areAmong(m, numbers, total), max, n.scalarLike(0, values));
}

/// Combines the elements along axes to a dense tensor, or to a sparse one of what has elements.
template <bool isMax, bool isSparse> void importSparseReduce(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1);
  SmallVector<int64_t> axes = n.constantInts(3);
  const bool keepsDims = n.boolAttr("keep_dims", false);
  if (n.failed())
    return;
  if (!NodeContext::isStatic(shape))
    return n.failInput(2, "must be a vector of known length");
  const int64_t rank = n.shape(shape)[0];
  axes = n.normalizeAxes(axes, rank);
  if (n.failed())
    return;
  // Without axes nothing is combined, other than the documentation of these operators says.
  SmallVector<int64_t> kept, isSummed(rank, 0);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (llvm::is_contained(axes, axis))
      isSummed[axis] = 1;
    else
      kept.push_back(axis);
  TensorMath m(n);
  Value all = indexVector(n, shape), zero = m.index(0), one = m.index(1);
  // As if the axes that are summed over had one element, at the position 0.
  Value dims = m.select(m.equal(n.intList(isSummed), zero), all, one);
  Value rest = m.select(m.equal(n.intList(isSummed), zero), m.toIndex(positions), zero);
  Value numbers = numbersOf(m, rest, dims), total = m.product(dims);
  Value sums = isMax ? largestOfRows(m, values, numbers, total)
                     : sumOfRows(m, m.unsqueeze(values, {1}), numbers, total);
  Value result = keepsDims ? dims : m.gather(dims, n.intList(kept), 0);
  if (isSparse) {
    Value found = m.indicesWhere(areAmong(m, numbers, total));
    setRanked(n, 0, indicesOf(m, m.unsqueeze(found, {1}), result), 2);
    setRanked(n, 1, m.gather(m.reshape(sums, ArrayRef<int64_t>{-1}), found, 0), 1);
    return n.setOutput(2, result);
  }
  n.setOutput(
      withKnownDims(n, m.reshape(sums, result),
                    SmallVector<int64_t>(keepsDims ? rank : kept.size(), ShapedType::kDynamic), 0));
}

/// Combines each element with the one at its position in a dense tensor.
template <typename OpTy> void importWithDense(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1),
        dense = n.input(3);
  if (n.failed())
    return;
  TensorMath m(n);
  Value whole = m.expand(dense, indexVector(n, shape));
  Value others = n.callHost("GatherND", {whole, m.toIndex(positions)});
  setRanked(n, 0, n.create<OpTy>(values, others), 1);
}

/// The softmax of the elements that have all positions but the last one in common.
void importSparseSoftmax(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  Value all = indexVector(n, shape);
  Value last = m.slice(all, -1, std::numeric_limits<int32_t>::max(), 0);
  Value rows = m.div(numbersOf(m, m.toIndex(positions), all), m.max(last, m.index(1)));
  // The largest element of all keeps the exponentials below 1; rows far below it would become 0,
  // so that each row has its own.
  Value lowest = n.callHost("Expand", {n.scalarLike(-std::numeric_limits<float>::max(), values),
                                       m.shapeOf({m.product(all)})});
  Value largest = n.callHost("ScatterElements", {lowest, rows, values},
                             {n.hostInts("axis", {0}), n.hostText("reduction", "max")});
  Value powers = n.create<graph::ExpOp>(m.sub(values, m.gather(largest, rows, 0)));
  Value sums = sumOfRows(m, m.unsqueeze(powers, {1}), rows, m.product(all));
  setRanked(n, 0, m.div(powers, m.squeeze(m.gather(sums, rows, 0), {1})), 1);
}

//===----------------------------------------------------------------------===//
// Crossed features
//===----------------------------------------------------------------------===//

/// Checks that the sparse and the dense matrices have the same number of rows, where it is known.
bool checkRows(NodeContext &n, ArrayRef<Value> inputs, unsigned sparse) {
  std::optional<int64_t> first;
  for (unsigned i = 2 * sparse; i < inputs.size(); ++i) {
    SmallVector<int64_t> dims;
    if (ElementsAttr known; i >= 3 * sparse)
      dims = llvm::to_vector(n.shape(inputs[i]));
    else if (matchPattern(inputs[i], m_Constant(&known)))
      dims = readInts(known);
    if (dims.empty() || ShapedType::isDynamic(dims[0]))
      continue;
    if (first && *first != dims[0]) {
      n.failInput(i, "has " + Twine(dims[0]) + " rows, expected " + Twine(*first) +
                         " as of the inputs before");
      return false;
    }
    first = dims[0];
  }
  return true;
}

/// Inputs: the positions, the values and the shapes of sparse matrices, then dense ones. Each row
/// gets the hashes of all combinations of a feature of each matrix. Outputs: a sparse matrix of
/// them.
void importSparseCross(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  const int64_t count = n.intAttr("N", 0), buckets = n.intAttr("num_buckets", 0),
                key = n.intAttr("hash_key", 0);
  const bool isHashed = n.boolAttr("hashed_output", false);
  if (n.failed())
    return;
  if (!isHashed)
    return n.failAttribute("hashed_output", "is not set: features are crossed by hashes only");
  if (count < 0 || count > int64_t(inputs.size() / 3) || inputs.empty())
    return n.failAttribute("N", "is " + Twine(count) + ", which the inputs do not fit");
  if (!checkRows(n, inputs, count))
    return;
  TensorMath m(n);
  Value one = m.index(1), zero = m.index(0);
  // Sparse matrices come first, so that the rows are those of the first one.
  Value rows = count ? m.element(indexVector(n, inputs[2 * count]), 0) : m.dim(inputs[0], 0);
  Value begins = m.count(m.add(rows, one));
  Value hashes =
      n.callHost("Expand", {n.constant(n.builder().getI64TensorAttr({key})), m.shapeOf({rows})});
  auto cross = [&](Value featureBegins, Value features, bool isLast) {
    const int64_t divisor = !isLast       ? 0
                            : buckets > 0 ? buckets
                                          : std::numeric_limits<int64_t>::max();
    graph::HostCall call{"CrossHash",
                         {begins, hashes, featureBegins, features},
                         n.builder().getDictionaryAttr({n.hostInts("buckets", {divisor})}),
                         2};
    SmallVector<Value> results = n.failed() ? SmallVector<Value>() : n.callHost(call);
    if (!results.empty())
      begins = results[0], hashes = results[1];
  };
  const size_t dense = inputs.size() - 3 * count;
  for (int64_t i = 0; i < count; ++i) {
    Value features = inputs[count + i], row = m.column(m.toIndex(inputs[i]), 0);
    Value ones = n.callHost("Expand", {one, m.shapeOf({m.dim(row, 0), one})});
    Value sizes = m.squeeze(sumOfRows(m, ones, row, rows), {1});
    Value ends = n.callHost("CumSum", {m.toIndex(sizes), zero});
    cross(m.concat({n.intList({0}), ends}, 0), features, dense == 0 && i + 1 == count);
  }
  for (size_t i = 0; i < dense; ++i) {
    Value matrix = inputs[3 * count + i];
    cross(m.mul(m.count(m.add(rows, one)), m.dim(matrix, 1)),
          m.reshape(matrix, ArrayRef<int64_t>{-1}), i + 1 == dense);
  }
  if (n.failed())
    return;
  Value row = rowsOfSplits(m, begins),
        position = m.sub(m.count(m.dim(row, 0)), m.gather(begins, row, 0));
  setRanked(n, 0, m.concat({m.unsqueeze(row, {1}), m.unsqueeze(position, {1})}, 1), 2);
  setRanked(n, 1, hashes, 1);
  Value sizes =
      m.sub(m.slice(begins, 1, std::numeric_limits<int32_t>::max(), 0), m.slice(begins, 0, -1, 0));
  // Without rows the longest one has no features.
  n.setOutput(2, m.shapeOf({rows, m.largestSize(sizes)}));
}

} // namespace

ArrayRef<OpRow> sparseRows() {
  static const OpRow rows[] = {
      {"SparseConcat", importSparseConcat},
      {"SparseCross", importSparseCross, "hashed_output"},
      {"SparseDenseCwiseAdd", importWithDense<graph::AddOp>},
      {"SparseDenseCwiseDiv", importWithDense<graph::DivOp>},
      {"SparseDenseCwiseMul", importWithDense<graph::MulOp>},
      {"SparseFillEmptyRows", importFillRows},
      {"SparseReduceMax", importSparseReduce<true, false>, "constant axes"},
      {"SparseReduceMaxSparse", importSparseReduce<true, true>, "constant axes"},
      {"SparseReduceSum", importSparseReduce<false, false>, "constant axes"},
      {"SparseReduceSumSparse", importSparseReduce<false, true>, "constant axes"},
      {"SparseReorder", importSparseReorder},
      {"SparseReshape", importSparseReshape},
      {"SparseSegmentMean", importPickedSegments},
      {"SparseSegmentMeanWithNumSegments", importPickedSegments},
      {"SparseSegmentSqrtN", importPickedSegments},
      {"SparseSegmentSqrtNWithNumSegments", importPickedSegments},
      {"SparseSegmentSum", importPickedSegments},
      {"SparseSegmentSumWithNumSegments", importPickedSegments},
      {"SparseSlice", importSparseSlice},
      {"SparseSplit", importSparseSplit, "a constant axis"},
      {"SparseSoftmax", importSparseSoftmax},
      {"SparseTensorDenseMatMul", importProduct, "real matrices"},
  };
  return rows;
}

} // namespace atc::tf_import
