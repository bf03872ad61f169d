//===-- FiniteElements.cpp - formulas that keep numbers finite ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/FiniteElements.h"

#include "dialects/graph/ConstantData.h"
#include "runtime-lite/abi/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::kernel {

namespace {

using MaybeGrowth = std::optional<Growth>;

constexpr double kLargestHalf = 65504;
/// The product of both is a number of f16, as one formula may read what another one computes.
constexpr double kMaxGain = 255, kMaxOffset = 256;
/// Powers of numbers of f16 up to this one are numbers of f32.
constexpr unsigned kMaxDegree = 7;

MaybeGrowth sum(const Growth &a, const Growth &b) {
  // The difference of two infinite numbers is NaN.
  auto isInfinite = [](const Growth &x) { return x.min == x.max && !std::isfinite(x.min); };
  if ((!a.isFinite && !b.isFinite) || isInfinite(a) || isInfinite(b))
    return std::nullopt;
  return Growth{a.gain + b.gain, a.offset + b.offset,      a.min + b.min,
                a.max + b.max,   a.isFinite && b.isFinite, std::max(a.degree, b.degree)};
}

Growth negated(Growth a) {
  std::swap(a.min, a.max);
  a.min = -a.min;
  a.max = -a.max;
  return a;
}

Growth scaled(Growth a, double bound) {
  if (bound == 0)
    return Growth::between(0, 0);
  const double limit = a.bound() * bound;
  a.gain *= bound;
  a.offset *= bound;
  a.min = a.min >= 0 ? 0 : -limit;
  a.max = limit;
  return a;
}

MaybeGrowth product(const Growth &a, const Growth &b) {
  // Zero times infinity is NaN.
  if (!a.isFinite || !b.isFinite)
    return std::nullopt;
  auto times = [](const Growth &number, const Growth &factor) {
    Growth result = scaled(number, factor.bound());
    if (factor.min < 0)
      result.min = -result.max;
    return result;
  };
  if (std::isfinite(a.bound()) && (a.bound() <= b.bound() || !std::isfinite(b.bound())))
    return times(b, a);
  if (std::isfinite(b.bound()))
    return times(a, b);
  Growth result{Growth::kInfinity, Growth::kInfinity};
  result.degree = a.degree + b.degree;
  return result.degree <= kMaxDegree ? MaybeGrowth(result) : std::nullopt;
}

MaybeGrowth quotient(const Growth &a, const Growth &b) {
  if (!a.isFinite)
    return std::nullopt;
  // An infinite divisor makes zero.
  if (b.min > 0)
    return product(a, Growth::between(0, 1 / b.min));
  if (b.max < 0)
    return product(a, Growth::between(1 / b.max, 0));
  return std::nullopt;
}

/// Returns the growth of a number that is one of both.
Growth either(const Growth &a, const Growth &b) {
  return {std::max(a.gain, b.gain), std::max(a.offset, b.offset), std::min(a.min, b.min),
          std::max(a.max, b.max),   a.isFinite && b.isFinite,     std::max(a.degree, b.degree)};
}

/// Returns the growth of the maximum, or of the minimum as that of the opposites.
Growth maximum(const Growth &a, const Growth &b) {
  Growth result = either(a, b);
  // Zero stays zero, and what is cut off was larger.
  if (b.min == b.max && b.max <= 0)
    result = a;
  else if (a.min == a.max && a.max <= 0)
    result = b;
  result.min = std::max(a.min, b.min);
  result.max = std::max(a.max, b.max);
  if (std::isfinite(result.bound())) {
    result.offset = std::min(result.offset, result.bound());
    result.gain = std::isfinite(result.gain) ? result.gain : 0;
    result.isFinite = true;
  }
  return result;
}

/// Returns the largest argument of an exponential whose value matters: an elu selects it below 0.
double largestSelected(Operation *op) {
  const Value argument = op->getOperand(0);
  for (Operation *next = op; next->hasOneUse();) {
    OpOperand &use = *next->getUses().begin();
    auto select = dyn_cast<arith::SelectOp>(use.getOwner());
    auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    llvm::APFloat limit(0.0);
    if (compare && use.getOperandNumber() == 1 && compare.getLhs() == argument &&
        compare.getPredicate() == arith::CmpFPredicate::OLT &&
        matchPattern(compare.getRhs(), m_ConstantFloat(&limit)) && limit.isZero())
      return 0;
    if (!isa<arith::AddFOp, arith::MulFOp, arith::SubFOp>(use.getOwner()))
      break;
    next = use.getOwner();
  }
  return Growth::kInfinity;
}

MaybeGrowth exponential(Operation *op, const Growth &a) {
  Growth result = Growth::between(0, std::exp(std::min(a.max, largestSelected(op))));
  result.isFinite = result.max <= std::numeric_limits<float>::max();
  return result;
}

/// Computes the growths of the values of a body.
class Growths {
public:
  explicit Growths(Block &body, ArrayRef<MaybeGrowth> arguments) {
    for (auto [argument, growth] : llvm::zip_equal(body.getArguments(), arguments))
      known[argument] = growth;
    for (Operation &op : body.without_terminator())
      for (Value result : op.getResults())
        known[result] = ofOp(&op);
  }
  MaybeGrowth of(Value value) const { return known.lookup(value); }

private:
  MaybeGrowth ofConstant(Operation *op) {
    llvm::APFloat number(0.0);
    if (!matchPattern(op, m_ConstantFloat(&number)))
      return std::nullopt;
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    const double value = number.convertToDouble();
    return std::isnan(value) ? MaybeGrowth() : Growth::between(value, value);
  }

