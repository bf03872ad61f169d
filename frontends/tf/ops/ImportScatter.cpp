//===-- ImportScatter.cpp - scatter, segments, counting -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/DynamicForms.h"
#include "frontends/tf/ops/IndexMasks.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

using graph::ComparePredicate;
using graph::ReduceKind;

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// The rows of `data`, whose leading dims `ids` has, combined by number.
Value combineSegments(NodeContext &n, ReduceKind kind, Value data, Value ids, int64_t segments,
                      Value identity) {
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = n.shape(data), leading = n.shape(ids);
  if (leading.size() > shape.size() || leading != shape.take_front(leading.size())) {
    n.failInput(1, "has the shape " + printDims(leading) + ", which is not how the shape " +
                       printDims(shape) + " of the data begins");
    return {};
  }
  if (segments < 0 || segments > (1 << 20)) {
    n.failNode("has " + Twine(segments) + " segments, which is out of range");
    return {};
  }
  SmallVector<int64_t> result(shape.drop_front(leading.size()));
  int64_t rows = ShapedType::getNumElements(leading), inner = ShapedType::getNumElements(result);
  result.insert(result.begin(), segments);
  Value combined = combineRows(n, kind, n.reshape(ids, {rows}), n.reshape(data, {rows, inner}),
                               segments, identity);
  return n.reshape(combined, result);
}

/// Segments without elements hold the limits of the type, infinities excepted.
template <ReduceKind kind> void importUnsortedSegment(NodeContext &n) {
  Value data = n.input(0), ids = n.input(1);
  int64_t segments = n.constantInt(2);
  if (n.failed())
    return;
  Type element = n.elementType(data);
  Value identity = identityOf(n, kind, element);
  if (auto type = dyn_cast<FloatType>(element);
      type && (kind == ReduceKind::Max || kind == ReduceKind::Min))
    identity = n.constant(DenseElementsAttr::get(
        RankedTensorType::get({}, element),
        llvm::APFloat::getLargest(type.getFloatSemantics(), kind == ReduceKind::Max)));
  n.setOutput(combineSegments(n, kind, data, ids, segments, identity));
}

/// The last number is that of the last segment; the numbers between that are left out
/// have 0, of products 1.
template <ReduceKind kind> void importSegment(NodeContext &n) {
  Value data = n.input(0), ids = n.input(1);
  SmallVector<int64_t> known = n.constantInts(1);
  if (n.failed())
    return;
  if (!llvm::is_sorted(known) || (!known.empty() && known.front() < 0))
    return n.failInput(1, printDims(known) + " does not rise from 0 or more");
  int64_t segments = known.empty() ? 0 : known.back() + 1;
  Type element = n.elementType(data);
  constexpr bool isMean = kind == ReduceKind::Mean;
  constexpr ReduceKind by = isMean ? ReduceKind::Sum : kind;
  Value result = combineSegments(n, by, data, ids, segments, identityOf(n, by, element));
  if (n.failed() || segments == 0)
    return n.setOutput(result);
  SmallVector<int64_t> counts(segments, 0), shape(n.rank(result), 1);
  for (int64_t id : known)
    ++counts[id];
  shape[0] = segments;
  bool hasGaps = llvm::is_contained(counts, 0);
  if (isMean) {
    for (int64_t &count : counts)
      count = std::max<int64_t>(count, 1);
    result = n.div(result, n.reshape(n.cast(n.intList(counts), element), shape));
  } else if (hasGaps && kind != ReduceKind::Sum && kind != ReduceKind::Prod) {
    Value isGap = n.compare(n.reshape(n.intList(counts), shape),
                            n.scalar(0, n.builder().getI64Type()), ComparePredicate::Eq);
    result = n.create<graph::WhereOp>(isGap, n.scalar(0, element), result);
  }
  n.setOutput(result);
}

/// Counts, or sums of weights, of numbers below `size`.
void importBincount(NodeContext &n) {
  Value numbers = n.input(0), weights = n.input(2);
  int64_t size = n.constantInt(1);
  if (n.failed())
    return;
  if (n.shape(weights) == ArrayRef<int64_t>{0} || n.shape(weights) != n.shape(numbers))
    weights = n.fill(n.shape(numbers), n.scalar(1, n.elementType(weights)));
  n.setOutput(combineSegments(n, ReduceKind::Sum, weights, numbers, size,
                              n.scalar(0, n.elementType(weights))));
}

