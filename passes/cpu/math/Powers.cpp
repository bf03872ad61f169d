//===-- Powers.cpp - powers of floats without a library -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/Powers.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

/// Whole exponents up to this one are products.
constexpr double kMaxProducts = 16;

struct LowerPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    llvm::APFloat exponent(0.0);
    Value result;
    Value y = op.getRhs();
    // The exponent of a power of f16 that is computed in f32 is still an extension of a constant.
    if (auto extended = y.getDefiningOp<arith::ExtFOp>())
      y = extended.getIn();
    if (matchPattern(y, m_ConstantFloat(&exponent)))
      result = ofConstant(b, op.getLhs(), exponent.convertToDouble());
    rewriter.replaceOp(op, result ? result : general(b, op.getLhs(), op.getRhs()));
    return success();
  }

private:
  /// Returns x to a constant power, or null where no short form of it is known.
  static Value ofConstant(ImplicitLocOpBuilder &b, Value x, double exponent) {
    auto inverse = [&](Value value) -> Value {
      return arith::DivFOp::create(b, splat(b, x.getType(), 1.0), value);
    };
    if (std::abs(exponent) == 0.5) {
      Value root = math::SqrtOp::create(b, x);
      return exponent < 0 ? inverse(root) : root;
    }
    const double whole = std::abs(exponent);
    if (whole != std::floor(whole) || whole < 1 || whole > kMaxProducts)
      return {};
    Value product, square = x;
    for (int rest = int(whole); rest; rest /= 2) {
      if (rest & 1)
        product = product ? arith::MulFOp::create(b, product, square).getResult() : square;
      if (rest > 1)
        square = arith::MulFOp::create(b, square, square);
    }
    return exponent < 0 ? inverse(product) : product;
  }

  /// Returns exp(y log |x|) with the sign of x where y is odd. The logarithm knows nothing of
  /// negative numbers, and 0 * infinity is none of the powers that are 1.
  static Value general(ImplicitLocOpBuilder &b, Value x, Value y) {
    Type type = x.getType();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value zero = splat(b, type, 0.0), one = splat(b, type, 1.0), half = splat(b, type, 0.5);
    auto select = [&](Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(b, condition, yes, no);
    };
    auto compare = [&](arith::CmpFPredicate predicate, Value left, Value right) -> Value {
      return arith::CmpFOp::create(b, predicate, left, right);
    };
    auto both = [&](Value left, Value right) -> Value {
      return arith::AndIOp::create(b, left, right);
    };
    using enum arith::CmpFPredicate;
    Value magnitude = math::AbsFOp::create(b, x);
    Value result = math::ExpOp::create(
        b, arith::MulFOp::create(b, y, math::LogOp::create(b, magnitude).getResult()).getResult());
    Value ofZero = select(compare(OLT, y, zero), splat(b, type, infinity), y);
    ofZero = select(compare(OGT, y, zero), zero, ofZero);
    result = select(compare(OEQ, magnitude, zero), ofZero, result);
    // 1 to the power of NaN is 1, and so is -1 to that of an infinity.
    Value isUnit = both(compare(OEQ, magnitude, one), compare(ORD, y, y));
    Value isOne = arith::OrIOp::create(b, compare(OEQ, y, zero), compare(OEQ, x, one));
    isOne = arith::OrIOp::create(b, isOne, isUnit);
    result = select(isOne, one, result);

    Value floor = math::FloorOp::create(b, y);
    Value isWhole = compare(OEQ, floor, y);
    Value halved = arith::MulFOp::create(b, y, half);
    Value isOdd = both(isWhole, compare(ONE, math::FloorOp::create(b, halved), halved));
    result = select(isOdd, math::CopySignOp::create(b, result, x), result);
    Value isNegative = both(compare(OLT, x, zero), compare(OGT, x, splat(b, type, -infinity)));
    Value isFraction = compare(ONE, floor, y);
    return select(both(isNegative, isFraction),
                  splat(b, type, std::numeric_limits<double>::quiet_NaN()), result);
  }
};

} // namespace

void populatePowerPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerPow>(patterns.getContext());
}

} // namespace atc::cpu
