//===-- ElementwiseOps.cpp - scalar code of elementwise ops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "dialects/graph/scalar/ScalarBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace atc::graph;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Type elementOf(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

static bool isFloat(Value scalar) { return isa<FloatType>(getElementTypeOrSelf(scalar.getType())); }

/// Returns whether elements are unsigned; bool counts as unsigned: true is 1, not -1.
static bool isUnsigned(Value tensor) {
  Type type = elementOf(tensor);
  return type.isUnsignedInteger() || type.isInteger(1);
}

/// The one of three operations that fits the element type.
template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value buildByType(OpBuilder &builder, Location loc, Value tensor, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloat(args[0]))
    return s.op<FloatOp>(args[0], args[1]);
  if (isUnsigned(tensor))
    return s.op<UnsignedOp>(args[0], args[1]);
  return s.op<SignedOp>(args[0], args[1]);
}

//===----------------------------------------------------------------------===//
// Operators that are one operation of math or arith
//===----------------------------------------------------------------------===//

#define UNARY_MATH(GraphOp, MathOp)                                                                \
  Value GraphOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {                  \
    return MathOp::create(builder, loc, args[0]);                                                  \
  }
UNARY_MATH(ExpOp, math::ExpOp)
UNARY_MATH(LogOp, math::LogOp)
UNARY_MATH(SqrtOp, math::SqrtOp)
UNARY_MATH(RsqrtOp, math::RsqrtOp)
UNARY_MATH(FloorOp, math::FloorOp)
UNARY_MATH(CeilOp, math::CeilOp)
UNARY_MATH(RoundOp, math::RoundEvenOp)
UNARY_MATH(SinOp, math::SinOp)
UNARY_MATH(CosOp, math::CosOp)
UNARY_MATH(TanOp, math::TanOp)
UNARY_MATH(AsinOp, math::AsinOp)
UNARY_MATH(AcosOp, math::AcosOp)
UNARY_MATH(AtanOp, math::AtanOp)
UNARY_MATH(SinhOp, math::SinhOp)
UNARY_MATH(CoshOp, math::CoshOp)
UNARY_MATH(TanhOp, math::TanhOp)
UNARY_MATH(AsinhOp, math::AsinhOp)
UNARY_MATH(AcoshOp, math::AcoshOp)
UNARY_MATH(AtanhOp, math::AtanhOp)
UNARY_MATH(ErfOp, math::ErfOp)
#undef UNARY_MATH

#define BINARY_ARITH(GraphOp, ...)                                                                 \
  Value GraphOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {                  \
    return buildByType<__VA_ARGS__>(builder, loc, getLhs(), args);                                 \
  }
BINARY_ARITH(AddOp, arith::AddFOp, arith::AddIOp)
BINARY_ARITH(SubOp, arith::SubFOp, arith::SubIOp)
BINARY_ARITH(MulOp, arith::MulFOp, arith::MulIOp)
BINARY_ARITH(MaxOp, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp)
BINARY_ARITH(MinOp, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp)
#undef BINARY_ARITH

#define BINARY_BITS(GraphOp, ArithOp)                                                              \
  Value GraphOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {                  \
    return ArithOp::create(builder, loc, args[0], args[1]);                                        \
  }
BINARY_BITS(AndOp, arith::AndIOp)
BINARY_BITS(OrOp, arith::OrIOp)
BINARY_BITS(XorOp, arith::XOrIOp)
#undef BINARY_BITS

//===----------------------------------------------------------------------===//
// Operators with a formula
//===----------------------------------------------------------------------===//

#define FLOAT_FORMULA(GraphOp, formula)                                                            \
  Value GraphOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {                  \
    ScalarBuilder s{builder, loc};                                                                 \
    Value x = args[0];                                                                             \
    return formula;                                                                                \
  }
FLOAT_FORMULA(ReciprocalOp, s.div(s.constant(x, 1.0), x))
FLOAT_FORMULA(SigmoidOp, s.sigmoid(x))
FLOAT_FORMULA(SoftplusOp, s.softplus(x))
FLOAT_FORMULA(SoftsignOp, s.div(x, s.add(s.abs(x), 1.0)))
FLOAT_FORMULA(SiluOp, s.silu(x))
FLOAT_FORMULA(MishOp, s.mish(x))
FLOAT_FORMULA(HardSwishOp, s.hardSwish(x))
FLOAT_FORMULA(GeluOp, s.gelu(x, getApproximate()))
FLOAT_FORMULA(LeakyReluOp, s.belowZero(x, s.mul(x, getAlpha().convertToDouble())))
FLOAT_FORMULA(HardSigmoidOp,
              s.hardSigmoid(x, getAlpha().convertToDouble(), getBeta().convertToDouble()))
FLOAT_FORMULA(IsNanOp, s.op<arith::CmpFOp>(CmpFPredicate::UNO, x, x))
FLOAT_FORMULA(ThresholdedReluOp,
              s.select(s.compare(CmpFPredicate::OGT, x, getAlpha().convertToDouble()), x,
                       s.constant(x, 0.0)))
