//===-- MovementGradients.cpp - gradients of data movement ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "passes/train/Gradients.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// Returns `value` with dim `axis` multiplied by `matrix` [size of the dim, size afterwards].
static Value multiplyAlong(const GraphMath &g, Value value, int64_t axis, Value matrix) {
  const int64_t last = rankOf(value) - 1;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, last + 1));
  std::swap(order[axis], order[last]);
  return g.transpose(g.matmul(g.transpose(value, order), matrix), order);
}

static void concat(ConcatOp op, OpGradient &g) {
  int64_t at = 0;
  const int64_t axis = op.getAxis();
  const SmallVector<int64_t> steps(rankOf(op.getResult()), 1);
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    SmallVector<int64_t> starts(steps.size(), 0);
    starts[axis] = at;
    at += shapeOf(input)[axis];
    if (g.wants(index))
      g.give(index, g.slice(g.result, starts, shapeOf(input), steps));
  }
}

static void slice(SliceOp op, OpGradient &g) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput()), sizes = shapeOf(op.getResult());
  SmallVector<int64_t> low, high, strides, reverse, zeros(shape.size(), 0);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    const int64_t step = op.getSteps()[dim], start = op.getStarts()[dim];
    const int64_t stride = std::abs(step);
    reverse.push_back(step < 0 ? -1 : 1);
    strides.push_back(stride);
    low.push_back(step < 0 ? start - (sizes[dim] - 1) * stride : start);
    high.push_back(size - low.back() - sizes[dim] * stride);
    if (step < 0)
      zeros[dim] = sizes[dim] - 1;
  }
  Value forward = g.slice(g.result, zeros, sizes, reverse);
  g.give(0, g.pad(g.spread(forward, strides), low, high));
}

static void tile(TileOp op, OpGradient &g) {
  SmallVector<int64_t> split, axes;
  for (auto [repeats, size] : llvm::zip(op.getRepeats(), shapeOf(op.getInput()))) {
    axes.push_back(split.size());
    split.append({repeats, size});
  }
  g.give(0, g.sum(g.reshape(g.result, split), axes, /*keepdims=*/false));
}

/// Every dim of a pad is multiplied by a matrix of zeros and ones, which is a padded identity.
static void padByMatrix(PadOp op, OpGradient &g) {
  Value gradient = g.result;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput()))) {
    const int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    if (low == 0 && high == 0)
      continue;
    Value padded = g.make<PadOp>(g.identity(g.result, size), ArrayRef<int64_t>{0, low},
                                 ArrayRef<int64_t>{0, high}, op.getMode(), APFloat(0.0));
    gradient = multiplyAlong(g, gradient, dim, g.transposeMatrix(padded));
  }
  g.give(0, gradient);
}

static void pad(PadOp op, OpGradient &g) {
  if (op.getMode() != PadMode::Constant)
    return padByMatrix(op, g);
  auto negated = [](ArrayRef<int64_t> amounts) {
    return llvm::map_to_vector(amounts, [](int64_t amount) { return -amount; });
  };
  g.give(0, g.pad(g.result, negated(op.getLow()), negated(op.getHigh())));
}

/// Resizing multiplies each dim by a matrix, too: the resized identity.
static void resize(ResizeOp op, OpGradient &g) {
  Value gradient = g.result;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput()))) {
    const int64_t after = shapeOf(op.getResult())[dim];
    const double scale = op.getScales()[dim];
    if (size == after && scale == 1.0)
      continue;
    auto type = RankedTensorType::get({size, after}, typeOf(g.result).getElementType());
    Value matrix = g.make<ResizeOp>(type, g.identity(g.result, size), ArrayRef<double>{1.0, scale},
                                    op.getMode(), op.getCoordinates(), op.getNearest(),
                                    op.getCubicCoefficient());
    gradient = multiplyAlong(g, gradient, dim, g.transposeMatrix(matrix));
  }
  g.give(0, gradient);
}

/// Sums the gradients of the slices that an index selects.
static void gather(GatherOp op, OpGradient &g) {
  if (!g.wants(0))
    return;
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  const int64_t axis = op.getAxis(), size = shape[axis];
  int64_t before = 1, after = 1, count = 1;
  for (int64_t dim : shape.take_front(axis))
    before *= dim;
  for (int64_t dim : shape.drop_front(axis + 1))
    after *= dim;
  for (int64_t dim : shapeOf(op.getIndices()))
    count *= dim;
  Value indices = g.reshape(op.getIndices(), {count});
  const Type element = typeOf(indices).getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    indices = g.cast(indices, g.builder.getI64Type());
  auto type = RankedTensorType::get({before, size, after}, typeOf(g.result).getElementType());
  Value updates = g.reshape(g.result, {before, count, after});
  g.give(0, g.reshape(g.make<ScatterAddOp>(type, indices, updates), shape));
}

static void depthToSpace(DepthToSpaceOp op, OpGradient &g) {
  const int64_t block = op.getBlock();
  if (op.getOrder() == DepthOrder::DCR)
    return g.give(0, g.make<SpaceToDepthOp>(g.result, block));
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  Value blocks =
      g.reshape(g.result, {shape[0], shape[1] / block / block, shape[2], block, shape[3], block});
  g.give(0, g.reshape(g.transpose(blocks, {0, 1, 3, 5, 2, 4}), shape));
}

void addMovementGradients(GradientRules &rules) {
  rules.add<ReshapeOp>(
      [](ReshapeOp op, OpGradient &g) { g.give(0, g.reshape(g.result, shapeOf(op.getInput()))); });
  rules.add<TransposeOp>([](TransposeOp op, OpGradient &g) {
    SmallVector<int64_t> inverse(op.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(op.getPermutation()))
      inverse[from] = to;
    g.give(0, g.transpose(g.result, inverse));
  });
  rules.add<ExpandOp>(
      [](ExpandOp op, OpGradient &g) { g.give(0, g.sumTo(g.result, shapeOf(op.getInput()))); });
  rules.add<TileOp>(tile);
  rules.add<ConcatOp>(concat);
  rules.add<SliceOp>(slice);
  rules.add<PadOp>(pad);
  rules.add<GatherOp>(gather);
  rules.add<ResizeOp>(resize);
  rules.add<DepthToSpaceOp>(depthToSpace);
  rules.add<SpaceToDepthOp>([](SpaceToDepthOp op, OpGradient &g) {
    g.give(0, g.make<DepthToSpaceOp>(g.result, op.getBlock(), DepthOrder::DCR));
  });
}

} // namespace atc::train
