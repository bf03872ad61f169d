//===-- ElementwiseGradients.cpp - gradients of arithmetic and functions --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/train/Gradients.h"

#include <numbers>

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

using Predicate = ComparePredicate;

/// Adds a function of one variable: `derivative` builds dy/dx from x and y.
template <typename OpTy, typename Function>
static void addFunction(GradientRules &rules, Function derivative) {
  rules.add<OpTy>([derivative](OpTy op, OpGradient &g) {
    g.give(0, g.mul(g.result, derivative(g, op.getInput(), op.getResult())));
  });
}

/// The share of the gradient that the first operand of max or min gets: half where both are equal.
template <typename OpTy> static void extremum(OpTy op, OpGradient &g, Predicate wins) {
  Value first = g.compare(op.getLhs(), wins, op.getRhs());
  Value equal = g.compare(op.getLhs(), Predicate::Eq, op.getRhs());
  Value half = g.mul(g.result, 0.5), zero = g.scalar(g.result, 0);
  g.give(0, g.select(equal, half, g.select(first, g.result, zero)));
  g.give(1, g.select(equal, half, g.select(first, zero, g.result)));
}

static void power(PowOp op, OpGradient &g) {
  Value base = op.getLhs(), exponent = op.getRhs();
  if (g.wants(0)) {
    Value lower = g.make<PowOp>(base, g.add(exponent, -1.0));
    // 0^(0 - 1) is no number, but the power is constant.
    Value slope = g.select(g.compare(exponent, Predicate::Eq, 0.0), g.scalar(base, 0),
                           g.mul(exponent, lower));
    g.give(0, g.mul(g.result, slope));
  }
  if (g.wants(1)) {
    Value isPositive = g.compare(base, Predicate::Gt, 0.0);
    Value log = g.make<LogOp>(g.select(isPositive, base, g.scalar(base, 1)));
    g.give(1, g.mul(g.result, g.mul(op.getResult(), log)));
  }
}

static void remainder(ModOp op, OpGradient &g) {
  g.give(0, g.result);
  if (!g.wants(1))
    return;
  Value quotient = g.div(op.getLhs(), op.getRhs());
  Value whole = op.getFmod()
                    ? g.mul(g.make<SignOp>(quotient), g.make<FloorOp>(g.make<AbsOp>(quotient)))
                    : g.make<FloorOp>(quotient);
  g.give(1, g.neg(g.mul(g.result, whole)));
}

static void addArithmetic(GradientRules &rules) {
  rules.add<AddOp>([](AddOp, OpGradient &g) {
    g.give(0, g.result);
    g.give(1, g.result);
  });
  rules.add<SubOp>([](SubOp, OpGradient &g) {
    g.give(0, g.result);
    if (g.wants(1))
      g.give(1, g.neg(g.result));
  });
  rules.add<MulOp>([](MulOp op, OpGradient &g) {
    if (g.wants(0))
      g.give(0, g.mul(g.result, op.getRhs()));
    if (g.wants(1))
      g.give(1, g.mul(g.result, op.getLhs()));
  });
  rules.add<DivOp>([](DivOp op, OpGradient &g) {
    Value share = g.div(g.result, op.getRhs());
    g.give(0, share);
    if (g.wants(1))
      g.give(1, g.neg(g.mul(share, op.getResult())));
  });
  rules.add<PowOp>(power);
  rules.add<ModOp>(remainder);
  rules.add<MaxOp>([](MaxOp op, OpGradient &g) { extremum(op, g, Predicate::Gt); });
  rules.add<MinOp>([](MinOp op, OpGradient &g) { extremum(op, g, Predicate::Lt); });
  rules.add<WhereOp>([](WhereOp op, OpGradient &g) {
    Value zero = g.scalar(g.result, 0);
    g.give(1, g.select(op.getCondition(), g.result, zero));
    g.give(2, g.select(op.getCondition(), zero, g.result));
  });
  rules.add<CastOp>([](CastOp op, OpGradient &g) {
    g.give(0, g.cast(g.result, typeOf(op.getInput()).getElementType()));
  });
  rules.add<NegOp>([](NegOp, OpGradient &g) { g.give(0, g.neg(g.result)); });
  addFunction<AbsOp>(rules, [](auto &g, Value x, Value) { return g.template make<SignOp>(x); });
}

static void addPowersAndLogarithms(GradientRules &rules) {
  addFunction<ExpOp>(rules, [](auto &, Value, Value y) { return y; });
  addFunction<LogOp>(rules,
                     [](auto &g, Value x, Value) { return g.template make<ReciprocalOp>(x); });
  addFunction<SqrtOp>(rules, [](auto &g, Value, Value y) { return g.div(g.scalar(y, 0.5), y); });
  addFunction<RsqrtOp>(rules,
                       [](auto &g, Value, Value y) { return g.mul(g.mul(y, g.square(y)), -0.5); });
  addFunction<ReciprocalOp>(rules, [](auto &g, Value, Value y) { return g.neg(g.square(y)); });
  addFunction<ErfOp>(rules, [](auto &g, Value x, Value) {
    return g.mul(g.exp(g.neg(g.square(x))), 2 * std::numbers::inv_sqrtpi);
  });
}

static void addTrigonometry(GradientRules &rules) {
  addFunction<SinOp>(rules, [](auto &g, Value x, Value) { return g.template make<CosOp>(x); });
  addFunction<CosOp>(rules,
                     [](auto &g, Value x, Value) { return g.neg(g.template make<SinOp>(x)); });
  addFunction<TanOp>(rules, [](auto &g, Value, Value y) { return g.add(g.square(y), 1.0); });
  addFunction<AsinOp>(rules,
                      [](auto &g, Value x, Value) { return g.rsqrt(g.sub(1.0, g.square(x))); });
  addFunction<AcosOp>(
      rules, [](auto &g, Value x, Value) { return g.neg(g.rsqrt(g.sub(1.0, g.square(x)))); });
  addFunction<AtanOp>(rules, [](auto &g, Value x, Value) {
    return g.template make<ReciprocalOp>(g.add(g.square(x), 1.0));
  });
  addFunction<SinhOp>(rules, [](auto &g, Value x, Value) { return g.template make<CoshOp>(x); });
  addFunction<CoshOp>(rules, [](auto &g, Value x, Value) { return g.template make<SinhOp>(x); });
  addFunction<TanhOp>(rules, [](auto &g, Value, Value y) { return g.sub(1.0, g.square(y)); });
  addFunction<AsinhOp>(rules,
                       [](auto &g, Value x, Value) { return g.rsqrt(g.add(g.square(x), 1.0)); });
  addFunction<AcoshOp>(rules,
                       [](auto &g, Value x, Value) { return g.rsqrt(g.add(g.square(x), -1.0)); });
  addFunction<AtanhOp>(rules, [](auto &g, Value x, Value) {
    return g.template make<ReciprocalOp>(g.sub(1.0, g.square(x)));
  });
}

void addElementwiseGradients(GradientRules &rules) {
  addArithmetic(rules);
  addPowersAndLogarithms(rules);
  addTrigonometry(rules);
  // Steps: they are constant except where they jump. Bools and integers have no gradients.
  rules.addConstant<SignOp, FloorOp, CeilOp, RoundOp, NotOp, IsNanOp, AndOp, OrOp, XorOp, CompareOp,
                    ArgMaxOp, ArgMinOp>();
}

} // namespace atc::train
