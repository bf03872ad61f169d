//===-- Compression.cpp - fewer bytes for gradients between ranks ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Compression.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/graph/scatter/Scatter.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// The maximum of values that have not overflowed. NaN has: it is not less or equal.
static constexpr double kLargestFinite = 3.0e38;

CompressedSum sumInBytes(const GraphMath &g, Value own, int64_t ranks) {
  const int64_t count = shapeOf(own)[0];
  Value value = g.reshape(own, {1, count});
  Value largest = g.reduce(ReduceKind::Max, g.make<AbsOp>(value), {0, 1}, /*keepdims=*/true);
  Value isUsable = g.compare(largest, ComparePredicate::Gt, 1e-30);
  Value scale = g.select(isUsable, g.mul(largest, 1.0 / 127), g.scalar(largest, 1));
  Value rounded =
      g.make<RoundOp>(g.make<ClipOp>(g.div(value, scale), APFloat(-127.0), APFloat(127.0)));
  Value isFinite = g.compare(largest, ComparePredicate::Le, kLargestFinite);
  Value left = g.keepWhere(isFinite, g.sub(value, g.mul(rounded, scale)));
  Value bytes = g.allGather(g.cast(rounded, g.builder.getI8Type()), ranks);
  Value all = g.cast(bytes, typeOf(own).getElementType()), scales = g.allGather(scale, ranks);
  return {g.sum(g.mul(all, scales), {0}, /*keepdims=*/false), g.reshape(left, {count})};
}

/// Returns zeros, with the values added at their positions.
static Value scatter(const GraphMath &g, Value positions, Value values, int64_t size) {
  auto type = RankedTensorType::get({1, size, 1}, typeOf(values).getElementType());
  Value updates = g.reshape(values, {1, typeOf(values).getNumElements(), 1});
  return g.reshape(g.make<ScatterAddOp>(type, positions, updates), {size});
}

CompressedSum sumOfLargest(const GraphMath &g, Value own, int64_t ranks, int64_t count) {
  const int64_t size = shapeOf(own)[0];
  Type i32 = g.builder.getI32Type(), i64 = g.builder.getI64Type();
  Value magnitude = g.make<AbsOp>(own);
  Value isFinite = g.compare(magnitude, ComparePredicate::Le, kLargestFinite);
  Value order = g.select(isFinite, magnitude, g.scalar(magnitude, kLargestFinite));
  Value number = g.make<ConstantOp>(
      DenseIntElementsAttr::get(RankedTensorType::get({1}, i64), ArrayRef<int64_t>(count)));
  auto top = HostCallOp::create(
      g.builder, g.loc,
      TypeRange{RankedTensorType::get({count}, typeOf(own).getElementType()),
                RankedTensorType::get({count}, i64)},
      "TopK", ValueRange{order, number}, DenseI32ArrayAttr(), g.builder.getDictionaryAttr({}));
  Value positions = top.getResult(1);
  Value values = g.make<GatherOp>(own, positions, /*axis=*/0);
  Value left = g.keepWhere(isFinite, g.sub(own, scatter(g, positions, values, size)));
  Value allPositions = g.allGather(g.reshape(g.cast(positions, i32), {1, count}), ranks);
  Value allValues = g.allGather(g.reshape(values, {1, count}), ranks);
  return {scatter(g, g.reshape(g.cast(allPositions, i64), {ranks * count}), allValues, size), left};
}

} // namespace atc::train
