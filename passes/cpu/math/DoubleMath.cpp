//===-- DoubleMath.cpp - exp and log of f64 without a library -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/DoubleMath.h"

#include <cmath>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::cpu {
namespace {

// Splits ln(2) in two: a product of the high part with an exponent is exact.
constexpr double ln2High = 0x1.62e42fee00000p-1, ln2Low = 0x1.a39ef35793c76p-33;
constexpr int mantissaBits = 52, exponentBias = 1023;

/// Arithmetic on f64 and its bits, for scalars and vectors.
class DoubleBuilder {
public:
  DoubleBuilder(OpBuilder &builder, Location loc, Type type)
      : b(loc, builder), type(type), bitsType(b.getI64Type()) {
    if (auto vector = dyn_cast<VectorType>(type))
      bitsType = vector.clone(bitsType);
  }

  Value number(double value) { return splat(type, b.getF64FloatAttr(value)); }
  Value bits(int64_t value) { return splat(bitsType, b.getI64IntegerAttr(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value asBits(Value x) { return arith::BitcastOp::create(b, bitsType, x); }
  Value asNumber(Value x) { return arith::BitcastOp::create(b, type, x); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// Coefficients from the highest power down.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = add(mul(sum, x), number(coefficient));
    return sum;
  }

  ImplicitLocOpBuilder b;
  Type type, bitsType;

private:
  Value splat(Type of, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, value);
  }
};

/// e^x = 2^n e^r with |r| <= ln(2) / 2, e^r by its series.
struct LowerExpF64 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    DoubleBuilder b(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    Value isNan = b.compare(arith::CmpFPredicate::UNO, x, x);
    // Beyond these the result is 0 or infinity; a NaN must not reach the integers.
    Value min = b.number(-746.0), max = b.number(710.0);
    Value inRange = b.select(b.compare(arith::CmpFPredicate::OGT, x, min), x, min);
    inRange = b.select(b.compare(arith::CmpFPredicate::OLT, inRange, max), inRange, max);
    Value n = math::RoundEvenOp::create(b.b, b.mul(inRange, b.number(0x1.71547652b82fep0)));
    Value rest = b.sub(inRange, b.mul(n, b.number(ln2High)));
    rest = b.sub(rest, b.mul(n, b.number(ln2Low)));
    SmallVector<double> series{1.0};
    for (int power = 1; power <= 13; ++power)
      series.insert(series.begin(), series.front() / power);
    Value result = b.polynomial(rest, series);
    // Computes 2^n as two factors, because 2^n itself may be subnormal.
    Value exponent = arith::FPToSIOp::create(b.b, b.bitsType, n);
    Value half = arith::ShRSIOp::create(b.b, exponent, b.bits(1));
    for (Value part : {half, arith::SubIOp::create(b.b, exponent, half).getResult()}) {
      Value biased = arith::AddIOp::create(b.b, part, b.bits(exponentBias));
      result = b.mul(result, b.asNumber(arith::ShLIOp::create(b.b, biased, b.bits(mantissaBits))));
    }
    rewriter.replaceOp(op, b.select(isNan, x, result));
    return success();
  }
};

/// ln(2^e m) = e ln(2) + 2 atanh((m - 1) / (m + 1)) with sqrt(1/2) <= m < sqrt(2).
struct LowerLogF64 : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    DoubleBuilder b(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    // Subnormal numbers are scaled by 2^54.
    Value isTiny = b.compare(arith::CmpFPredicate::OLT, x, b.number(0x1p-1022));
    Value normal = b.select(isTiny, b.mul(x, b.number(0x1p54)), x);
    // Counted from sqrt(1/2), the exponent field is that of m.
    constexpr int64_t rootBits = 0x3fe6a09e667f3bcd;
    Value above = arith::SubIOp::create(b.b, b.asBits(normal), b.bits(rootBits));
    Value exponent = arith::ShRSIOp::create(b.b, above, b.bits(mantissaBits));
    Value mantissa = arith::SubIOp::create(
        b.b, b.asBits(normal), arith::ShLIOp::create(b.b, exponent, b.bits(mantissaBits)));
    Value m = b.asNumber(mantissa), one = b.number(1.0);
    Value e = arith::SIToFPOp::create(b.b, b.type, exponent);
    e = b.select(isTiny, b.sub(e, b.number(54.0)), e);
    Value s = b.div(b.sub(m, one), b.add(m, one));
    SmallVector<double> series;
    for (int odd = 21; odd >= 3; odd -= 2)
      series.push_back(2.0 / odd);
    Value square = b.mul(s, s);
    Value tail = b.mul(b.mul(s, square), b.polynomial(square, series));
    Value low = b.add(tail, b.mul(e, b.number(ln2Low)));
    Value result = b.add(b.add(b.mul(e, b.number(ln2High)), b.add(s, s)), low);
    // log(0) is -infinity, infinity and NaN map to themselves, negative values to NaN.
    Value zero = b.number(0.0), infinity = b.number(HUGE_VAL);
    result = b.select(b.compare(arith::CmpFPredicate::OLT, x, infinity), result, x);
    result = b.select(b.compare(arith::CmpFPredicate::OEQ, x, zero), b.number(-HUGE_VAL), result);
    result = b.select(b.compare(arith::CmpFPredicate::OLT, x, zero), b.number(NAN), result);
    rewriter.replaceOp(op, b.select(b.compare(arith::CmpFPredicate::UNO, x, x), x, result));
    return success();
  }
};

} // namespace

void populateDoubleMathPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerExpF64, LowerLogF64>(patterns.getContext());
}

} // namespace atc::cpu
