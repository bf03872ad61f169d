//===-- RaggedTensors.cpp - ragged tensors --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ragged tensor is its values and, per level, where the rows begin (splits) or the row of each
// value.

#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {

/// States the rank of a list whose length is known only when the model runs.
static Value asVector(NodeContext &n, Value list) {
  return withKnownDims(n, list, {ShapedType::kDynamic}, 0);
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
  return asVector(n, m.firstOf(n.callHost("CumSum", {marks, m.index(0)}), total));
}

namespace {

/// Puts rows [n, ...] that belong to `ids` side by side: [height, width, ...].
Value besides(TensorMath &m, Value values, Value fallback, Value height, Value ids, int64_t width) {
  NodeContext &n = m.n;
  auto dim = [](int64_t size) { return size < 0 ? ShapedType::kDynamic : size; };
  const Type element = NodeContext::elementType(values);
  Value columns = n.intList({width});
  if (n.rank(values) == 1)
    return withKnownDims(n, n.callHost("RaggedToDense", {values, fallback, height, ids, columns}),
                         {ShapedType::kDynamic, dim(width)}, 0);
  // The positions of the rows are put side by side, with that of one more row that fills up.
  Value number = m.dim(values, 0);
  Value positions = n.callHost("RaggedToDense", {m.count(number), number, height, ids, columns});
  SmallVector<int64_t> inner(n.shape(values).drop_front());
  Value shape = m.concat({n.intList({1}), m.dims(values, 1, n.rank(values))}, 0);
  Value rows = m.concat({values, n.callHost("Expand", {fallback, shape})}, 0);
  SmallVector<int64_t> result = {ShapedType::kDynamic, dim(width)};
  result.append(inner);
  Value dense = m.gather(rows, positions, 0);
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
    values = m.firstOf(values, m.index(shape[0]));
  n.setOutput(values);
}

/// Returns where rows of the given lengths begin, and at last where the last one ends.
Value splitsOfLengths(TensorMath &m, Value lengths) {
  return asVector(m.n,
                  m.concat({m.n.intList({0}), m.n.callHost("CumSum", {lengths, m.index(0)})}, 0));
}

Value lengthsOfSplits(TensorMath &m, Value splits) {
  return m.sub(m.slice(splits, 1, std::numeric_limits<int32_t>::max(), 0),
               m.slice(splits, 0, -1, 0));
}

/// For rows that begin at `splits`: the position in all values of what stands behind `starts[row]`
/// by as much as a value stands behind the begin of its row.
Value placesInRows(TensorMath &m, Value splits, Value starts) {
  Value rows = rowsOfSplits(m, splits);
  Value offset = m.sub(m.count(m.dim(rows, 0)), m.gather(splits, rows, 0));
  return asVector(m.n, m.add(m.gather(starts, rows, 0), offset));
}

/// Inputs are where each row of numbers starts, its limit, and the step, each one for all or one
/// per row. Outputs: where rows begin, and the numbers.
void importRaggedRange(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  const Type splitType = n.typeAttr("Tsplits", pb::DT_INT64);
  if (n.failed() || inputs.size() != 3)
    return n.failNode("has " + Twine(inputs.size()) + " inputs, expected 3");
  TensorMath m(n);
  Value zeros = n.intList({0}, NodeContext::elementType(inputs[0]));
  for (Value &input : inputs)
    input = m.reshape(input, ArrayRef<int64_t>{-1});
  for (Value input : inputs)
    zeros = m.mul(m.add(zeros, input), n.scalarLike(0, input));
  for (Value &input : inputs)
    input = m.add(input, zeros);
  // As many as lie in front of the limit, the first one included.
  Value width = m.sub(inputs[1], inputs[0]), step = inputs[2], none = n.scalarLike(0, step);
  Value counts;
  if (NodeContext::isFloat(step)) {
    counts = m.toIndex(m.ceil(m.div(width, step)));
  } else {
    Value isUp = m.less(none, step), one = n.scalarLike(1, step);
    Value reach = m.select(isUp, m.sub(m.add(width, step), one), m.add(m.add(width, step), one));
    counts =
        m.toIndex(m.select(m.less(m.mul(width, m.select(isUp, one, n.scalarLike(-1, step))), one),
                           none, m.div(reach, step)));
  }
  Value splits = splitsOfLengths(m, m.max(counts, m.index(0)));
  Value rows = rowsOfSplits(m, splits);
  Value number = m.sub(m.count(m.dim(rows, 0)), m.gather(splits, rows, 0));
  n.setOutput(0, n.cast(splits, splitType));
  Value offsets = m.mul(n.cast(number, NodeContext::elementType(step)), m.gather(step, rows, 0));
  n.setOutput(1, asVector(n, m.add(m.gather(inputs[0], rows, 0), offsets)));
}

/// Inputs: where the rows of each level begin, the values, and a vector of the rows to take.
/// Outputs: the splits and the values of these.
void importRaggedGather(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  const int64_t levels = n.intAttr("PARAMS_RAGGED_RANK", static_cast<int64_t>(inputs.size()) - 2);
  if (n.failed())
    return;
  if (levels < 1 || static_cast<int64_t>(inputs.size()) != levels + 2)
    return n.failNode("has " + Twine(inputs.size()) + " inputs, expected those of " +
                      Twine(levels) + " levels, values and indices");
  Value rows = withRank(n, levels + 1, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  rows = m.toIndex(rows);
  for (int64_t level = 0; level < levels; ++level) {
    Value splits = m.toIndex(inputs[level]);
    Value taken = splitsOfLengths(m, m.gather(lengthsOfSplits(m, splits), rows, 0));
    n.setOutput(level, n.cast(taken, NodeContext::elementType(inputs[level])));
    rows = placesInRows(m, taken, m.gather(splits, rows, 0));
  }
  n.setOutput(levels, m.gather(inputs[levels], rows, 0));
}

/// Inputs: where the rows of each level begin, and the values, a vector. Outputs: a sparse tensor.
void importRaggedToSparse(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  const unsigned levels = inputs.empty() ? 0 : inputs.size() - 1;
  if (levels == 0)
    return n.failNode("has no rows");
  Value values = withRank(n, levels, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  SmallVector<Value> columns(levels + 1), sizes;
  Value rows; // of the values of the level below, as an element of the level above
  for (unsigned level = levels; level-- > 0;) {
    Value splits = m.toIndex(inputs[level]);
    Value owner = rowsOfSplits(m, splits);
    Value position = m.sub(m.count(m.dim(owner, 0)), m.gather(splits, owner, 0));
    // For each value: the index of the element of this level that it belongs to.
    columns[level + 1] = rows ? m.gather(position, rows, 0) : position;
    rows = rows ? m.gather(owner, rows, 0) : owner;
    sizes.insert(sizes.begin(), m.largestSize(lengthsOfSplits(m, splits)));
  }
  columns[0] = rows;
  sizes.insert(sizes.begin(), m.sub(m.dim(m.toIndex(inputs[0]), 0), m.index(1)));
  for (Value &column : columns)
    column = m.unsqueeze(column, {1});
  n.setOutput(0, withKnownDims(n, m.concat(columns, 1),
                               {ShapedType::kDynamic, static_cast<int64_t>(columns.size())}, 0));
  n.setOutput(1, values);
  n.setOutput(2, m.shapeOf(sizes));
}

} // namespace

ArrayRef<OpRow> raggedRows() {
  static const OpRow rows[] = {
      {"RaggedBincount", importRaggedBincount},
      {"RaggedGather", importRaggedGather, "a vector of rows"},
      {"RaggedRange", importRaggedRange},
      {"RaggedTensorToSparse", importRaggedToSparse, "rows of numbers or strings"},
      {"RaggedTensorToTensor", importRaggedToDense, "a shape known at compile time"},
  };
  return rows;
}

} // namespace atc::tf_import