FLOAT_FORMULA(EluOp, s.belowZero(x, s.mul(s.add(s.exp(x), -1.0), getAlpha().convertToDouble())))
FLOAT_FORMULA(SeluOp,
              s.mul(s.belowZero(x, s.mul(s.add(s.exp(x), -1.0), getAlpha().convertToDouble())),
                    getGamma().convertToDouble()))
#undef FLOAT_FORMULA

Value AbsOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  if (isFloat(args[0]))
    return math::AbsFOp::create(builder, loc, args[0]);
  if (isUnsigned(getInput()))
    return args[0];
  return math::AbsIOp::create(builder, loc, args[0]);
}

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  if (isFloat(args[0]))
    return arith::NegFOp::create(builder, loc, args[0]);
  Value zero = buildScalarConstant(builder, loc, args[0].getType(), 0.0);
  return arith::SubIOp::create(builder, loc, zero, args[0]);
}

Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0];
  if (isFloat(x)) {
    // 0, -0 and NaN stay what they are.
    Value isOther = s.compare(CmpFPredicate::UEQ, x, 0.0);
    return s.select(isOther, x, s.op<math::CopySignOp>(s.constant(x, 1.0), x));
  }
  if (isUnsigned(getInput()))
    return s.op<arith::MinUIOp>(x, s.constant(x, 1.0));
  Value capped = s.op<arith::MinSIOp>(x, s.constant(x, 1.0));
  return s.op<arith::MaxSIOp>(capped, s.constant(x, -1.0));
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloat(args[0]))
    return s.max(args[0], 0.0);
  if (isUnsigned(getInput()))
    return args[0];
  return s.op<arith::MaxSIOp>(args[0], s.constant(args[0], 0.0));
}

Value ClipOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0];
  double low = getMin().convertToDouble(), high = getMax().convertToDouble();
  if (isFloat(x))
    return s.clip(x, low, high);
  bool unsignedElements = isUnsigned(getInput());
  Value least = buildScalarConstant(builder, loc, x.getType(), std::ceil(low), unsignedElements);
  Value most = buildScalarConstant(builder, loc, x.getType(), std::floor(high), unsignedElements);
  if (unsignedElements)
    return s.op<arith::MinUIOp>(s.op<arith::MaxUIOp>(x, least), most);
  return s.op<arith::MinSIOp>(s.op<arith::MaxSIOp>(x, least), most);
}

Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  Value ones = buildScalarConstant(builder, loc, args[0].getType(), 1.0, /*isUnsigned=*/true);
  return arith::XOrIOp::create(builder, loc, args[0], ones);
}

Value PReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0], slope = args[1];
  if (isFloat(x))
    return s.prelu(x, slope);
  if (isUnsigned(getLhs()))
    return x;
  Value isNegative = s.op<arith::CmpIOp>(CmpIPredicate::slt, x, s.constant(x, 0.0));
  return s.select(isNegative, s.op<arith::MulIOp>(x, slope), x);
}

/// Builds integer quotients and remainders that are defined for all operands, where processors
/// would trap: division by zero yields 0, the minimum by -1 wraps.
template <typename SignedOp, typename UnsignedOp>
static Value buildDivision(ScalarBuilder s, bool isUnsigned, Value dividend, Value divisor) {
  Value zero = s.constant(divisor, 0.0), one = s.constant(divisor, 1.0);
  Value isZero = s.op<arith::CmpIOp>(CmpIPredicate::eq, divisor, zero);
  if (isUnsigned)
    return s.select(isZero, zero, s.op<UnsignedOp>(dividend, s.select(isZero, one, divisor)));
  Value isMinusOne = s.op<arith::CmpIOp>(CmpIPredicate::eq, divisor, s.constant(divisor, -1.0));
  Value safe = s.select(s.op<arith::OrIOp>(isZero, isMinusOne), one, divisor);
  Value result = s.op<SignedOp>(dividend, safe);
  // The remainder of 1 is that of -1 and what is wanted for 0.
  if constexpr (std::is_same_v<SignedOp, arith::RemSIOp>)
    return result;
  Value negated = s.op<arith::SubIOp>(zero, dividend);
  return s.select(isZero, zero, s.select(isMinusOne, negated, result));
}

Value DivOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloat(args[0]))
    return s.div(args[0], args[1]);
  return buildDivision<arith::DivSIOp, arith::DivUIOp>(s, isUnsigned(getLhs()), args[0], args[1]);
}

Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloat(args[0]))
    return s.op<math::PowFOp>(args[0], args[1]);
  Type type = args[0].getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (!isUnsigned(getLhs()) || width >= 64)
    return s.op<math::IPowIOp>(args[0], args[1]);
  // The exponent is taken as signed: in twice the width none is negative.
  Type wide = builder.getIntegerType(2 * width);
  if (auto vector = dyn_cast<VectorType>(type))
    wide = vector.clone(wide);
  Value power =
      s.op<math::IPowIOp>(s.op<arith::ExtUIOp>(wide, args[0]), s.op<arith::ExtUIOp>(wide, args[1]));
  return s.op<arith::TruncIOp>(type, power);
}

