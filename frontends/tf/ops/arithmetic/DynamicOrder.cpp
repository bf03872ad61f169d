//===-- DynamicOrder.cpp - order and positions in tensors of any size --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Elements that leave an axis at its end come in at its begin; one shift per axis, which may be
/// named several times.
void importRoll(NodeContext &n) {
  Value value = n.input(0), shifts = n.input(1);
  SmallVector<int64_t> axes = n.constantInts(2);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(value))
    return n.failInput(0, "has no known rank");
  const int64_t rank = n.rank(value);
  for (int64_t &axis : axes)
    axis = n.normalizeAxis(axis, rank);
  if (n.failed())
    return;
  TensorMath m(n);
  shifts = indexVector(n, shifts);
  const SmallVector<int64_t> open(rank, ShapedType::kDynamic);
  for (auto [number, axis] : llvm::enumerate(axes)) {
    Value size = m.dim(value, axis);
    Value from = m.sub(m.count(size), m.element(shifts, static_cast<int64_t>(number)));
    Value position = n.callHost("Mod", {from, size}, {n.hostInts("fmod", {0})});
    value = withKnownDims(n, m.gather(value, position, axis), open, 0);
  }
  n.setOutput(value);
}

/// Returns how many elements of a sorted row stand in front of each value.
template <graph::ComparePredicate predicate> void importBound(NodeContext &n) {
  Value sorted = withRank(n, 0, 2), values = withRank(n, 1, 2);
  Type index = n.typeAttr("out_type", pb::DT_INT32);
  if (n.failed())
    return;
  TensorMath m(n);
  Value isInFront = n.compare(m.unsqueeze(sorted, {1}), m.unsqueeze(values, {2}), predicate);
  n.setOutput(n.cast(m.squeeze(m.sum(m.toIndex(isInFront), 2), {2}), index));
}

/// Whether fewer than k predictions of a row are larger than the one of the target.
void importInTopK(NodeContext &n) {
  Value scores = withRank(n, 0, 2), targets = withRank(n, 1, 1);
  Value k = n.op() == "InTopK" ? n.scalar(double(n.requiredInt("k")), n.builder().getI64Type())
                               : n.input(2);
  if (n.failed())
    return;
  TensorMath m(n);
  Value positions = m.unsqueeze(m.toIndex(targets), {1});
  // A target that is no class, such as the -1 of a padded row, is among none.
  Value nearest = m.clamp(positions, m.index(0), m.sub(m.dim(scores, 1), m.index(1)));
  Value target = n.callHost("GatherElements", {scores, nearest}, {n.hostInts("axis", {1})});
  Value larger = m.sum(m.toIndex(m.greater(scores, target)), 1);
  // In a row with a value that is not finite, no target is among the best.
  Value finite = m.equal(m.sub(scores, scores), n.scalarLike(0, scores));
  Value isFinite = m.equal(m.sum(m.toIndex(finite), 1), m.dim(scores, 1));
  Value isAmong =
      m.both(m.less(larger, m.toIndex(k)), m.both(isFinite, m.equal(nearest, positions)));
  n.setOutput(m.squeeze(isAmong, {1}));
}

/// The best elements along an axis; here they are exact.
void importApproxTopK(NodeContext &n) {
  Value input = n.input(0);
  const int64_t k = n.requiredInt("k"), axis = n.intAttr("reduction_dimension", -1);
  const bool isMax = n.boolAttr("is_max_k", true);
  if (n.failed())
    return;
  graph::HostCall call{
      "TopK",
      {input, n.intList({k})},
      n.builder().getDictionaryAttr({n.hostInts("axis", {axis}), n.hostInts("largest", {isMax})}),
      2};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  n.setOutput(0, results[0]);
  n.setOutput(1, n.cast(results[1], n.builder().getI32Type()));
}

/// Turns the first elements of an axis round, as many as the lengths say per element of the batch
/// axis.
void importReverseSequence(NodeContext &n) {
  Value value = n.input(0), lengths = n.input(1);
  int64_t time = n.requiredInt("seq_dim"), batch = n.intAttr("batch_dim", 0);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(value))
    return n.failInput(0, "has no known rank");
  const int64_t rank = n.rank(value);
  time = n.normalizeAxis(time, rank);
  batch = n.normalizeAxis(batch, rank);
  if (n.failed())
    return;
  if (time == batch)
    return n.failAttribute("seq_dim", "is the batch axis " + Twine(batch));
  // The kernel has both axes in front.
  SmallVector<int64_t> order{batch, time}, back(rank);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != batch && axis != time)
      order.push_back(axis);
  for (int64_t axis = 0; axis < rank; ++axis)
    back[order[axis]] = axis;
  Value turned = n.callHost("ReverseSequence", {n.transpose(value, order), indexVector(n, lengths)},
                            {n.hostInts("batch_axis", {0}), n.hostInts("time_axis", {1})});
  if (!n.failed())
    n.setOutput(n.transpose(turned, back));
}

