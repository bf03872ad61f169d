//===-- DynamicSegments.cpp - segments, partitions and counts of any size -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

enum class Combine { Sum, Max, Min, Prod };

/// Returns what a segment without elements holds: the limits of the type, infinities excepted.
double identityOf(Type element, Combine kind) {
  if (kind == Combine::Sum || kind == Combine::Prod)
    return kind == Combine::Prod ? 1 : 0;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    const unsigned bits = std::min(integer.getWidth(), 64u);
    const bool isUnsigned = integer.isUnsigned();
    if (kind == Combine::Max)
      return isUnsigned ? 0 : -std::ldexp(1.0, bits - 1);
    return isUnsigned ? std::ldexp(1.0, bits) - 1 : std::ldexp(1.0, bits - 1) - 1;
  }
  auto largest = llvm::APFloat::getLargest(cast<FloatType>(element).getFloatSemantics(),
                                           /*Negative=*/kind == Combine::Max);
  bool loses = false;
  largest.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return largest.convertToDouble();
}

StringRef reductionOf(Combine kind) {
  switch (kind) {
  case Combine::Sum:
    return "add";
  case Combine::Max:
    return "max";
  case Combine::Min:
    return "min";
  case Combine::Prod:
    return "mul";
  }
  llvm_unreachable("all kinds are listed");
}

/// Combines rows [n, width] of the same id into [segments, width]. Rows with ids that are negative
/// count nowhere.
Value combine(TensorMath &m, Combine kind, Value rows, Value ids, Value segments, double identity) {
  NodeContext &n = m.n;
  // A row behind the last one takes what counts nowhere.
  Value target = m.select(m.less(ids, m.index(0)), segments, ids);
  Value shape = m.shapeOf({m.add(segments, m.index(1)), m.dim(rows, 1)});
  Value initial = n.callHost("Expand", {n.scalarLike(identity, rows), shape});
  Value combined = n.callHost("ScatterND", {initial, m.unsqueeze(target, {1}), rows},
                              {n.hostText("reduction", reductionOf(kind))});
  return m.firstOf(combined, segments);
}

} // namespace

Value sumOfRows(TensorMath &m, Value rows, Value ids, Value segments) {
  return combine(m, Combine::Sum, rows, ids, segments, 0);
}