/// Counts the values that lie in each of the bins of one width; the outer bins take
/// what is outside.
void importHistogram(NodeContext &n) {
  Value values = n.input(0), range = n.input(1);
  int64_t bins = n.constantInt(2);
  Type element = n.typeAttr("dtype", pb::DT_INT32), wide = n.builder().getF64Type();
  if (n.failed())
    return;
  if (n.shape(range) != ArrayRef<int64_t>{2} || bins < 1 || bins > (1 << 20))
    return n.failNode("needs a range of 2 values and a positive number of bins");
  int64_t count = ShapedType::getNumElements(n.shape(values));
  auto edge = [&](int64_t at) {
    return n.cast(n.create<graph::SliceOp>(range, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1},
                                           ArrayRef<int64_t>{1}),
                  wide);
  };
  Value low = edge(0);
  Value step = n.div(n.sub(edge(1), low), n.scalar(static_cast<double>(bins), wide));
  Value bin = n.div(n.sub(n.cast(n.reshape(values, {count}), wide), low), step);
  bin = n.create<graph::ClipOp>(bin, llvm::APFloat(0.0),
                                llvm::APFloat(static_cast<double>(bins - 1)));
  Value ones = n.fill({count}, n.scalar(1, element));
  n.setOutput(combineSegments(n, ReduceKind::Sum, ones, n.cast(bin, n.builder().getI64Type()), bins,
                              n.scalar(0, element)));
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

enum class Update { Set, Add, Sub, Mul, Div, Min, Max };

/// `rows` [R, inner] changed at the rows `ids` [K] by `updates` [K, inner].
Value updateRows(NodeContext &n, Update update, Value rows, Value ids, Value updates) {
  if (n.failed() || n.shape(ids)[0] == 0 || n.shape(updates)[1] == 0)
    return rows;
  int64_t count = n.shape(rows)[0];
  Type element = n.elementType(rows), index = n.builder().getI64Type();
  auto combined = [&](ReduceKind kind) {
    return combineRows(n, kind, ids, updates, count, identityOf(n, kind, element));
  };
  switch (update) {
  case Update::Add:
    return n.add(rows, combined(ReduceKind::Sum));
  case Update::Sub:
    return n.sub(rows, combined(ReduceKind::Sum));
  case Update::Mul:
    return n.mul(rows, combined(ReduceKind::Prod));
  case Update::Div:
    return n.div(rows, combined(ReduceKind::Prod));
  case Update::Min:
    return n.create<graph::MinOp>(rows, combined(ReduceKind::Min));
  case Update::Max:
    return n.create<graph::MaxOp>(rows, combined(ReduceKind::Max));
  case Update::Set:
    break;
  }
  // Selects the last one of several updates of a row.
  Value numbers = indicesAlong(n, 0, 2, n.shape(ids)[0], index);
  Value last = combineRows(n, ReduceKind::Max, ids, numbers, count, n.scalar(-1, index));
  Value zero = n.scalar(0, index);
  Value from = n.reshape(n.create<graph::MaxOp>(last, zero), {count});
  return n.create<graph::WhereOp>(n.compare(last, zero, ComparePredicate::Ge),
                                  n.create<graph::GatherOp>(updates, from, 0), rows);
}

/// `updates` has the dims of the indices, but the last one, before the others of `base`.
void scatterNd(NodeContext &n, Update update, Value base, unsigned indices, Value updates) {
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(base));
  int64_t depth = 0;
  Value ids = flatIndices(n, indices, shape, depth);
  if (n.failed())
    return;
  int64_t rows = ShapedType::getNumElements(ArrayRef(shape).take_front(depth));
  int64_t inner = ShapedType::getNumElements(ArrayRef(shape).drop_front(depth)),
          count = n.shape(ids)[0];
  if (ShapedType::getNumElements(n.shape(updates)) != count * inner)
    return n.failNode("has updates of the shape " + printDims(n.shape(updates)) +
                      ", which does not fit its indices and the shape " + printDims(shape));
  n.setOutput(n.reshape(updateRows(n, update, n.reshape(base, {rows, inner}), ids,
                                   n.reshape(updates, {count, inner})),
                        shape));
}

template <Update update> void importScatterNdUpdate(NodeContext &n) {
  Value base = n.input(0), updates = n.input(2);
  scatterNd(n, update, base, 1, updates);
}

