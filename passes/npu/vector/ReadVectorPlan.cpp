//===-- ReadVectorPlan.cpp - scalar operations as steps of a plan -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/StoredNumber.h"
#include "passes/npu/vector/VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

int VectorPlan::valueOf(Value value) {
  for (auto [known, step] : values)
    if (known == value)
      return step;
  int step = -1;
  Attribute attribute;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &body)
      step = input(argument.getArgNumber());
  } else if (matchPattern(value, m_Constant(&attribute))) {
    if (auto number = dyn_cast<FloatAttr>(attribute))
      step = constant(number.getValueAsDouble());
    else if (auto number = dyn_cast<IntegerAttr>(attribute))
      step = constant(value.getType().isInteger(1) ? double(number.getValue().getBoolValue())
                                                   : double(number.getInt()));
  }
  if (step >= 0)
    values.push_back({value, step});
  return step;
}

/// Matches 0.5 (1 + erf(c v)), the core of gelu; returns v, and c sqrt(2) as `factor`. It costs
/// less than erf and can be computed in f16, but is not accurate enough where integers are stored.
static Value matchHalfErf(Value value, double &factor) {
  auto operands = [](Value value, auto tag, double wanted) -> Value {
    auto op = value.getDefiningOp<decltype(tag)>();
    if (!op)
      return {};
    for (unsigned i : {0, 1}) {
      FloatAttr number;
      if (matchPattern(op->getOperand(i), m_Constant(&number)) &&
          std::abs(number.getValueAsDouble() - wanted) < 1e-6)
        return op->getOperand(1 - i);
    }
    return {};
  };
  Value sum = operands(value, arith::MulFOp(), 0.5);
  Value function = sum ? operands(sum, arith::AddFOp(), 1.0) : Value();
  auto erf = function ? function.getDefiningOp<math::ErfOp>() : math::ErfOp();
  if (!erf)
    return {};
  factor = M_SQRT2;
  Value inner = erf.getOperand();
  FloatAttr scale;
  if (auto product = inner.getDefiningOp<arith::MulFOp>())
    for (unsigned i : {0, 1})
      if (matchPattern(product->getOperand(i), m_Constant(&scale)) &&
          scale.getValueAsDouble() > 0) {
        factor *= scale.getValueAsDouble();
        return product->getOperand(1 - i);
      }
  if (auto quotient = inner.getDefiningOp<arith::DivFOp>())
    if (matchPattern(quotient.getRhs(), m_Constant(&scale)) && scale.getValueAsDouble() > 0) {
      factor /= scale.getValueAsDouble();
      return quotient.getLhs();
    }
  return inner;
}

bool VectorPlan::readCompare(Operation &op) {
  auto compare = cast<arith::CmpFOp>(op);
  int a = valueOf(compare.getLhs()), b = valueOf(compare.getRhs());
  if (a < 0 || b < 0)
    return false;
  using enum arith::CmpFPredicate;
  int result;
  switch (compare.getPredicate()) {
  case OEQ:
  case UEQ:
    result = binary(VectorOp::Equal, a, b);
    break;
  case ONE:
  case UNE:
    result = sub(constant(1), binary(VectorOp::Equal, a, b));
    break;
  case OLT:
  case ULT:
    result = binary(VectorOp::Less, a, b);
    break;
  case OGT:
  case UGT:
    result = binary(VectorOp::Less, b, a);
    break;
  case OLE:
  case ULE:
    result = binary(VectorOp::LessEqual, a, b);
    break;
  case OGE:
  case UGE:
    result = binary(VectorOp::LessEqual, b, a);
    break;
  case ORD:
    result = mul(binary(VectorOp::Equal, a, a), binary(VectorOp::Equal, b, b));
    break;
  case UNO:
    result = sub(constant(1), mul(binary(VectorOp::Equal, a, a), binary(VectorOp::Equal, b, b)));
    break;
  default:
    return false;
  }
  values.push_back({compare.getResult(), result});
  return true;
}