namespace {

/// Fails the node where a rank is not known, or `ids` has more dims than `data`, whose first dims
/// it numbers.
bool checkRanks(NodeContext &n, Value data, Value ids) {
  if (!NodeContext::hasRank(data) || !NodeContext::hasRank(ids)) {
    n.failInput(NodeContext::hasRank(data) ? 1 : 0, "has no known rank");
    return false;
  }
  if (n.rank(ids) > n.rank(data)) {
    n.failInput(1, "has the rank " + Twine(n.rank(ids)) + ", beyond that of the data, " +
                       Twine(n.rank(data)));
    return false;
  }
  return true;
}

/// Input 1 has the shape of the first axes of input 0, which all count as one.
template <Combine kind> void importUnsorted(NodeContext &n) {
  Value data = n.input(0), ids = n.input(1), segments = n.input(2);
  if (n.failed())
    return;
  if (!checkRanks(n, data, ids))
    return;
  const int64_t rank = n.rank(data), outer = n.rank(ids);
  TensorMath m(n);
  Value inner = m.dims(data, outer, rank);
  Value width = m.shapeOf({m.product(inner)});
  Value flat = indexVector(n, ids), number = m.toIndex(segments);
  Value rows = m.reshape(data, m.concat({m.dims(flat, 0, 1), width}, 0));
  Value result = combine(m, kind, rows, flat, number, identityOf(n.elementType(data), kind));
  n.setOutput(m.reshape(result, m.concat({m.shapeOf({number}), inner}, 0)));
}

/// The number by which the sum of a segment is divided: none, the number of its rows, or the square
/// root of that.
enum class Divisor { None, Count, Root };

/// Combines rows of the same id, which are sorted. There are as many segments as the last id says,
/// or `segments`; those without elements hold 0, of products 1.
void combineSorted(NodeContext &n, Combine kind, Divisor divisor, Value data, Value ids,
                   Value segments = {}) {
  TensorMath m(n);
  const int64_t rank = n.rank(data);
  Value flat = indexVector(n, ids), one = m.index(1);
  if (!segments) {
    // No ids at all are no segment: the maximum is one of the ids and -1.
    Value all = m.concat({n.intList({-1}), flat}, 0);
    segments =
        m.add(n.callHost("ReduceMax", {all, n.intList({0})}, {n.hostInts("keepdims", {0})}), one);
  }
  Value inner = m.dims(data, 1, rank);
  Value width = m.shapeOf({m.product(inner)});
  Value rows = m.reshape(data, m.concat({m.dims(flat, 0, 1), width}, 0));
  Value result = combine(m, kind, rows, flat, segments, identityOf(n.elementType(data), kind));
  Value ones = n.callHost("Expand", {one, m.shapeOf({m.dim(flat, 0), one})});
  Value counts = combine(m, Combine::Sum, ones, flat, segments, 0);
  if (divisor != Divisor::None) {
    Value number = n.cast(m.max(counts, one), n.elementType(data));
    result = m.div(result, divisor == Divisor::Root ? n.create<graph::SqrtOp>(number) : number);
  } else if (kind == Combine::Max || kind == Combine::Min) {
    result = m.select(m.greater(counts, m.index(0)), result, n.scalarLike(0, data));
  }
  n.setOutput(m.reshape(result, m.concat({m.shapeOf({segments}), inner}, 0)));
}

/// Fails the node where the data is not known to have rows.
void requireRows(NodeContext &n, Value data) {
  if (!n.failed() && (!NodeContext::hasRank(data) || n.rank(data) < 1))
    n.failInput(0, "has no known rank of at least 1");
}

template <Combine kind, bool isMean> void importSorted(NodeContext &n) {
  Value data = n.input(0), ids = withRank(n, 1, 1);
  requireRows(n, data);
  if (!n.failed())
    combineSorted(n, kind, isMean ? Divisor::Count : Divisor::None, data, ids);
}

/// Output p holds the rows whose partition is p.
void importPartition(NodeContext &n) {
  Value data = n.input(0), partitions = n.input(1);
  const int64_t number = n.requiredInt("num_partitions");
  if (n.failed())
    return;
  if (number < 1 || number > (1 << 10))
    return n.failAttribute("num_partitions", "is " + Twine(number) + ", expected 1 to 1024");
  if (!checkRanks(n, data, partitions))
    return;
  const int64_t outer = n.rank(partitions), rank = n.rank(data);
  TensorMath m(n);
  Value owner = indexVector(n, partitions), rows = data;
  if (outer != 1)
    rows = m.reshape(data, m.concat({m.dims(owner, 0, 1), m.dims(data, outer, rank)}, 0));
  SmallVector<int64_t> shape(n.shape(data).drop_front(outer));
  shape.insert(shape.begin(), ShapedType::kDynamic);
  for (int64_t partition = 0; partition < number; ++partition) {
    Value chosen = n.callHost("Compress", {rows, m.equal(owner, m.index(partition))},
                              {n.hostInts("axis", {0})});
    if (chosen && chosen.getDefiningOp<graph::HostCallOp>() && !NodeContext::hasRank(chosen))
      chosen.setType(RankedTensorType::get(shape, n.elementType(data)));
    n.setOutput(partition, chosen);
  }
}

/// The opposite: row indices[i][j] of the result is row j of data i.
void importStitch(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  if (!n.failed() && (inputs.empty() || inputs.size() % 2 != 0))
    n.failNode("needs as many indices as data");
  if (n.failed())
    return;
  const size_t count = inputs.size() / 2;
  TensorMath m(n);
  SmallVector<Value> positions{n.intList({-1})}, rows;
  Value inner;
  for (size_t i = 0; i < count; ++i) {
    Value indices = inputs[i], data = inputs[count + i];
    if (!checkRanks(n, data, indices))
      return;
    positions.push_back(indexVector(n, indices));
    if (i == 0)
      inner = m.dims(data, n.rank(indices), n.rank(data));
    rows.push_back(m.reshape(data, m.concat({m.dims(positions.back(), 0, 1), inner}, 0)));
  }
  // Without any index the largest one is -1, and the result has no rows.
  Value largest = n.callHost("ReduceMax", {m.concat(positions, 0), n.intList({0})},
                             {n.hostInts("keepdims", {0})});
  Value all = m.unsqueeze(m.concat(ArrayRef(positions).drop_front(), 0), {1});
  Value shape = m.concat({m.shapeOf({m.add(largest, m.index(1))}), inner}, 0);
  Value zeros = n.callHost("Expand", {n.scalarLike(0, inputs[count]), shape});
  n.setOutput(n.callHost("ScatterND", {zeros, all, m.concat(rows, 0)}));
}

/// Counts values per bin of equal width; those outside count in the first and the last one.
void importHistogram(NodeContext &n) {
  Value values = n.input(0), range = withRank(n, 1, 1), bins = n.input(2);
  Type element = n.typeAttr("dtype", pb::DT_INT32);
  if (n.failed())
    return;
  TensorMath m(n);
  Type wide = n.builder().getF64Type();
  Value edges = n.cast(range, wide), low = m.element(edges, 0), number = m.toIndex(bins);
  Value width = m.div(m.sub(m.element(edges, 1), low), n.cast(number, wide));
  Value flat = m.reshape(n.cast(values, wide), ArrayRef<int64_t>{-1});
  Value position = m.toIndex(m.floor(m.div(m.sub(flat, low), width)));
  Value bin = m.clamp(position, m.index(0), m.sub(number, m.index(1)));
  Value ones = n.callHost("Expand", {m.index(1), m.shapeOf({m.dim(flat, 0), m.index(1)})});
  Value counts = combine(m, Combine::Sum, ones, bin, number, 0);
  n.setOutput(n.cast(m.squeeze(counts, {1}), element));
}

/// Adds the elements of a sparse tensor to a dense one.
void importDenseAdd(NodeContext &n) {
  Value positions = withRank(n, 0, 2), values = withRank(n, 1, 1), dense = n.input(3);
  if (n.failed())
    return;
  TensorMath m(n);
  Value sum = n.callHost("ScatterND", {dense, m.toIndex(positions), values},
                         {n.hostText("reduction", "add")});
  n.setOutput(NodeContext::hasRank(dense) ? withKnownDims(n, sum, n.shape(dense), 0) : sum);
}

} // namespace