  MaybeGrowth ofOp(Operation *op) {
    if (isa<arith::ConstantOp>(op))
      return ofConstant(op);
    if (isa<arith::UIToFPOp, arith::SIToFPOp>(op))
      return ofInteger(op);
    if (!isa<FloatType>(op->getResult(0).getType()))
      return std::nullopt;
    // What decides is no number of the result.
    ValueRange operands = op->getOperands();
    if (isa<arith::SelectOp>(op))
      operands = operands.drop_front();
    SmallVector<Growth> in;
    for (Value operand : operands) {
      MaybeGrowth growth = of(operand);
      if (!growth)
        return std::nullopt;
      in.push_back(*growth);
    }
    return llvm::TypeSwitch<Operation *, MaybeGrowth>(op)
        .Case<arith::ExtFOp>([&](auto) { return in[0]; })
        .Case<arith::TruncFOp>([&](auto) { return narrowed(in[0]); })
        .Case<arith::AddFOp>([&](auto) { return sum(in[0], in[1]); })
        .Case<arith::SubFOp>([&](auto) { return sum(in[0], negated(in[1])); })
        .Case<arith::MulFOp>([&](auto) { return ofProduct(op, in); })
        .Case<arith::DivFOp>([&](auto) { return quotient(in[0], in[1]); })
        .Case<arith::NegFOp>([&](auto) { return negated(in[0]); })
        .Case<math::AbsFOp>([&](auto) {
          Growth result = in[0];
          result.max = result.bound();
          result.min = 0;
          return result;
        })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) { return maximum(in[0], in[1]); })
        .Case<arith::MinimumFOp, arith::MinNumFOp>(
            [&](auto) { return negated(maximum(negated(in[0]), negated(in[1]))); })
        .Case<arith::SelectOp>([&](auto) { return either(in[0], in[1]); })
        .Case<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(
            [&](auto) { return sum(in[0], Growth::between(-1, 1)); })
        .Case<math::ExpOp>([&](auto) { return exponential(op, in[0]); })
        .Case<math::TanhOp, math::ErfOp>([](auto) { return Growth::between(-1, 1); })
        .Case<math::SinOp, math::CosOp>([&](auto) {
          return in[0].isFinite ? MaybeGrowth(Growth::between(-1, 1)) : std::nullopt;
        })
        .Case<math::AtanOp>([](auto) { return Growth::between(-2, 2); })
        .Case<math::FmaOp>([&](auto) {
          MaybeGrowth first = product(in[0], in[1]);
          return first ? sum(*first, in[2]) : std::nullopt;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  static MaybeGrowth ofProduct(Operation *op, ArrayRef<Growth> in) {
    MaybeGrowth result = product(in[0], in[1]);
    if (!result)
      return result;
    if (op->getOperand(0) == op->getOperand(1))
      result->min = 0;
    if (!std::isfinite(result->gain) && op->getResult(0).getType().isF16())
      result->isFinite = false;
    return result;
  }

  /// A number of 8 bits has bounds, and wider ones are of usual size once they are scaled.
  static MaybeGrowth ofInteger(Operation *op) {
    const unsigned bits = op->getOperand(0).getType().getIntOrFloatBitWidth();
    if (bits > 8)
      return Growth();
    return isa<arith::UIToFPOp>(op) ? Growth::between(0, (1 << bits) - 1)
                                    : Growth::between(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
  }

  static MaybeGrowth narrowed(const Growth &a) {
    const bool isSmall = a.bound() <= kLargestHalf || std::isfinite(a.gain);
    return a.isFinite && isSmall ? MaybeGrowth(a) : std::nullopt;
  }

  llvm::DenseMap<Value, MaybeGrowth> known;
};

} // namespace

Growth Growth::between(double min, double max) {
  Growth result{0, 0, min, max};
  result.offset = result.bound();
  result.isFinite = std::isfinite(result.offset);
  result.degree = 0;
  return result;
}

std::optional<Growth> growthOf(ElementsAttr constant) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return std::nullopt;
  double min = 0, max = 0;
  bool isFinite = true;
  auto note = [&](double number) {
    isFinite &= std::isfinite(number);
    min = std::min(min, number);
    max = std::max(max, number);
  };
  if (constant.getElementType().isF32())
    for (float number : bytes->expandedAs<float>())
      note(number);
  else if (constant.getElementType().isF16())
    for (uint16_t bits : bytes->expandedAs<uint16_t>())
      note(halfToFloat(bits));
  else
    return Growth();
  return isFinite ? std::optional(Growth::between(min, max)) : std::nullopt;
}

std::optional<Growth> growthOf(Block &body, ArrayRef<std::optional<Growth>> arguments) {
  std::optional<Growth> growth = Growths(body, arguments).of(body.getTerminator()->getOperand(0));
  if (!growth || !growth->isFinite)
    return std::nullopt;
  const bool isBounded = growth->bound() <= kMaxOffset;
  if (!isBounded && !(growth->gain <= kMaxGain && growth->offset <= kMaxOffset))
    return std::nullopt;
  return growth;
}

} // namespace atc::kernel
