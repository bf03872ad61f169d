//===-- SparseSets.cpp - sets and lists that are rows of tensors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All dims but the last one number the rows, each of which is a set or a list. Kernels take the
// elements with the numbers of their rows.

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/SparseParts.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Elements of a tensor with the number of the row of each, and the dims that number the rows, of
/// which there are `rank`. A sparse tensor has the indices of its elements.
struct RowElements {
  Value rows, values, dims, indices;
  int64_t rank = 0;
};

/// Returns the first dims of a shape: all but the last one.
Value allButLast(TensorMath &m, Value shape, int64_t rank) {
  return m.slice(shape, 0, rank - 1, 0);
}

/// Returns the row of each index when the rows of a shape of `rank` dims are counted.
Value rowsOf(TensorMath &m, Value indices, Value dims, int64_t rank) {
  if (rank == 0)
    return m.n.callHost("Expand", {m.index(0), m.shapeOf({m.dim(indices, 0)})});
  return numbersOf(m, m.slice(indices, 0, rank, 1), dims);
}

/// Reads a sparse tensor: indices, values and shape, from input `first` on.
RowElements readSparse(NodeContext &n, unsigned first) {
  Value indices = withRank(n, first, 2), values = withRank(n, first + 1, 1),
        shape = withRank(n, first + 2, 1);
  if (n.failed())
    return {};
  int64_t rank = n.shape(shape)[0];
  if (ShapedType::isDynamic(rank))
    rank = n.shape(indices)[1];
  if (ShapedType::isDynamic(rank) || rank < 1) {
    n.failInput(first + 2, "must be a vector of known length, at least 1");
    return {};
  }
  TensorMath m(n);
  RowElements all;
  all.rank = rank - 1;
  all.values = values;
  Value sizes = indexVector(n, shape), wide = m.toIndex(indices);
  all.indices = m.required(
      wide, m.both(n.compare(wide, m.index(0), graph::ComparePredicate::Ge), m.less(wide, sizes)),
      "an index of a sparse tensor is out of its shape");
  all.dims = allButLast(m, sizes, rank);
  all.rows = rowsOf(m, all.indices, all.dims, all.rank);
  return all;
}

/// Reads a dense tensor, whose last dim has the elements of a row.
RowElements readDense(NodeContext &n, unsigned index) {
  Value value = n.input(index);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(value) || n.rank(value) < 1) {
    n.failInput(index, "has no known rank of at least 1");
    return {};
  }
  TensorMath m(n);
  RowElements all;
  all.rank = n.rank(value) - 1;
  all.dims = m.dims(value, 0, all.rank);
  all.values = m.reshape(value, ArrayRef<int64_t>{-1});
  Value length = m.max(m.dim(value, all.rank), m.index(1));
  all.rows = m.div(m.count(m.dim(all.values, 0)), length);
  return all;
}

/// Brings the elements of both into the type that kernels take: strings or 64-bit integers.
void widen(NodeContext &n, RowElements &a, RowElements &b) {
  for (RowElements *each : {&a, &b}) {
    const Type type = NodeContext::elementType(each->values);
    if (!n.failed() && isa_and_nonnull<IntegerType>(type))
      each->values = n.cast(each->values, n.builder().getI64Type());
  }
}

/// How many elements each row has, of `total` rows.
Value countsOf(TensorMath &m, Value rows, Value total) {
  Value ones = m.n.callHost("Expand", {m.index(1), m.shapeOf({m.dim(rows, 0), m.index(1)})});
  return m.squeeze(sumOfRows(m, ones, rows, total), {1});
}

/// Returns rows and elements of the result of a set operation.
SmallVector<Value> combine(NodeContext &n, const RowElements &a, const RowElements &b,
                           StringRef operation) {
  if (n.failed())
    return {};
  SmallVector<Value> results = n.callHost(
      graph::HostCall{"SetOperation",
                      {a.rows, a.values, b.rows, b.values},
                      n.builder().getDictionaryAttr({n.hostText("operation", operation)}),
                      2});
  for (Value &result : results)
    result = withKnownDims(n, result, {ShapedType::kDynamic}, 0);
  return results;
}

/// Requires that the rows of both are numbered by the same dims.
void requireSameDims(NodeContext &n, RowElements &a, const RowElements &b) {
  ElementsAttr dimsA, dimsB;
  if (n.failed() || a.rank == 0)
    return;
  if (matchPattern(a.dims, m_Constant(&dimsA)) && matchPattern(b.dims, m_Constant(&dimsB))) {
    if (readInts(dimsA) != readInts(dimsB))
      n.failNode("has sets in tensors of shape " + printDims(readInts(dimsA)) + " and " +
                 printDims(readInts(dimsB)) +
                 " without the last dim, expected the same number of rows in each dim");
    return;
  }
  TensorMath m(n);
  a.rows = m.required(a.rows, m.equal(a.dims, b.dims),
                      "the tensors of sets have different dims in front of the last one");
}

