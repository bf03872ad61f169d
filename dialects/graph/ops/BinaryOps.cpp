//===-- BinaryOps.cpp - scalar code and folds of ops of several operands ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"

#include "dialects/graph/ops/RegisterOps.h"
#include "dialects/graph/scalar/ScalarBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace atc::graph;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

#define GET_OP_CLASSES
#include "dialects/graph/ops/BinaryOps.cpp.inc"

void atc::graph::registerBinaryOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/BinaryOps.cpp.inc"
      >(dialect);
}

/// Builds the one of three operations that fits the element type.
template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static Value buildByType(OpBuilder &builder, Location loc, Value tensor, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloatScalar(args[0]))
    return s.op<FloatOp>(args[0], args[1]);
  if (hasUnsignedElements(tensor))
    return s.op<UnsignedOp>(args[0], args[1]);
  return s.op<SignedOp>(args[0], args[1]);
}

//===----------------------------------------------------------------------===//
// Operators that are one operation of math or arith
//===----------------------------------------------------------------------===//

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

Value PReluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  Value x = args[0], slope = args[1];
  if (isFloatScalar(x))
    return s.prelu(x, slope);
  if (hasUnsignedElements(getLhs()))
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
  if (isFloatScalar(args[0]))
    return s.div(args[0], args[1]);
  return buildDivision<arith::DivSIOp, arith::DivUIOp>(s, hasUnsignedElements(getLhs()), args[0],
                                                       args[1]);
}

Value PowOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  ScalarBuilder s{builder, loc};
  if (isFloatScalar(args[0]))
    return s.op<math::PowFOp>(args[0], args[1]);
  Type type = args[0].getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (!hasUnsignedElements(getLhs()) || width >= 64)
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
  Value remainder = isFloatScalar(args[0])
                        ? s.op<arith::RemFOp>(args[0], args[1])
                        : buildDivision<arith::RemSIOp, arith::RemUIOp>(
                              s, hasUnsignedElements(getLhs()), args[0], args[1]);
  if (getFmod() || hasUnsignedElements(getLhs()))
    return remainder;
  // The machine's remainder has the sign of the dividend. Where that is not
  // the sign of the divisor, one more divisor makes it so.
  if (isFloatScalar(remainder)) {
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
  if (isFloatScalar(args[0]))
    return s.op<arith::CmpFOp>(floats[index], args[0], args[1]);
  return s.op<arith::CmpIOp>((hasUnsignedElements(getLhs()) ? unsigneds : signeds)[index], args[0],
                             args[1]);
}

Value WhereOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Returns whether `attribute` is a constant whose elements are all `expected`.
static bool isSplatOf(Attribute attribute, double expected) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isExactlyValue(expected);
  if (auto type = dyn_cast<IntegerType>(dense.getElementType()); type && type.getWidth() > 1)
    return dense.getSplatValue<APInt>() == static_cast<uint64_t>(expected);
  return false;
}

/// `value` when `attribute` is the constant that changes nothing and the result
/// has the very type of `value` (no broadcast, no other layout).
static OpFoldResult foldNeutral(Value value, Attribute attribute, double neutral, Type result) {
  return value.getType() == result && isSplatOf(attribute, neutral) ? value : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (auto folded = foldNeutral(getLhs(), adaptor.getRhs(), 0.0, getType()))
    return folded;
  return foldNeutral(getRhs(), adaptor.getLhs(), 0.0, getType());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(getLhs(), adaptor.getRhs(), 0.0, getType());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (auto folded = foldNeutral(getLhs(), adaptor.getRhs(), 1.0, getType()))
    return folded;
  return foldNeutral(getRhs(), adaptor.getLhs(), 1.0, getType());
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(getLhs(), adaptor.getRhs(), 1.0, getType());
}