void importPickedSegments(NodeContext &n) {
  Value data = n.input(0), picked = withRank(n, 1, 1), ids = withRank(n, 2, 1);
  requireRows(n, data);
  if (n.failed())
    return;
  const Divisor divisor = n.op().contains("Mean")    ? Divisor::Count
                          : n.op().contains("SqrtN") ? Divisor::Root
                                                     : Divisor::None;
  TensorMath m(n);
  SmallVector<int64_t> shape(n.shape(data));
  shape.front() = ShapedType::kDynamic;
  Value rows = withKnownDims(n, m.gather(data, picked, 0), shape, 0);
  Value segments;
  if (n.numInputs() > 3)
    segments = m.squeeze(indexVector(n, n.input(3)), {0});
  if (!n.failed())
    combineSorted(n, Combine::Sum, divisor, rows, ids, segments);
}

/// Counts numbers below `limit` in `rows` rows: element i of `flat` counts in the row that begins
/// at begins[i], in the only one where `begins` is null.
static Value countNumbers(NodeContext &n, Value flat, Value begins, Value rows, Value limit,
                          Value weights) {
  TensorMath m(n);
  const bool isBinary = n.boolAttr("binary_output", false);
  // Negative numbers and those beyond the size count nowhere.
  Value isCounted = m.both(m.less(flat, limit), m.less(m.index(-1), flat));
  Value position = m.select(isCounted, begins ? m.add(flat, begins) : flat, m.index(-1));
  Type element = n.elementType(weights);
  const bool isWeighted =
      !NodeContext::isStatic(weights) || ShapedType::getNumElements(n.shape(weights)) != 0;
  Value counted;
  if (isWeighted && !isBinary)
    counted = m.reshape(weights, ArrayRef<int64_t>{-1, 1});
  else
    counted = n.callHost("Expand", {n.scalar(1, element), m.shapeOf({m.dim(flat, 0), m.index(1)})});
  return combine(m, isBinary ? Combine::Max : Combine::Sum, counted, position, m.mul(rows, limit),
                 0);
}

void importBincountOfAnySize(NodeContext &n) {
  Value numbers = n.input(0), size = n.input(1), weights = n.input(2);
  if (n.failed())
    return;
  TensorMath m(n);
  Value limit = m.toIndex(size), flat = indexVector(n, numbers);
  if (n.rank(numbers) != 2) {
    Value counts = countNumbers(n, flat, {}, m.index(1), limit, weights);
    return n.setOutput(m.reshape(counts, m.shapeOf({limit})));
  }
  Value rows = m.dim(numbers, 0);
  Value begins = m.mul(m.unsqueeze(m.count(rows), {1}), limit);
  Value all = n.callHost("Expand", {begins, shapeVector(n, numbers)});
  Value counts = countNumbers(n, flat, indexVector(n, all), rows, limit, weights);
  n.setOutput(m.reshape(counts, m.shapeOf({rows, limit})));
}

void importRaggedBincount(NodeContext &n) {
  Value splits = withRank(n, 0, 1), numbers = withRank(n, 1, 1), size = n.input(2),
        weights = n.input(3);
  if (n.failed())
    return;
  TensorMath m(n);
  Value limit = m.squeeze(indexVector(n, size), {0}), all = m.toIndex(splits);
  Value rows = m.sub(m.dim(all, 0), m.index(1));
  Value begins = m.mul(rowsOfSplits(m, all), limit);
  Value counts = countNumbers(n, indexVector(n, numbers), begins, rows, limit, weights);
  n.setOutput(m.reshape(counts, m.shapeOf({rows, limit})));
}

ArrayRef<OpRow> dynamicSegmentRows() {
  static const OpRow rows[] = {
      {"DynamicPartition", importPartition},
      {"DynamicStitch", importStitch},
      {"HistogramFixedWidth", importHistogram},
      {"ParallelDynamicStitch", importStitch},
      {"SegmentMax", importSorted<Combine::Max, false>},
      {"SegmentMean", importSorted<Combine::Sum, true>},
      {"SegmentMin", importSorted<Combine::Min, false>},
      {"SegmentProd", importSorted<Combine::Prod, false>},
      {"SegmentSum", importSorted<Combine::Sum, false>},
      {"UnsortedSegmentMax", importUnsorted<Combine::Max>},
      {"UnsortedSegmentMin", importUnsorted<Combine::Min>},
      {"UnsortedSegmentProd", importUnsorted<Combine::Prod>},
      {"UnsortedSegmentSum", importUnsorted<Combine::Sum>},
      {"SparseTensorDenseAdd", importDenseAdd},
  };
  return rows;
}

} // namespace atc::tf_import
