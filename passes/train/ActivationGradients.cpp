//===-- ActivationGradients.cpp - gradients of activations ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/train/Gradients.h"

#include <numbers>

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

using Predicate = ComparePredicate;

/// Returns the derivative of x * Phi(x), exact or that of the tanh approximation.
static Value geluDerivative(OpGradient &g, Value x, bool approximate) {
  constexpr double root = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2 / pi)
  if (!approximate) {
    Value phi = g.mul(g.exp(g.mul(g.square(x), -0.5)), root / 2);
    Value erf = g.make<ErfOp>(g.mul(x, 1 / std::numbers::sqrt2));
    return g.add(g.mul(g.add(erf, 1.0), 0.5), g.mul(x, phi));
  }
  constexpr double cubic = 0.044715;
  Value square = g.square(x);
  Value inner = g.mul(g.mul(x, g.add(g.mul(square, cubic), 1.0)), root);
  Value tanh = g.make<TanhOp>(inner);
  Value slope = g.mul(g.add(g.mul(square, 3 * cubic), 1.0), root);
  Value bend = g.mul(g.mul(x, g.sub(1.0, g.square(tanh))), slope);
  return g.mul(g.add(g.add(tanh, 1.0), bend), 0.5);
}

/// Keeps the gradient where low <= x <= high.
static void clipped(OpGradient &g, Value x, double low, double high) {
  Value above = g.compare(x, Predicate::Ge, low), below = g.compare(x, Predicate::Le, high);
  g.give(0, g.keepWhere(above, g.keepWhere(below, g.result)));
}

static void hardSwish(HardSwishOp op, OpGradient &g) {
  Value x = op.getInput(), one = g.scalar(x, 1), zero = g.scalar(x, 0);
  Value inner = g.add(g.mul(x, 1.0 / 3), 0.5);
  Value slope = g.select(g.compare(x, Predicate::Le, -3.0), zero,
                         g.select(g.compare(x, Predicate::Ge, 3.0), one, inner));
  g.give(0, g.mul(g.result, slope));
}

static void mish(MishOp op, OpGradient &g) {
  Value x = op.getInput(), tanh = g.make<TanhOp>(g.make<SoftplusOp>(x));
  Value bend = g.mul(g.mul(x, g.make<SigmoidOp>(x)), g.sub(1.0, g.square(tanh)));
  g.give(0, g.mul(g.result, g.add(tanh, bend)));
}

/// Multiplies the gradient by `below` where x < 0.
static void belowZero(OpGradient &g, Value x, Value below) {
  g.give(0, g.select(g.compare(x, Predicate::Lt, 0.0), g.mul(g.result, below), g.result));
}

static void hardSigmoid(HardSigmoidOp op, OpGradient &g) {
  Value y = op.getResult(), slope = g.mul(g.result, op.getAlpha().convertToDouble());
  Value above = g.compare(y, Predicate::Gt, 0.0), below = g.compare(y, Predicate::Lt, 1.0);
  g.give(0, g.keepWhere(above, g.keepWhere(below, slope)));
}

static void selu(SeluOp op, OpGradient &g) {
  Value x = op.getInput(), scaled = g.mul(g.result, op.getGamma().convertToDouble());
  Value below = g.mul(g.mul(scaled, g.exp(x)), op.getAlpha().convertToDouble());
  g.give(0, g.select(g.compare(x, Predicate::Lt, 0.0), below, scaled));
}

void addActivationGradients(GradientRules &rules) {
  rules.add<ReluOp>([](ReluOp op, OpGradient &g) {
    g.give(0, g.keepWhere(g.compare(op.getResult(), Predicate::Gt, 0.0), g.result));
  });
  rules.add<SigmoidOp>([](SigmoidOp op, OpGradient &g) {
    Value y = op.getResult();
    g.give(0, g.mul(g.result, g.mul(y, g.sub(1.0, y))));
  });
  rules.add<SoftplusOp>([](SoftplusOp op, OpGradient &g) {
    g.give(0, g.mul(g.result, g.make<SigmoidOp>(op.getInput())));
  });
  rules.add<SoftsignOp>([](SoftsignOp op, OpGradient &g) {
    Value denominator = g.add(g.make<AbsOp>(op.getInput()), 1.0);
    g.give(0, g.div(g.result, g.square(denominator)));
  });
  rules.add<SiluOp>([](SiluOp op, OpGradient &g) {
    Value x = op.getInput(), s = g.make<SigmoidOp>(x);
    g.give(0, g.mul(g.result, g.mul(s, g.add(g.mul(x, g.sub(1.0, s)), 1.0))));
  });
  rules.add<GeluOp>([](GeluOp op, OpGradient &g) {
    g.give(0, g.mul(g.result, geluDerivative(g, op.getInput(), op.getApproximate())));
  });
  rules.add<MishOp>(mish);
  rules.add<HardSwishOp>(hardSwish);
  rules.add<HardSigmoidOp>(hardSigmoid);
  rules.add<SeluOp>(selu);
  rules.add<LeakyReluOp>([](LeakyReluOp op, OpGradient &g) {
    belowZero(g, op.getInput(), g.scalar(op.getInput(), op.getAlpha().convertToDouble()));
  });
  rules.add<EluOp>([](EluOp op, OpGradient &g) {
    Value x = op.getInput();
    belowZero(g, x, g.mul(g.exp(x), op.getAlpha().convertToDouble()));
  });
  rules.add<PReluOp>([](PReluOp op, OpGradient &g) {
    Value x = op.getLhs(), isBelow = g.compare(x, Predicate::Lt, 0.0);
    g.give(0, g.select(isBelow, g.mul(g.result, op.getRhs()), g.result));
    if (g.wants(1))
      g.give(1, g.keepWhere(isBelow, g.mul(g.result, x)));
  });
  rules.add<ThresholdedReluOp>([](ThresholdedReluOp op, OpGradient &g) {
    Value isAbove = g.compare(op.getInput(), Predicate::Gt, op.getAlpha().convertToDouble());
    g.give(0, g.keepWhere(isAbove, g.result));
  });
  rules.add<ClipOp>([](ClipOp op, OpGradient &g) {
    clipped(g, op.getInput(), op.getMin().convertToDouble(), op.getMax().convertToDouble());
  });
}

} // namespace atc::train