/// Returns whether an operation on numbers of f16 in f32, of which only the result in f16 is used,
/// has the same bits in f16: f32 has more than twice the digits, so that rounding twice is rounding
/// once.
static bool isSameInHalf(Operation &op) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp>(op) ||
      !op.getResult(0).hasOneUse())
    return false;
  auto narrow = dyn_cast<arith::TruncFOp>(*op.user_begin());
  return narrow && narrow.getType().isF16() && llvm::all_of(op.getOperands(), [](Value operand) {
           auto wide = operand.getDefiningOp<arith::ExtFOp>();
           return wide && wide.getIn().getType().isF16();
         });
}

bool VectorPlan::readOperands(Operation &op, llvm::SmallVectorImpl<int> &in) {
  for (Value operand : op.getOperands()) {
    in.push_back(valueOf(operand));
    if (in.back() < 0)
      return false;
  }
  // Integers are only there to become floats.
  for (Value operand : op.getOperands())
    if (operand.getType().isIntOrIndex() && !operand.getType().isInteger(1) &&
        (!isa<arith::SIToFPOp, arith::UIToFPOp>(op) ||
         !(isa<BlockArgument>(operand) || isReadBack(op, operand))))
      return false;
  return true;
}

int VectorPlan::readArith(Operation &op, llvm::ArrayRef<int> in) {
  const bool isBool = op.getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, int>(&op)
      .Case<arith::AddFOp>([&](auto) { return add(in[0], in[1]); })
      .Case<arith::SubFOp>([&](auto) { return sub(in[0], in[1]); })
      .Case<arith::MulFOp>([&](arith::MulFOp product) {
        double factor = 1;
        const Value half = exact ? Value() : matchHalfErf(product, factor);
        return half ? normalDistribution(valueOf(half), factor) : mul(in[0], in[1]);
      })
      .Case<arith::DivFOp>([&](auto) { return div(in[0], in[1]); })
      .Case<arith::RemFOp>([&](auto) { return remainder(in[0], in[1]); })
      .Case<arith::NegFOp>([&](auto) { return unary(VectorOp::Neg, in[0]); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return maxmin(VectorOp::Max, VectorOp::MaxScalar, in[0], in[1]); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return maxmin(VectorOp::Min, VectorOp::MinScalar, in[0], in[1]); })
      .Case<arith::SelectOp>([&](auto) { return select(in[0], in[1], in[2]); })
      .Case<arith::AndIOp>([&](auto) { return isBool ? mul(in[0], in[1]) : -1; })
      .Case<arith::OrIOp>([&](auto) {
        return isBool ? maxmin(VectorOp::Max, VectorOp::MaxScalar, in[0], in[1]) : -1;
      })
      .Case<arith::XOrIOp>([&](auto) {
        // Compares two bools: the square of the difference.
        int difference = sub(in[0], in[1]);
        return isBool ? mul(difference, difference) : -1;
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return in[0]; })
      .Case<arith::SIToFPOp>([&](auto) { return in[0]; })
      .Case<arith::UIToFPOp>([&](arith::UIToFPOp conversion) {
        // A bool is already 0 or 1.
        Type from = conversion.getIn().getType();
        if (from.isInteger(8) && isa<BlockArgument>(conversion.getIn()))
          inputTypes[list[in[0]].input] =
              IntegerType::get(from.getContext(), 8, IntegerType::Unsigned);
        return from.isInteger(1) || from.isInteger(8) ? in[0] : -1;
      })
      .Default([](Operation *) { return -1; });
}