/// Into zeros of the shape that input 2 states.
void importScatterNd(NodeContext &n) {
  Value updates = n.input(1);
  SmallVector<int64_t> shape = n.constantInts(2);
  if (n.failed())
    return;
  for (int64_t dim : shape)
    if (dim < 0 || dim > maxDim)
      return n.failInput(2, "has the dim " + Twine(dim) + ", which is out of range");
  scatterNd(n, Update::Add, n.fill(shape, n.scalarLike(0, updates)), 0, updates);
}

/// A sparse tensor (indices, values, shape) added to a dense one.
void importSparseDenseAdd(NodeContext &n) {
  Value base = n.input(3), values = n.input(1);
  scatterNd(n, Update::Add, base, 0, values);
}

/// The indices choose rows; one update of rank 0 is for all of them.
template <Update update> void importScatter(NodeContext &n) {
  n.requireRank(0, 1, maxRank);
  Value base = n.input(0), indices = n.input(1), updates = n.input(2);
  if (n.failed())
    return;
  SmallVector<int64_t> shape(n.shape(base)), expected(n.shape(indices));
  expected.append(shape.begin() + 1, shape.end());
  n.requireIndices(1, /*wraps=*/false, shape[0], 0);
  if (n.rank(updates) == 0)
    updates = n.fill(expected, updates);
  int64_t count = ShapedType::getNumElements(n.shape(indices)),
          inner = ShapedType::getNumElements(ArrayRef(shape).drop_front());
  if (!n.failed() && ShapedType::getNumElements(n.shape(updates)) != count * inner)
    return n.failInput(2, "has the shape " + printDims(n.shape(updates)) + ", expected " +
                              printDims(expected));
  n.setOutput(n.reshape(updateRows(n, update, n.reshape(base, {shape[0], inner}),
                                   n.reshape(indices, {count}), n.reshape(updates, {count, inner})),
                        shape));
}

/// In a frozen graph a variable is a constant; checkSupported saw that nothing else
/// reads it.
void importAssign(NodeContext &n) {
  Value variable = n.input(0), value = n.input(1);
  if (!n.failed() && n.boolAttr("validate_shape", true) && n.shape(variable) != n.shape(value))
    n.failInput(1, "has the shape " + printDims(n.shape(value)) + ", the variable " +
                       printDims(n.shape(variable)));
  n.setOutput(value);
}

//===----------------------------------------------------------------------===//
// Gathers by several indices
//===----------------------------------------------------------------------===//

void importGatherNd(NodeContext &n) {
  Value input = n.input(0), indices = n.input(1);
  int64_t depth = 0;
  if (n.failed())
    return;
  if (n.shape(indices).empty() || n.shape(indices).back() == 0)
    return n.failInput(1, "names no axes, which is not supported");
  Value ids = flatIndices(n, 1, n.shape(input), depth);
  if (n.failed())
    return;
  n.requireGathered(1, /*wraps=*/false, n.shape(input).take_front(depth), 0);
  ArrayRef<int64_t> inner = n.shape(input).drop_front(depth);
  SmallVector<int64_t> shape(n.shape(indices).drop_back());
  llvm::append_range(shape, inner);
  Value rows = n.reshape(input, {ShapedType::getNumElements(n.shape(input).take_front(depth)),
                                 ShapedType::getNumElements(inner)});
  n.setOutput(n.reshape(n.create<graph::GatherOp>(rows, ids, 0), shape));
}

/// Rows by the number of their partition, which must be known.
void importDynamicPartition(NodeContext &n) {
  Value data = n.input(0), numbers = n.input(1);
  SmallVector<int64_t> known = n.constantInts(1);
  int64_t parts = n.requiredInt("num_partitions");
  if (n.failed())
    return;
  ArrayRef<int64_t> leading = n.shape(numbers), shape = n.shape(data);
  if (parts < 1 || parts > (1 << 16) || leading.size() > shape.size() ||
      leading != shape.take_front(leading.size()))
    return n.failNode("its partitions do not fit its data");
  SmallVector<int64_t> rows(shape.drop_front(leading.size()));
  rows.insert(rows.begin(), ShapedType::getNumElements(leading));
  Value table = n.reshape(data, rows);
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<int64_t> chosen;
    for (auto [row, number] : llvm::enumerate(known))
      if (number == part)
        chosen.push_back(static_cast<int64_t>(row));
    n.setOutput(part, n.create<graph::GatherOp>(table, n.intList(chosen), 0));
  }
}