Value ModOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value remainder = isFloat(args[0]) ? s.op<arith::RemFOp>(args[0], args[1])
                                     : buildDivision<arith::RemSIOp, arith::RemUIOp>(
                                           s, isUnsigned(getLhs()), args[0], args[1]);
  if (getFmod() || isUnsigned(getLhs()))
    return remainder;
  // The machine's remainder has the sign of the dividend. Where that is not
  // the sign of the divisor, one more divisor makes it so.
  if (isFloat(remainder)) {
    Value zero = s.constant(remainder, 0.0);
    Value isBelow = s.op<arith::CmpFOp>(CmpFPredicate::OLT, remainder, zero);
    Value divisorBelow = s.op<arith::CmpFOp>(CmpFPredicate::OLT, args[1], zero);
    Value isNonZero = s.op<arith::CmpFOp>(CmpFPredicate::ONE, remainder, zero);
    Value differ = s.op<arith::AndIOp>(s.op<arith::XOrIOp>(isBelow, divisorBelow), isNonZero);
    return s.select(differ, s.add(remainder, args[1]), remainder);
  }
  Value zero = s.constant(remainder, 0.0);
  Value isBelow = s.op<arith::CmpIOp>(CmpIPredicate::slt, remainder, zero);
  Value divisorBelow = s.op<arith::CmpIOp>(CmpIPredicate::slt, args[1], zero);
  Value isNonZero = s.op<arith::CmpIOp>(CmpIPredicate::ne, remainder, zero);
  Value differ = s.op<arith::AndIOp>(s.op<arith::XOrIOp>(isBelow, divisorBelow), isNonZero);
  return s.select(differ, s.op<arith::AddIOp>(remainder, args[1]), remainder);
}

Value CompareOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  // In the order of ComparePredicate. A comparison with NaN is false, != true.
  static constexpr CmpFPredicate floats[] = {CmpFPredicate::OEQ, CmpFPredicate::UNE,
                                             CmpFPredicate::OLT, CmpFPredicate::OLE,
                                             CmpFPredicate::OGT, CmpFPredicate::OGE};
  static constexpr CmpIPredicate signeds[] = {CmpIPredicate::eq,  CmpIPredicate::ne,
                                              CmpIPredicate::slt, CmpIPredicate::sle,
                                              CmpIPredicate::sgt, CmpIPredicate::sge};
  static constexpr CmpIPredicate unsigneds[] = {CmpIPredicate::eq,  CmpIPredicate::ne,
                                                CmpIPredicate::ult, CmpIPredicate::ule,
                                                CmpIPredicate::ugt, CmpIPredicate::uge};
  auto index = static_cast<size_t>(getPredicate());
  if (isFloat(args[0]))
    return s.op<arith::CmpFOp>(floats[index], args[0], args[1]);
  return s.op<arith::CmpIOp>((isUnsigned(getLhs()) ? unsigneds : signeds)[index], args[0], args[1]);
}

Value WhereOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
}

//===----------------------------------------------------------------------===//
// cast
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  auto input = getInput().getType(), result = getType();
  if (failed(verifyCompatibleShape(input, result)))
    return emitOpError() << "keeps the shape, but input is " << input << " and result is "
                         << result;
  for (RankedTensorType type : {input, result})
    if (!type.getElementType().isIntOrFloat())
      return emitOpError() << "expects bool, integer or floating-point elements, but has " << type;
  return success();
}

Value CastOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0];
  Type from = elementOf(getInput()), to = elementOf(getResult());
  Type target = getScalarType(to);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    target = vector.clone(target);
  if (x.getType() == target)
    return x;
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (to.isInteger(1)) {
    if (isFloat(x))
      return s.compare(CmpFPredicate::UNE, x, 0.0);
    return s.op<arith::CmpIOp>(CmpIPredicate::ne, x, s.constant(x, 0.0));
  }
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (fromWidth < toWidth)
      return s.op<arith::ExtFOp>(target, x);
    if (fromWidth > toWidth)
      return s.op<arith::TruncFOp>(target, x);
    // Two formats of one width (f16 and bf16) meet in f32.
    Type wide = builder.getF32Type();
    if (auto vector = dyn_cast<VectorType>(target))
      wide = vector.clone(wide);
    return s.op<arith::TruncFOp>(target, s.op<arith::ExtFOp>(wide, x));
  }
  if (isa<FloatType>(from))
    return to.isUnsignedInteger() ? s.op<arith::FPToUIOp>(target, x)
                                  : s.op<arith::FPToSIOp>(target, x);
  if (isa<FloatType>(to))
    return isUnsigned(getInput()) ? s.op<arith::UIToFPOp>(target, x)
                                  : s.op<arith::SIToFPOp>(target, x);
  if (fromWidth > toWidth)
    return s.op<arith::TruncIOp>(target, x);
  return isUnsigned(getInput()) ? s.op<arith::ExtUIOp>(target, x) : s.op<arith::ExtSIOp>(target, x);
}