int VectorPlan::readMath(Operation &op, llvm::ArrayRef<int> in) {
  return llvm::TypeSwitch<Operation *, int>(&op)
      .Case<math::ExpOp>([&](auto) { return unary(VectorOp::Exp, in[0]); })
      .Case<math::ExpM1Op>([&](auto) { return add(unary(VectorOp::Exp, in[0]), constant(-1)); })
      .Case<math::Exp2Op>([&](auto) { return unary(VectorOp::Exp, mul(in[0], constant(M_LN2))); })
      .Case<math::LogOp>([&](auto) { return unary(VectorOp::Ln, in[0]); })
      .Case<math::Log1pOp>([&](auto) { return unary(VectorOp::Ln, add(in[0], constant(1))); })
      .Case<math::Log2Op>(
          [&](auto) { return mul(unary(VectorOp::Ln, in[0]), constant(1 / M_LN2)); })
      .Case<math::SqrtOp>([&](auto) { return unary(VectorOp::Sqrt, in[0]); })
      .Case<math::RsqrtOp>([&](auto) { return unary(VectorOp::Rsqrt, in[0]); })
      .Case<math::AbsFOp>([&](auto) { return unary(VectorOp::Abs, in[0]); })
      .Case<math::FloorOp>([&](auto) { return unary(VectorOp::Floor, in[0]); })
      .Case<math::CeilOp>([&](auto) { return unary(VectorOp::Ceil, in[0]); })
      .Case<math::RoundEvenOp>([&](auto) { return unary(VectorOp::Round, in[0]); })
      .Case<math::TanhOp>([&](auto) { return tanh(in[0]); })
      .Case<math::ErfOp>([&](auto) { return erf(in[0]); })
      .Case<math::SinOp>([&](auto) { return sine(in[0], /*isCosine=*/false); })
      .Case<math::CosOp>([&](auto) { return sine(in[0], /*isCosine=*/true); })
      .Case<math::TanOp>([&](auto) {
        return div(sine(in[0], /*isCosine=*/false), sine(in[0], /*isCosine=*/true));
      })
      .Case<math::AtanOp>([&](auto) { return arcTangent(in[0]); })
      .Case<math::AsinOp>([&](auto) { return arcSine(in[0]); })
      .Case<math::AcosOp>([&](auto) { return arcCosine(in[0]); })
      .Case<math::SinhOp>([&](auto) { return hyperbolic(in[0], /*isCosine=*/false); })
      .Case<math::CoshOp>([&](auto) { return hyperbolic(in[0], /*isCosine=*/true); })
      .Case<math::AsinhOp>([&](auto) { return arcHyperbolic(in[0], /*isCosine=*/false); })
      .Case<math::AcoshOp>([&](auto) { return arcHyperbolic(in[0], /*isCosine=*/true); })
      .Case<math::AtanhOp>([&](auto) { return arcHyperbolicTangent(in[0]); })
      .Case<math::CopySignOp>([&](auto) { return copySign(in[0], in[1]); })
      .Case<math::FmaOp>([&](auto) { return add(mul(in[0], in[1]), in[2]); })
      .Case<math::PowFOp>([&](auto) { return power(in[0], in[1]); })
      .Default([](Operation *) { return -1; });
}

bool VectorPlan::read(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  if (op.getNumResults() != 1)
    return false;
  if (isa<arith::CmpFOp>(op))
    return readCompare(op);
  if (isa<arith::FPToUIOp, arith::FPToSIOp>(op))
    return readQuantization(op);
  Type resultType = op.getResult(0).getType();
  bool isBool = resultType.isInteger(1);
  if (!resultType.isF32() && !resultType.isF16() && !isBool)
    return false;
  llvm::SmallVector<int> in;
  if (!readOperands(op, in))
    return false;
  bool isConversion = isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op);
  if (!isBool && !isConversion)
    halfOnly &= resultType.isF16() || isSameInHalf(op);
  const bool isMath = llvm::isa_and_nonnull<math::MathDialect>(op.getDialect());
  const int result = isMath ? readMath(op, in) : readArith(op, in);
  if (result < 0)
    return false;
  values.push_back({op.getResult(0), result});
  return true;
}

/// An integer of 8 bits between float ops is its value, which the code in front has clamped, and
/// rounded unless a kernel before has done so.
bool VectorPlan::readQuantization(Operation &op) {
  const bool isRounded = storedNumberOf(&op).has_value();
  if (!isRounded && (!op.getResult(0).getType().isInteger(8) ||
                     !isKeptInByte(op.getOperand(0), isa<arith::FPToUIOp>(op))))
    return false;
  int value = valueOf(op.getOperand(0));
  if (value < 0)
    return false;
  if (!isRounded)
    value = truncated(value);
  halfOnly = false;
  values.push_back({op.getResult(0), value});
  return true;
}

bool VectorPlan::isReadBack(Operation &op, Value integer) {
  Operation *definition = integer.getDefiningOp();
  return isa<arith::UIToFPOp>(op) ? isa_and_nonnull<arith::FPToUIOp>(definition)
                                  : isa_and_nonnull<arith::FPToSIOp>(definition);
}

} // namespace atc::npu
