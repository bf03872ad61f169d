//===-- ScalarBounds.cpp - bounds of what formulas compute ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/ScalarBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace atc::npu {

namespace {

constexpr double kInfinity = Interval::kInfinity;

/// Returns the interval, where a bound that is no number, as of inf - inf, is none.
Interval checked(double min, double max) {
  return {std::isnan(min) ? -kInfinity : min, std::isnan(max) ? kInfinity : max};
}

/// Returns the product of two bounds: 0 times a bound that is no bound is 0, as each element is a
/// number.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

/// Returns the values of a function that never falls.
template <typename Function> Interval rising(Interval a, Function function) {
  return checked(function(a.min), function(a.max));
}

Interval quotient(Interval a, Interval b) {
  // Also a divisor that may be 0.
  if (b.min <= 0 && b.max >= 0)
    return {};
  return product(a, {1 / b.max, 1 / b.min});
}

Interval power(Interval a, Interval b) {
  if (!(a.min > 0))
    return {};
  const double corners[] = {std::pow(a.min, b.min), std::pow(a.min, b.max), std::pow(a.max, b.min),
                            std::pow(a.max, b.max)};
  if (llvm::any_of(corners, [](double corner) { return std::isnan(corner); }))
    return {0, kInfinity};
  auto [min, max] = std::minmax_element(corners, std::end(corners));
  return {*min, *max};
}

Interval reciprocalRoot(Interval a) {
  // The root of a negative number is NaN; infinity is its bound, too.
  auto of = [](double x) { return x <= 0 ? kInfinity : 1 / std::sqrt(x); };
  return {std::isinf(a.max) ? 0 : of(a.max), of(a.min)};
}

/// Returns the values of an op of a body for operands in `x`; everything for ops without a rule.
Interval evaluate(Operation *op, ArrayRef<Interval> x) {
  const bool isSquare = op->getNumOperands() == 2 && op->getOperand(0) == op->getOperand(1);
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<arith::AddFOp>([&](auto) { return addition(x[0], x[1]); })
      .Case<arith::SubFOp>([&](auto) { return addition(x[0], checked(-x[1].max, -x[1].min)); })
      .Case<arith::MulFOp>([&](auto) { return isSquare ? square(x[0]) : product(x[0], x[1]); })
      .Case<arith::DivFOp>([&](auto) { return quotient(x[0], x[1]); })
      .Case<arith::NegFOp>([&](auto) { return checked(-x[0].max, -x[0].min); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return checked(std::max(x[0].min, x[1].min), std::max(x[0].max, x[1].max)); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return checked(std::min(x[0].min, x[1].min), std::min(x[0].max, x[1].max)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return x[0]; })
      .Case<math::AbsFOp>([&](auto) { return magnitude(x[0]); })
      .Case<math::PowFOp>([&](auto) { return power(x[0], x[1]); })
      .Case<math::RsqrtOp>([&](auto) { return reciprocalRoot(x[0]); })
      .Case<math::SinOp, math::CosOp>([](auto) { return Interval{-1, 1}; })
      .Case<math::ExpOp>([&](auto) { return rising(x[0], [](double v) { return std::exp(v); }); })
      .Case<math::Exp2Op>([&](auto) { return rising(x[0], [](double v) { return std::exp2(v); }); })
      .Case<math::LogOp>([&](auto) {
        return rising(x[0], [](double v) { return v <= 0 ? -kInfinity : std::log(v); });
      })
      .Case<math::Log1pOp>([&](auto) {
        return rising(x[0], [](double v) { return v <= -1 ? -kInfinity : std::log1p(v); });
      })
      .Case<math::SqrtOp>(
          [&](auto) { return rising(x[0], [](double v) { return std::sqrt(std::max(v, 0.0)); }); })
      .Case<math::TanhOp>([&](auto) { return rising(x[0], [](double v) { return std::tanh(v); }); })
      .Case<math::ErfOp>([&](auto) { return rising(x[0], [](double v) { return std::erf(v); }); })
      .Case<math::FloorOp>(
          [&](auto) { return rising(x[0], [](double v) { return std::floor(v); }); })
      .Case<math::CeilOp>([&](auto) { return rising(x[0], [](double v) { return std::ceil(v); }); })
      .Case<math::RoundEvenOp>(
          [&](auto) { return rising(x[0], [](double v) { return std::nearbyint(v); }); })
      .Default([](Operation *) { return Interval(); });
}

/// Returns the bounds of a float that is an integer of `type`.
ElementBounds convertedInteger(const ElementBounds &integer, Type type, bool isUnsigned) {
  const ElementBounds range = boundsOfType(type, isUnsigned);
  // An integer of the other signedness is another number.
  const bool fits = integer.all.min >= range.all.min && integer.all.max <= range.all.max;
  const bool isKnown = std::isfinite(integer.all.min) && std::isfinite(integer.all.max);
  return fits && isKnown ? integer : range;
}

} // namespace

Interval join(Interval a, Interval b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

Interval addition(Interval a, Interval b) { return checked(a.min + b.min, a.max + b.max); }

Interval product(Interval a, Interval b) {
  const double corners[] = {times(a.min, b.min), times(a.min, b.max), times(a.max, b.min),
                            times(a.max, b.max)};
  auto [min, max] = std::minmax_element(corners, std::end(corners));
  return {*min, *max};
}

Interval square(Interval a) {
  const Interval size = magnitude(a);
  return {size.min * size.min, size.max * size.max};
}

Interval magnitude(Interval a) {
  const double far = std::max(std::abs(a.min), std::abs(a.max));
  if (a.min <= 0 && a.max >= 0)
    return {0, far};
  return {std::min(std::abs(a.min), std::abs(a.max)), far};
}

ElementBounds combine(ArrayRef<ElementBounds> operands,
                      llvm::function_ref<Interval(ArrayRef<Interval>)> function) {
  SmallVector<Interval> parts;
  for (const ElementBounds &operand : operands)
    parts.push_back(operand.all);
  ElementBounds bounds = function(parts);
  // The position of an operand's largest element is a position of the result.
  for (auto [part, operand] : llvm::zip_equal(parts, operands)) {
    for (Interval end : {operand.topPart(), operand.bottomPart()}) {
      part = end;
      const Interval some = function(parts);
      bounds.top = std::max(bounds.top, some.min);
      bounds.bottom = std::min(bounds.bottom, some.max);
    }
    part = operand.all;
  }
  return bounds;
}

ElementBounds combine(const ElementBounds &operand, Interval (*function)(Interval)) {
  return combine(operand, [&](ArrayRef<Interval> parts) { return function(parts[0]); });
}

ElementBounds boundsOfType(Type type, bool isUnsigned) {
  if (type.isInteger(1))
    return isUnsigned ? Interval{0, 1} : Interval{-1, 0};
  if (!type.isInteger(8))
    return isUnsigned && isa<IntegerType>(type) ? Interval{0, kInfinity} : Interval();
  return isUnsigned ? Interval{0, 255} : Interval{-128, 127};
}

ElementBounds boundsOfScalar(Block &body, ArrayRef<ElementBounds> arguments, Value number) {
  llvm::DenseMap<Value, ElementBounds> known;
  for (auto [argument, bounds] : llvm::zip_equal(body.getArguments(), arguments))
    known[argument] = bounds;
  for (Operation &op : body) {
    if (op.getNumResults() != 1)
      continue;
    ElementBounds &result = known[op.getResult(0)];
    auto of = [&](unsigned index) { return known.lookup(op.getOperand(index)); };
    FloatAttr constant;
    if (matchPattern(op.getResult(0), m_Constant(&constant))) {
      const double value = constant.getValueAsDouble();
      if (!std::isnan(value))
        result = Interval{value, value};
      continue;
    }
    ElementBounds bounds;
    if (isa<arith::SelectOp>(op)) {
      // Nothing is known of which elements are chosen.
      bounds = join(of(1).all, of(2).all);
    } else if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      bounds = convertedInteger(of(0), op.getOperand(0).getType(), isa<arith::UIToFPOp>(op));
    } else if (isa<FloatType>(op.getResult(0).getType())) {
      SmallVector<ElementBounds> operands;
      for (unsigned i = 0; i < op.getNumOperands(); ++i)
        operands.push_back(of(i));
      bounds = combine(operands, [&](ArrayRef<Interval> x) { return evaluate(&op, x); });
    }
    known[op.getResult(0)] = bounds;
  }
  return known.lookup(number);
}

} // namespace atc::npu
