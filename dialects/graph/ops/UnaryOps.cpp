//===-- UnaryOps.cpp - scalar code and folds of ops of one operand --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/UnaryOps.h"

#include "dialects/graph/ops/RegisterOps.h"
#include "dialects/graph/scalar/ScalarBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace atc::graph;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

#define GET_OP_CLASSES
#include "dialects/graph/ops/UnaryOps.cpp.inc"

void atc::graph::registerUnaryOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/UnaryOps.cpp.inc"
      >(dialect);
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
  if (isFloatScalar(args[0]))
    return math::AbsFOp::create(builder, loc, args[0]);
  if (hasUnsignedElements(getInput()))
    return args[0];
  return math::AbsIOp::create(builder, loc, args[0]);
}

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  if (isFloatScalar(args[0]))
    return arith::NegFOp::create(builder, loc, args[0]);
  Value zero = buildScalarConstant(builder, loc, args[0].getType(), 0.0);
  return arith::SubIOp::create(builder, loc, zero, args[0]);
}

Value SignOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0];
  if (isFloatScalar(x)) {
    // 0, -0 and NaN stay what they are.
    Value isOther = s.compare(CmpFPredicate::UEQ, x, 0.0);
    return s.select(isOther, x, s.op<math::CopySignOp>(s.constant(x, 1.0), x));
  }
  if (hasUnsignedElements(getInput()))
    return s.op<arith::MinUIOp>(x, s.constant(x, 1.0));
  Value capped = s.op<arith::MinSIOp>(x, s.constant(x, 1.0));
  return s.op<arith::MaxSIOp>(capped, s.constant(x, -1.0));
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloatScalar(args[0]))
    return s.max(args[0], 0.0);
  if (hasUnsignedElements(getInput()))
    return args[0];
  return s.op<arith::MaxSIOp>(args[0], s.constant(args[0], 0.0));
}

Value ClipOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0];
  double low = getMin().convertToDouble(), high = getMax().convertToDouble();
  if (isFloatScalar(x))
    return s.clip(x, low, high);
  bool unsignedElements = hasUnsignedElements(getInput());
  Value min = buildScalarConstant(builder, loc, x.getType(), std::ceil(low), unsignedElements);
  Value max = buildScalarConstant(builder, loc, x.getType(), std::floor(high), unsignedElements);
  if (unsignedElements)
    return s.op<arith::MinUIOp>(s.op<arith::MaxUIOp>(x, min), max);
  return s.op<arith::MinSIOp>(s.op<arith::MaxSIOp>(x, min), max);
}

Value NotOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  Value ones = buildScalarConstant(builder, loc, args[0].getType(), 1.0, /*isUnsigned=*/true);
  return arith::XOrIOp::create(builder, loc, args[0], ones);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// f(f(x)) = x
template <typename Op> static OpFoldResult foldInvolution(Op op) {
  auto inner = op.getInput().template getDefiningOp<Op>();
  return inner && inner.getInput().getType() == op.getType() ? inner.getInput() : OpFoldResult();
}

/// f(f(x)) = f(x)
template <typename Op> static OpFoldResult foldIdempotent(Op op) {
  auto inner = op.getInput().template getDefiningOp<Op>();
  return inner && inner.getType() == op.getType() ? inner.getResult() : OpFoldResult();
}

OpFoldResult NegOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult NotOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult AbsOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldIdempotent(*this); }

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
  Type from = getElementTypeOrSelf(getInput()), to = getElementTypeOrSelf(getResult());
  Type target = getScalarType(to);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    target = vector.clone(target);
  if (x.getType() == target)
    return x;
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (to.isInteger(1)) {
    if (isFloatScalar(x))
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
    return hasUnsignedElements(getInput()) ? s.op<arith::UIToFPOp>(target, x)
                                           : s.op<arith::SIToFPOp>(target, x);
  if (fromWidth > toWidth)
    return s.op<arith::TruncIOp>(target, x);
  return hasUnsignedElements(getInput()) ? s.op<arith::ExtUIOp>(target, x)
                                         : s.op<arith::ExtSIOp>(target, x);
}

/// Returns whether every value of type `from` is a value of type `to`.
static bool isLossless(Type from, Type to) {
  if (auto fromFloat = dyn_cast<FloatType>(from)) {
    auto toFloat = dyn_cast<FloatType>(to);
    return toFloat && llvm::APFloat::isRepresentableBy(fromFloat.getFloatSemantics(),
                                                       toFloat.getFloatSemantics());
  }
  auto fromInteger = cast<IntegerType>(from);
  unsigned width = fromInteger.getWidth();
  bool isUnsigned = fromInteger.isUnsigned() || width == 1;
  if (auto toFloat = dyn_cast<FloatType>(to))
    return toFloat.getFPMantissaWidth() >= width && toFloat.getWidth() >= 16;
  auto toInteger = cast<IntegerType>(to);
  if (toInteger.getWidth() == 1)
    return width == 1;
  if (isUnsigned)
    return toInteger.getWidth() > width ||
           (toInteger.getWidth() == width && toInteger.isUnsigned());
  return toInteger.getWidth() >= width && !toInteger.isUnsigned();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  // There and back again, through a type that loses nothing.
  auto inner = getInput().getDefiningOp<CastOp>();
  if (inner && inner.getInput().getType() == getType() &&
      isLossless(getType().getElementType(), inner.getType().getElementType()))
    return inner.getInput();
  return {};
}
