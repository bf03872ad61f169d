//===-- ContractionGradients.cpp - gradients of products and convolutions -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "passes/train/Gradients.h"
#include "passes/train/Windows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// Returns a tensor as the rows of one matrix.
static Value asMatrix(const GraphMath &g, Value value) {
  const int64_t columns = shapeOf(value).back();
  return g.reshape(value, {typeOf(value).getNumElements() / columns, columns});
}

static void matmul(MatMulOp op, OpGradient &g) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), result = g.result;
  // Vectors are matrices of one row or column.
  SmallVector<int64_t> shape(shapeOf(result));
  if (rankOf(rhs) == 1) {
    shape.push_back(1);
    rhs = g.reshape(rhs, {shapeOf(rhs)[0], 1});
  }
  if (rankOf(lhs) == 1) {
    shape.insert(shape.end() - 1, 1);
    lhs = g.reshape(lhs, {1, shapeOf(lhs)[0]});
  }
  result = g.reshape(result, shape);
  auto give = [&](unsigned operand, Value wide) {
    Value whole = op->getOperand(operand);
    SmallVector<int64_t> matrix(shapeOf(operand == 0 ? lhs : rhs));
    g.give(operand, g.reshape(g.sumTo(wide, matrix), shapeOf(whole)));
  };
  if (g.wants(0))
    give(0, g.matmul(result, g.transposeMatrix(rhs)));
  if (!g.wants(1))
    return;
  // One matrix behind all batches: one product over all of their rows.
  if (rankOf(rhs) == 2)
    give(1, g.matmul(g.transposeMatrix(asMatrix(g, lhs)), asMatrix(g, result)));
  else
    give(1, g.matmul(g.transposeMatrix(lhs), result));
}

static void fullyConnected(FullyConnectedOp op, OpGradient &g) {
  if (g.wants(0))
    g.give(0, g.matmul(g.result, op.getFilter()));
  if (g.wants(1))
    g.give(1, g.matmul(g.transposeMatrix(asMatrix(g, g.result)), asMatrix(g, op.getInput())));
}

static void conv(ConvOp op, OpGradient &g) {
  Value input = op.getInput(), filter = op.getFilter();
  ArrayRef<int64_t> kernel = shapeOf(filter).drop_front(2);
  if (g.wants(0)) {
    // The rows and columns of the input behind the last window.
    SmallVector<int64_t> rest;
    for (auto [dim, size] : llvm::enumerate(kernel))
      rest.push_back(shapeOf(input)[dim + 2] + op.getPads()[dim] +
                     op.getPads()[dim + kernel.size()] - (size - 1) * op.getDilations()[dim] - 1 -
                     (shapeOf(g.result)[dim + 2] - 1) * op.getStrides()[dim]);
    g.give(0, g.make<ConvTransposeOp>(g.result, filter, Value(), op.getStrides(), op.getPads(),
                                      op.getDilations(), rest, op.getGroups()));
  }
  if (g.wants(1))
    g.give(1, filterGradient(g, windowsOf(op, input, op.getResult(), kernel),
                             channelsLast(g, input), channelsLast(g, g.result), op.getGroups()));
}

static void convTranspose(ConvTransposeOp op, OpGradient &g) {
  Value input = op.getInput(), filter = op.getFilter();
  if (g.wants(0))
    g.give(0, g.make<ConvOp>(g.result, filter, Value(), Value(), Value(), op.getStrides(),
                             op.getPads(), op.getDilations(), op.getGroups(), ActivationAttr(),
                             /*residual_last=*/false));
  // The convolution whose gradient this op computes has the roles of input and result exchanged.
  if (g.wants(1))
    g.give(1, filterGradient(g, windowsOf(op, g.result, input, shapeOf(filter).drop_front(2)),
                             channelsLast(g, g.result), channelsLast(g, input), op.getGroups()));
}

static void batchNorm(BatchNormOp op, OpGradient &g) {
  Value input = op.getInput();
  const int64_t rank = rankOf(input);
  SmallVector<int64_t> axes = {0};
  llvm::append_range(axes, llvm::seq<int64_t>(2, rank));
  auto vector = [&](Value value) { return perChannel(g, value, rank); };
  auto give = [&](unsigned operand, Value value) {
    g.give(operand, g.reshape(g.sum(value, axes), shapeOf(op->getOperand(operand))));
  };
  Value inverse = g.rsqrt(g.add(vector(op.getVariance()), op.getEpsilon().convertToDouble()));
  Value scaled = g.mul(g.result, g.mul(vector(op.getScale()), inverse));
  g.give(0, scaled);
  Value centered = g.sub(input, vector(op.getMean()));
  if (g.wants(1))
    give(1, g.mul(g.result, g.mul(centered, inverse)));
  if (g.wants(2))
    give(2, g.result);
  if (g.wants(3))
    give(3, g.neg(scaled));
  if (g.wants(4))
    give(4, g.mul(g.mul(g.mul(scaled, centered), g.square(inverse)), -0.5));
}

void addContractionGradients(GradientRules &rules) {
  rules.add<MatMulOp>(matmul);
  rules.add<FullyConnectedOp>(fullyConnected);
  rules.add<ConvOp>(conv);
  rules.add<ConvTransposeOp>(convTranspose);
  rules.add<BatchNormOp>(batchNorm);
}

} // namespace atc::train