/// Outputs: a sparse tensor whose rows are the sets, in rising order.
void setSets(NodeContext &n, RowElements a, RowElements b) {
  const std::string operation = StringRef(n.stringAttr("set_operation", "")).lower();
  const Type type = NodeContext::elementType(a.values);
  widen(n, a, b);
  if (n.failed())
    return;
  if (a.rank != b.rank)
    return n.failNode("has sets in tensors of rank " + Twine(a.rank + 1) + " and " +
                      Twine(b.rank + 1) + ", expected the same rank");
  if (!llvm::is_contained({"union", "intersection", "a-b", "b-a"}, operation))
    return n.failAttribute("set_operation",
                           "is '" + operation + "', expected union, intersection, a-b or b-a");
  requireSameDims(n, a, b);
  SmallVector<Value> found = combine(n, a, b, operation);
  if (found.empty())
    return;
  TensorMath m(n);
  Value rows = found[0], one = m.index(1), total = m.max(m.product(a.dims), one);
  Value counts = countsOf(m, rows, total);
  Value begins = n.callHost("CumSum", {counts, m.index(0)}, {n.hostInts("exclusive", {1})});
  Value along = m.unsqueeze(m.sub(m.count(m.dim(rows, 0)), m.gather(begins, rows, 0)), {1});
  if (a.rank > 0)
    along = m.concat({indicesOf(m, m.unsqueeze(rows, {1}), a.dims), along}, 1);
  setRanked(n, 0, along, 2);
  setRanked(n, 1, isa<IntegerType>(type) ? n.cast(found[1], type) : found[1], 1);
  n.setOutput(2, m.concat({a.dims, m.shapeOf({m.largestSize(counts)})}, 0));
}

void importDenseSets(NodeContext &n) {
  RowElements a = readDense(n, 0), b = readDense(n, 1);
  setSets(n, a, b);
}
void importDenseAndSparseSets(NodeContext &n) {
  RowElements a = readDense(n, 0), b = readSparse(n, 1);
  setSets(n, a, b);
}
void importSparseSets(NodeContext &n) {
  RowElements a = readSparse(n, 0), b = readSparse(n, 3);
  setSets(n, a, b);
}

/// How many different elements each row has.
void importSetSize(NodeContext &n) {
  RowElements all = readSparse(n, 0), same = all;
  widen(n, all, same);
  SmallVector<Value> found = combine(n, all, all, "union");
  if (found.empty())
    return;
  TensorMath m(n);
  Value counts = countsOf(m, found[0], m.product(all.dims));
  setRanked(n, 0, n.cast(m.reshape(counts, all.dims), n.builder().getI32Type()), all.rank);
}

/// The edit distance of lists; the rows are those of the larger one of both shapes.
void importEditDistance(NodeContext &n) {
  RowElements a = readSparse(n, 0), b = readSparse(n, 3);
  const bool isRelative = n.boolAttr("normalize", true);
  if (n.failed())
    return;
  if (isa<FloatType>(NodeContext::elementType(a.values)))
    return n.failInput(1, "holds floats; only integers and strings are supported");
  if (a.rank != b.rank)
    return n.failNode("has lists in tensors of rank " + Twine(a.rank + 1) + " and " +
                      Twine(b.rank + 1) + ", expected the same rank");
  widen(n, a, b);
  TensorMath m(n);
  Value dims = a.rank > 0 ? m.max(a.dims, b.dims) : a.dims;
  a.rows = rowsOf(m, a.indices, dims, a.rank);
  b.rows = rowsOf(m, b.indices, dims, a.rank);
  Value total = m.product(dims);
  Value distances = n.callHost("EditDistance", {a.rows, a.values, b.rows, b.values, total},
                               {n.hostInts("normalize", {isRelative})});
  setRanked(n, 0, m.reshape(withKnownDims(n, distances, {ShapedType::kDynamic}, 0), dims), a.rank);
}

} // namespace

ArrayRef<OpRow> setRows() {
  static const OpRow rows[] = {
      {"DenseToDenseSetOperation", importDenseSets, "tensors of a known rank"},
      {"DenseToSparseSetOperation", importDenseAndSparseSets, "tensors of a known rank"},
      {"EditDistance", importEditDistance, "integers and strings, of a known rank"},
      {"SetSize", importSetSize, "tensors of a known rank"},
      {"SparseToSparseSetOperation", importSparseSets, "tensors of a known rank"},
  };
  return rows;
}

} // namespace atc::tf_import