/// The product of vectors of three elements along the last axis.
void importCross(NodeContext &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(a) || n.rank(a) < 1)
    return n.failInput(0, "has no known rank of at least 1");
  TensorMath m(n);
  const int64_t last = n.rank(a) - 1;
  SmallVector<Value> parts;
  for (int64_t part : {0, 1, 2}) {
    const int64_t next = (part + 1) % 3, other = (part + 2) % 3;
    auto at = [&](Value value, int64_t index) { return m.slice(value, index, index + 1, last); };
    parts.push_back(m.sub(m.mul(at(a, next), at(b, other)), m.mul(at(a, other), at(b, next))));
  }
  n.setOutput(m.concat(parts, last));
}

void importL2Loss(NodeContext &n) {
  Value value = n.input(0);
  if (n.failed())
    return;
  TensorMath m(n);
  Value squares = m.reshape(n.mul(value, value), ArrayRef<int64_t>{-1});
  n.setOutput(m.mul(m.squeeze(m.sum(squares, 0), {0}), n.scalarLike(0.5, value)));
}

//===----------------------------------------------------------------------===//
// Losses of classes
//===----------------------------------------------------------------------===//

Value logSoftmax(NodeContext &n, Value scores) {
  return n.callHost("LogSoftmax", {scores}, {n.hostInts("axis", {-1})});
}

/// Outputs are the loss of each row, and its gradient with respect to the scores.
void importCrossEntropy(NodeContext &n) {
  Value scores = withRank(n, 0, 2), labels = withRank(n, 1, 2);
  if (n.failed())
    return;
  TensorMath m(n);
  Value logs = logSoftmax(n, scores);
  n.setOutput(0, n.create<graph::NegOp>(m.squeeze(m.sum(m.mul(labels, logs), 1), {1})));
  n.setOutput(1, m.sub(n.create<graph::ExpOp>(logs), labels));
}

void importSparseCrossEntropy(NodeContext &n) {
  Value scores = withRank(n, 0, 2), labels = withRank(n, 1, 1);
  if (n.failed())
    return;
  TensorMath m(n);
  Value logs = logSoftmax(n, scores), positions = m.unsqueeze(m.toIndex(labels), {1});
  Value taken = n.callHost("GatherElements", {logs, positions}, {n.hostInts("axis", {1})});
  n.setOutput(0, n.create<graph::NegOp>(m.squeeze(taken, {1})));
  Value isLabel = m.equal(m.unsqueeze(m.count(m.dim(scores, 1)), {0}), positions);
  n.setOutput(1, m.sub(n.create<graph::ExpOp>(logs), n.cast(isLabel, n.elementType(scores))));
}

//===----------------------------------------------------------------------===//
// Pools with positions
//===----------------------------------------------------------------------===//

/// Outputs are the maxima and where they stand: (row * width + column) * channels + channel, and
/// with include_batch_in_index behind the elements of the images before.
void importMaxPoolWithArgmax(NodeContext &n) {
  Value image = withRank(n, 0, 4);
  ImageLayout layout(n, 4, "NHWC");
  SmallVector<int64_t> kernel = layout.spatial(n, "ksize"), strides = layout.spatial(n, "strides");
  std::string padding = n.stringAttr("padding", "VALID");
  const bool withBatch = n.boolAttr("include_batch_in_index", false);
  Type index = n.typeAttr("Targmax", pb::DT_INT64);
  if (!n.failed() && padding != "SAME" && padding != "VALID")
    n.failAttribute("padding", "is '" + padding + "', expected SAME or VALID");
  if (n.failed())
    return;
  TensorMath m(n);
  graph::HostCall call{"MaxPool",
                       {n.transpose(image, {0, 3, 1, 2})},
                       n.builder().getDictionaryAttr(
                           {n.hostText("auto_pad", padding == "SAME" ? "SAME_UPPER" : "VALID"),
                            n.hostInts("kernel_shape", kernel), n.hostInts("strides", strides)}),
                       2};
  SmallVector<Value> results = n.callHost(call);
  if (results.empty())
    return;
  n.setOutput(0, n.transpose(results[0], {0, 2, 3, 1}));
  // The kernel counts as [N, C, H, W] lies.
  Value channels = m.dim(image, 3), plane = m.mul(m.dim(image, 1), m.dim(image, 2));
  Value flat = results[1], before = m.div(flat, plane);
  Value pixel = m.sub(flat, m.mul(before, plane)), batch = m.div(before, channels);
  Value position = m.add(m.mul(pixel, channels), m.sub(before, m.mul(batch, channels)));
  if (withBatch)
    position = m.add(position, m.mul(batch, m.mul(plane, channels)));
  n.setOutput(1, n.cast(n.transpose(position, {0, 2, 3, 1}), index));
}

