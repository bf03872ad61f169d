//===-- ReduceGradients.cpp - gradients of reductions and softmax ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "passes/train/Gradients.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

using Predicate = ComparePredicate;

namespace {
/// A reduction with the dims of its results kept as 1, so that they broadcast to the input.
struct KeptReduction {
  KeptReduction(ReduceOp op, OpGradient &g) : g(g), x(op.getInput()), axes(op.getAxes()) {
    SmallVector<int64_t> shape(shapeOf(x));
    for (int64_t axis : axes) {
      count *= shape[axis];
      shape[axis] = 1;
    }
    y = g.reshape(op.getResult(), shape);
    dy = g.reshape(g.result, shape);
  }

  OpGradient &g;
  Value x;
  ArrayRef<int64_t> axes;
  Value y, dy;
  int64_t count = 1; ///< elements per result
};
} // namespace

/// Shares the gradient among the elements that are the extremum.
static Value extremumShare(const KeptReduction &r) {
  OpGradient &g = r.g;
  Value isHit = g.compare(r.x, Predicate::Eq, r.y), hits = g.indicator(isHit, r.x);
  return g.keepWhere(isHit, g.div(r.dy, g.sum(hits, r.axes)));
}

/// Multiplies the gradient by the product of the other elements, which is known where some are 0.
static Value productOfOthers(const KeptReduction &r) {
  OpGradient &g = r.g;
  Value isZero = g.compare(r.x, Predicate::Eq, 0.0), one = g.scalar(r.x, 1);
  Value nonzero = g.select(isZero, one, r.x);
  Value product = g.reduce(ReduceKind::Prod, nonzero, r.axes, /*keepdims=*/true);
  Value zeros = g.sum(g.indicator(isZero, r.x), r.axes);
  Value lone = g.keepWhere(g.compare(zeros, Predicate::Eq, 1.0), product);
  Value none = g.keepWhere(g.compare(zeros, Predicate::Eq, 0.0), product);
  return g.mul(r.dy, g.select(isZero, lone, g.div(none, nonzero)));
}

static Value reduceGradient(ReduceKind kind, const KeptReduction &r) {
  OpGradient &g = r.g;
  switch (kind) {
  case ReduceKind::Sum:
    return r.dy;
  case ReduceKind::Mean:
    return g.mul(r.dy, 1.0 / static_cast<double>(r.count));
  case ReduceKind::Max:
  case ReduceKind::Min:
    return extremumShare(r);
  case ReduceKind::Prod:
    return productOfOthers(r);
  case ReduceKind::L1:
    return g.mul(r.dy, g.make<SignOp>(r.x));
  case ReduceKind::L2: {
    Value isZero = g.compare(r.y, Predicate::Eq, 0.0);
    Value norm = g.select(isZero, g.scalar(r.y, 1), r.y);
    return g.mul(g.div(r.dy, norm), r.x);
  }
  case ReduceKind::LogSum:
    return g.mul(r.dy, g.exp(g.neg(r.y)));
  case ReduceKind::LogSumExp:
    return g.mul(r.dy, g.exp(g.sub(r.x, r.y)));
  case ReduceKind::SumSquare:
    return g.mul(g.mul(r.dy, 2.0), r.x);
  }
  return {};
}

void addReduceGradients(GradientRules &rules) {
  rules.add<ReduceOp>([](ReduceOp op, OpGradient &g) {
    g.give(0, reduceGradient(op.getKind(), KeptReduction(op, g)));
  });
  rules.add<CumulativeSumOp>([](CumulativeSumOp op, OpGradient &g) {
    // An element is in the sums of all that come behind it.
    g.give(0, g.make<CumulativeSumOp>(g.result, op.getAxis(), op.getExclusive(), !op.getReverse()));
  });
  rules.add<SoftmaxOp>([](SoftmaxOp op, OpGradient &g) {
    // The product has the sum as its only reader, inside of which it is computed.
    Value y = op.getResult();
    Value sum = g.sum(g.mul(g.result, y), {static_cast<int64_t>(op.getAxis())});
    g.give(0, g.mul(y, g.sub(g.result, sum)));
  });
  rules.add<LogSoftmaxOp>([](LogSoftmaxOp op, OpGradient &g) {
    Value sum = g.sum(g.result, {static_cast<int64_t>(op.getAxis())});
    g.give(0, g.sub(g.result, g.mul(g.exp(op.getResult()), sum)));
  });
}

} // namespace atc::train