/// The opposite: row indices[i][j] of the result is row j of data i.
void importDynamicStitch(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  if (!n.failed() && inputs.size() % 2 != 0)
    n.failNode("needs as many indices as data");
  if (n.failed())
    return;
  size_t count = inputs.size() / 2;
  SmallVector<Value> tables;
  SmallVector<int64_t> from,
      inner(n.shape(inputs[count]).drop_front(std::min(n.rank(inputs[0]), n.rank(inputs[count]))));
  int64_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<int64_t> to = n.constantInts(i);
    if (n.failed())
      return;
    for (int64_t at : to) {
      if (at < 0 || at > (1 << 20))
        return n.failInput(i, "has the index " + Twine(at) + ", which is out of range");
      if (at >= static_cast<int64_t>(from.size()))
        from.resize(at + 1, 0);
      from[at] = next++;
    }
    SmallVector<int64_t> shape(inner);
    shape.insert(shape.begin(), static_cast<int64_t>(to.size()));
    if (ShapedType::getNumElements(n.shape(inputs[count + i])) != ShapedType::getNumElements(shape))
      return n.failInput(count + i, "does not fit its indices");
    if (!to.empty())
      tables.push_back(n.reshape(inputs[count + i], shape));
  }
  if (tables.empty())
    return n.failNode("has no rows");
  Value rows = tables.size() == 1 ? tables[0] : n.create<graph::ConcatOp>(ValueRange(tables), 0);
  n.setOutput(n.create<graph::GatherOp>(rows, n.intList(from), 0));
}

} // namespace

ArrayRef<OpRow> scatterRows() {
  static const OpRow rows[] = {
      {"Assign", importAssign, "of a variable that nothing else reads"},
      {"Bincount", importBincount},
      {"DenseBincount", importDenseBincount, "size known at compile time"},
      {"DynamicPartition", importDynamicPartition, "the partitions must be known"},
      {"DynamicStitch", importDynamicStitch, "the indices must be known"},
      {"GatherNd", importGatherNd},
      {"HistogramFixedWidth", importHistogram},
      {"ParallelDynamicStitch", importDynamicStitch, "the indices must be known"},
      {"ScatterAdd", importScatter<Update::Add>, "as Assign"},
      {"ScatterDiv", importScatter<Update::Div>, "as Assign"},
      {"ScatterMax", importScatter<Update::Max>, "as Assign"},
      {"ScatterMin", importScatter<Update::Min>, "as Assign"},
      {"ScatterMul", importScatter<Update::Mul>, "as Assign"},
      {"ScatterNd", importScatterNd},
      {"ScatterNdAdd", importScatterNdUpdate<Update::Add>, "as Assign"},
      {"ScatterNdSub", importScatterNdUpdate<Update::Sub>, "as Assign"},
      {"ScatterNdUpdate", importScatterNdUpdate<Update::Set>, "as Assign"},
      {"ScatterSub", importScatter<Update::Sub>, "as Assign"},
      {"ScatterUpdate", importScatter<Update::Set>, "as Assign"},
      {"SegmentMax", importSegment<ReduceKind::Max>, "the segments must be known"},
      {"SegmentMean", importSegment<ReduceKind::Mean>, "the segments must be known"},
      {"SegmentMin", importSegment<ReduceKind::Min>, "the segments must be known"},
      {"SegmentProd", importSegment<ReduceKind::Prod>, "the segments must be known"},
      {"SegmentSum", importSegment<ReduceKind::Sum>, "the segments must be known"},
      {"SparseTensorDenseAdd", importSparseDenseAdd},
      {"TensorScatterAdd", importScatterNdUpdate<Update::Add>},
      {"TensorScatterSub", importScatterNdUpdate<Update::Sub>},
      {"TensorScatterUpdate", importScatterNdUpdate<Update::Set>},
      {"UnsortedSegmentMax", importUnsortedSegment<ReduceKind::Max>},
      {"UnsortedSegmentMin", importUnsortedSegment<ReduceKind::Min>},
      {"UnsortedSegmentProd", importUnsortedSegment<ReduceKind::Prod>},
      {"UnsortedSegmentSum", importUnsortedSegment<ReduceKind::Sum>},
  };
  return rows;
}

} // namespace atc::tf_import
