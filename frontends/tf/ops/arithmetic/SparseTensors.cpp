//===-- SparseTensors.cpp - sparse and ragged tensors ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sparse tensor is the places of its elements [n, rank], their values [n] and its shape [rank]. A
// ragged tensor is its values and, per level, where the rows begin (splits) or the row of each
// value.

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {

/// Returns elements [0, count) of axis 0.
static Value firstOf(TensorMath &m, Value value, Value count) {
  return m.n.callHost("Slice", {value, m.n.intList({0}), m.shapeOf({count}), m.n.intList({0})});
}

Value rowsOfSplits(TensorMath &m, Value splits) {
  NodeContext &n = m.n;
  Value total = m.squeeze(m.slice(splits, -1, std::numeric_limits<int32_t>::max(), 0), {0});
  // A mark where each row but the first one begins; their sum up to a value is its row.
  Value begins = m.slice(splits, 1, -1, 0);
  Value zeros = n.callHost("Expand", {m.index(0), m.shapeOf({m.add(total, m.index(1))})});
  Value ones = n.callHost("Expand", {m.index(1), shapeVector(n, begins)});
  Value marks = n.callHost("ScatterND", {zeros, m.unsqueeze(begins, {1}), ones},
                           {n.hostText("reduction", "add")});
  return firstOf(m, n.callHost("CumSum", {marks, m.index(0)}), total);
}

namespace {

/// States the rank of an output, which does not follow from shapes where the number of elements
/// depends on the data.
void setOutput(NodeContext &n, unsigned index, Value value, int64_t rank) {
  n.setOutput(index, withKnownDims(n, value, SmallVector<int64_t>(rank, ShapedType::kDynamic), 0));
}

/// Returns column `number` of the places of a sparse tensor.
Value column(TensorMath &m, Value places, int64_t number) {
  return m.squeeze(m.slice(places, number, number + 1, 1), {1});
}

/// For each dim of a shape the elements that a step along it passes over.
Value stepsOf(TensorMath &m, Value shape) {
  return m.n.callHost("CumProd", {shape, m.index(0)},
                      {m.n.hostInts("exclusive", {1}), m.n.hostInts("reverse", {1})});
}

Value product(TensorMath &m, Value vector) {
  return m.n.callHost("ReduceProd", {vector, m.n.intList({0})}, {m.n.hostInts("keepdims", {0})});
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

/// Inputs: places, values and shape of a sparse matrix, and a dense one that it is multiplied with.
void importProduct(NodeContext &n) {
  Value places = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = n.input(2),
        right = withRank(n, 3, 2);
  const bool turnsLeft = n.boolAttr("adjoint_a", false),
             turnsRight = n.boolAttr("adjoint_b", false);
  if (n.failed())
    return;
  TensorMath m(n);
  places = m.toIndex(places);
  if (turnsRight)
    right = n.callHost("Transpose", {right}, {n.hostInts("perm", {1, 0})});
  Value terms = m.mul(m.gather(right, column(m, places, !turnsLeft), 0), m.unsqueeze(values, {1}));
  n.setOutput(sumOfRows(m, terms, column(m, places, turnsLeft),
                        m.element(indexVector(n, shape), turnsLeft)));
}

/// Outputs: the places in the new shape, and that shape, in which one dim may be stated as -1.
void importReshape(NodeContext &n) {
  Value places = withRank(n, 0, 2), shape = withRank(n, 1, 1), stated = withRank(n, 2, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  Value old = indexVector(n, shape), wanted = indexVector(n, stated), one = m.index(1);
  Value isOpen = m.less(wanted, m.index(0));
  Value others = m.max(product(m, m.select(isOpen, one, wanted)), one);
  Value result = m.select(isOpen, m.div(product(m, old), others), wanted);
  Value flat = m.sum(m.mul(m.toIndex(places), stepsOf(m, old)), 1);
  // Without elements nothing is divided, so that any divisor but 0 does.
  Value along = m.div(flat, m.max(stepsOf(m, result), one));
  setOutput(n, 0, n.callHost("Mod", {along, m.max(result, one)}), 2);
  n.setOutput(1, result);
}

/// Gives each row without elements one at its first place. Outputs: places, values, which rows were
/// empty, and where each element is now.
void importFillRows(NodeContext &n) {
  Value places = withRank(n, 0, 2), values = withRank(n, 1, 1), shape = withRank(n, 2, 1),
        fallback = n.input(3);
  if (n.failed())
    return;
  TensorMath m(n);
  Value all = indexVector(n, shape), rowCount = m.element(all, 0), one = m.index(1);
  Value rows = column(m, m.toIndex(places), 0), number = m.dim(rows, 0);
  Value ones = n.callHost("Expand", {one, m.shapeOf({number, one})});
  Value isEmpty = m.squeeze(m.equal(sumOfRows(m, ones, rows, rowCount), m.index(0)), {1});
  Value added = m.reshape(n.callHost("NonZero", {isEmpty}), ArrayRef<int64_t>{-1});
  Value count = m.dim(added, 0);
  Value further =
      n.callHost("Expand", {m.index(0), m.shapeOf({count, m.sub(m.dim(places, 1), one)})});
  Value newPlaces =
      m.concat({m.toIndex(places), m.concat({m.unsqueeze(added, {1}), further}, 1)}, 0);
  Value newValues = m.concat(
      {values,
       n.callHost("Expand", {m.reshape(fallback, ArrayRef<int64_t>{1}), m.shapeOf({count})})},
      0);
  // Of equal rows the first one stays first.
  auto orderOf = [&](Value numbers) {
    graph::HostCall call{
        "TopK",
        {numbers, shapeVector(n, numbers)},
        n.builder().getDictionaryAttr({n.hostInts("axis", {0}), n.hostInts("largest", {0})}),
        2};
    SmallVector<Value> results = n.callHost(call);
    return results.empty() ? Value() : results[1];
  };
  Value order = orderOf(m.concat({rows, added}, 0));
  if (n.failed())
    return;
  setOutput(n, 0, m.gather(newPlaces, order, 0), 2);
  setOutput(n, 1, m.gather(newValues, order, 0), 1);
  setOutput(n, 2, isEmpty, 1);
  setOutput(n, 3, firstOf(m, orderOf(order), number), 1);
}

//===----------------------------------------------------------------------===//
// Ragged tensors
//===----------------------------------------------------------------------===//

/// Puts rows [n, ...] that belong to `ids` side by side: [height, width, ...].
Value besides(TensorMath &m, Value values, Value fallback, Value height, Value ids, int64_t width) {
  NodeContext &n = m.n;
  auto dim = [](int64_t size) { return size < 0 ? ShapedType::kDynamic : size; };
  const Type element = NodeContext::elementType(values);
  Value columns = n.intList({width});
  if (n.rank(values) == 1)
    return withKnownDims(n, n.callHost("RaggedToDense", {values, fallback, height, ids, columns}),
                         {ShapedType::kDynamic, dim(width)}, 0);
  // The places of the rows are put side by side, with that of one more row that fills up.
  Value number = m.dim(values, 0);
  Value places = n.callHost("RaggedToDense", {m.count(number), number, height, ids, columns});
  SmallVector<int64_t> inner(n.shape(values).drop_front());
  Value shape = m.concat({n.intList({1}), m.dims(values, 1, n.rank(values))}, 0);
  Value rows = m.concat({values, n.callHost("Expand", {fallback, shape})}, 0);
  SmallVector<int64_t> result = {ShapedType::kDynamic, dim(width)};
  result.append(inner);
  Value dense = m.gather(rows, places, 0);
  if (dense && dense.getDefiningOp<graph::HostCallOp>() && !NodeContext::hasRank(dense))
    dense.setType(RankedTensorType::get(result, element));
  return dense;
}

/// Makes a dense tensor of a ragged one: inputs are the shape, the values, what fills rows up, and
/// how the values are divided into rows, the outermost level first.
void importRaggedToDense(NodeContext &n) {
  SmallVector<std::string> types;
  if (auto found = n.proto().attr().find("row_partition_types"); found != n.proto().attr().end())
    types.append(found->second.list().s().begin(), found->second.list().s().end());
  if (n.numInputs() != 3 + types.size())
    return n.failNode("has " + Twine(n.numInputs()) + " inputs, expected " +
                      Twine(3 + types.size()));
  SmallVector<int64_t> shape = n.constantInts(0);
  Value values = n.input(1), fallback = n.input(2);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(values) || n.rank(values) < 1)
    return n.failInput(1, "has no known rank of at least 1");
  struct Level {
    Value height, ids;
  };
  SmallVector<Level> levels;
  TensorMath m(n);
  Value first;
  for (auto [index, type] : llvm::enumerate(types)) {
    Value partition = n.input(3 + index);
    if (n.failed())
      return;
    partition = indexVector(n, partition);
    if (type == "FIRST_DIM_SIZE" && index == 0)
      first = m.squeeze(partition, {0});
    else if (type == "VALUE_ROWIDS" && (first || !levels.empty()))
      levels.push_back({levels.empty() ? first : m.dim(levels.back().ids, 0), partition});
    else if (type == "ROW_SPLITS")
      levels.push_back({m.sub(m.dim(partition, 0), m.index(1)), rowsOfSplits(m, partition)});
    else
      return n.failAttribute("row_partition_types",
                             "has '" + type + "' at " + Twine(index) +
                                 ", expected ROW_SPLITS, or FIRST_DIM_SIZE and VALUE_ROWIDS");
  }
  if (levels.empty())
    return n.failAttribute("row_partition_types", "names no rows");
  // The shape of a tensor of which nothing is known is -1, of rank 0.
  if (shape.size() == 1 && shape[0] < 0)
    shape.assign(levels.size() + n.rank(values), -1);
  if (shape.size() != levels.size() + n.rank(values))
    return n.failInput(0, "has " + Twine(shape.size()) + " elements, expected " +
                              Twine(levels.size() + n.rank(values)));
  if (shape[0] >= 0)
    levels[0].height = m.max(levels[0].height, m.index(shape[0]));
  for (size_t level = levels.size(); level-- > 0 && !n.failed();)
    values = besides(m, values, fallback, m.shapeOf({levels[level].height}), levels[level].ids,
                     shape[level + 1]);
  // Rows beyond the stated number are dropped.
  if (shape[0] >= 0 && !n.failed())
    values = firstOf(m, values, m.index(shape[0]));
  n.setOutput(values);
}

//===----------------------------------------------------------------------===//
// Decoding of labels
//===----------------------------------------------------------------------===//

/// The best label of each step [steps, batch, labels], without repetitions and blanks. Outputs: a
/// sparse matrix of labels, and the negative sum of the scores.
void importGreedyDecoder(NodeContext &n) {
  Value scores = withRank(n, 0, 3), lengths = withRank(n, 1, 1);
  const int64_t blank = n.intAttr("blank_index", -1);
  const bool merges = n.boolAttr("merge_repeated", false);
  if (n.failed())
    return;
  TensorMath m(n);
  auto along = [&](StringRef kernel, Value value, int64_t axis) {
    return n.callHost(kernel, {value, n.intList({axis})}, {n.hostInts("keepdims", {0})});
  };
  auto turned = [&](Value value) {
    return n.callHost("Transpose", {value}, {n.hostInts("perm", {1, 0})});
  };
  Value best = turned(
      n.callHost("ArgMax", {scores}, {n.hostInts("axis", {2}), n.hostInts("keepdims", {0})}));
  Value none = blank < 0 ? m.add(m.dim(scores, 2), m.index(blank)) : m.index(blank);
  Value isUsed = m.less(m.count(m.dim(scores, 0)), m.unsqueeze(m.toIndex(lengths), {1}));
  Value isKept = m.both(isUsed, n.compare(best, none, graph::ComparePredicate::Ne));
  if (merges) {
    Value before = n.callHost("Expand", {m.index(-1), m.shapeOf({m.dim(best, 0), m.index(1)})});
    before = m.concat({before, m.slice(best, 0, -1, 1)}, 1);
    isKept = m.both(isKept, n.compare(best, before, graph::ComparePredicate::Ne));
  }
  Value counted = m.toIndex(isKept);
  Value places = m.sub(n.callHost("CumSum", {counted, m.index(1)}), m.index(1));
  Value at = turned(n.callHost("NonZero", {isKept}));
  Value positions = m.unsqueeze(n.callHost("GatherND", {places, at}), {1});
  setOutput(n, 0, m.concat({m.slice(at, 0, 1, 1), positions}, 1), 2);
  setOutput(n, 1, n.callHost("GatherND", {best, at}), 1);
  // Without a batch the longest row has no labels.
  Value longest =
      along("ReduceMax", m.concat({n.intList({0}), along("ReduceSum", counted, 1)}, 0), 0);
  n.setOutput(2, m.shapeOf({m.dim(best, 0), longest}));
  Value highest = along("ReduceMax", scores, 2);
  Value sum = along("ReduceSum", m.select(turned(isUsed), highest, n.scalarLike(0, scores)), 0);
  n.setOutput(3, m.unsqueeze(n.callHost("Neg", {sum}), {1}));
}

} // namespace

ArrayRef<OpRow> sparseRows() {
  static const OpRow rows[] = {
      {"CTCGreedyDecoder", importGreedyDecoder},
      {"RaggedBincount", importRaggedBincount},
      {"RaggedTensorToTensor", importRaggedToDense, "a shape known at compile time"},
      {"SparseFillEmptyRows", importFillRows},
      {"SparseReshape", importReshape},
      {"SparseSegmentMean", importPickedSegments},
      {"SparseSegmentMeanWithNumSegments", importPickedSegments},
      {"SparseSegmentSqrtN", importPickedSegments},
      {"SparseSegmentSqrtNWithNumSegments", importPickedSegments},
      {"SparseSegmentSum", importPickedSegments},
      {"SparseSegmentSumWithNumSegments", importPickedSegments},
      {"SparseTensorDenseMatMul", importProduct, "real matrices"},
  };
  return rows;
}

} // namespace atc::tf_import