/// The position along each axis of elements that are counted through a tensor of the given dims.
void importUnravel(NodeContext &n) {
  Value numbers = n.input(0), dims = withRank(n, 1, 1);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(numbers))
    return n.failInput(0, "has no known rank");
  n.requireRank(0, 0, 1);
  TensorMath m(n);
  Value all = indexVector(n, dims);
  Value steps = n.callHost("CumProd", {all, m.index(0)},
                           {n.hostInts("exclusive", {1}), n.hostInts("reverse", {1})});
  const bool isVector = n.rank(numbers) == 1;
  auto along = [&](Value vector) { return isVector ? m.unsqueeze(vector, {1}) : vector; };
  Value position = n.callHost("Mod", {m.div(m.toIndex(numbers), along(steps)), along(all)});
  n.setOutput(n.cast(position, NodeContext::elementType(numbers)));
}

/// Where each dim of one layout stands in another one.
void importDimMap(NodeContext &n) {
  Value dims = n.input(0);
  const std::string from = n.stringAttr("src_format", "NHWC"),
                    to = n.stringAttr("dst_format", "NCHW");
  SmallVector<int64_t> positions;
  for (char dim : from)
    positions.push_back(static_cast<int64_t>(to.find(dim)));
  if (!n.failed() && (from.size() != to.size() ||
                      llvm::is_contained(positions, static_cast<int64_t>(std::string::npos))))
    n.failAttribute("dst_format", "is '" + to + "', which has other dims than '" + from + "'");
  if (!n.failed())
    n.setOutput(
        TensorMath(n).gather(n.intList(positions, NodeContext::elementType(dims)), dims, 0));
}

} // namespace

void importDifference(NodeContext &n) {
  Value values = withRank(n, 0, 1), others = withRank(n, 1, 1);
  const Type index = n.typeAttr("out_idx", pb::DT_INT32);
  if (n.failed())
    return;
  TensorMath m(n);
  Value isSame = n.callHost("Equal", {m.unsqueeze(values, {1}), m.unsqueeze(others, {0})});
  Value matches = m.squeeze(m.sum(m.toIndex(isSame), 1), {1});
  Value kept = m.indicesWhere(m.equal(matches, m.index(0)));
  n.setOutput(0, withKnownDims(n, m.gather(values, kept, 0), {ShapedType::kDynamic}, 0));
  n.setOutput(1, n.cast(kept, index));
}

ArrayRef<OpRow> dynamicOrderRows() {
  static const OpRow rows[] = {
      {"Cross", importCross},
      {"L2Loss", importL2Loss},
      {"ListDiff", importDifference},
      {"ReverseSequence", importReverseSequence},
      {"SoftmaxCrossEntropyWithLogits", importCrossEntropy},
      {"SparseSoftmaxCrossEntropyWithLogits", importSparseCrossEntropy},
  };
  return rows;
}

ArrayRef<OpRow> locationRows() {
  using graph::ComparePredicate;
  static const OpRow rows[] = {
      {"ApproxTopK", importApproxTopK, "exact"},
      {"DataFormatDimMap", importDimMap},
      {"InTopK", importInTopK},
      {"InTopKV2", importInTopK},
      {"LowerBound", importBound<ComparePredicate::Lt>},
      {"MaxPoolWithArgmax", importMaxPoolWithArgmax},
      {"Roll", importRoll, "the axes must be known"},
      {"UnravelIndex", importUnravel, "checks no index"},
      {"UpperBound", importBound<ComparePredicate::Le>},
  };
  return rows;
}

} // namespace atc::tf_import
