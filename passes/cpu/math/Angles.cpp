//===-- Angles.cpp - trigonometric and inverse hyperbolic functions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/Angles.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::cpu {

namespace {

// A quarter of a turn, pi / 2, in two parts.
constexpr double kQuarterHigh = 0x1.921fb54442d18p+0, kQuarterLow = 0x1.1a62633145c07p-54;
/// From here on the square of a number may overflow, and 1 is nothing beside it.
constexpr double kLarge = 1e9;

/// Expands a sine or cosine of f32. The angle is reduced in f64: positions of a long sequence are
/// angles of many turns, of which f32 would leave only a few bits.
template <typename AngleOp> struct LowerAngle : OpRewritePattern<AngleOp> {
  using OpRewritePattern<AngleOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AngleOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = b.getF64Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    auto number = [&](double value) { return splat(b, wide, value); };
    auto fma = [&](Value x, Value y, Value z) -> Value { return math::FmaOp::create(b, x, y, z); };
    auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpFOp::create(b, predicate, x, y);
    };
    using enum arith::CmpFPredicate;

    Value x = arith::ExtFOp::create(b, wide, op.getOperand());
    Value quarters = math::RoundEvenOp::create(b, arith::MulFOp::create(b, x, number(2 / M_PI)));
    Value back = arith::NegFOp::create(b, quarters);
    Value rest = fma(back, number(kQuarterLow), fma(back, number(kQuarterHigh), x));
    // Angles beyond 2^52 quarters have no significant bits left; the clamp keeps their results
    // between -1 and 1.
    rest = arith::SelectOp::create(b, compare(OGT, rest, number(1)), number(1), rest);
    rest = arith::SelectOp::create(b, compare(OLT, rest, number(-1)), number(-1), rest);
    if (std::is_same_v<AngleOp, math::CosOp>)
      quarters = arith::AddFOp::create(b, quarters, number(1));
    Value turns =
        math::FloorOp::create(b, arith::MulFOp::create(b, quarters, number(0.25)).getResult());
    Value quadrant = fma(turns, number(-4), quarters);

    Value r = arith::TruncFOp::create(b, type, rest), square = arith::MulFOp::create(b, r, r);
    auto polynomial = [&](ArrayRef<double> coefficients) {
      Value sum = splat(b, type, coefficients.back());
      for (double coefficient : llvm::reverse(coefficients.drop_back()))
        sum = fma(sum, square, splat(b, type, coefficient));
      return sum;
    };
    // The polynomials that differ least from the functions between -pi / 4 and pi / 4.
    Value cube = arith::MulFOp::create(b, r, square);
    Value sine = fma(
        polynomial({-0.16666655242443085, 0.008332173340022564, -0.0001951665326487273}), cube, r);
    Value cosine =
        polynomial({1.0, -0.5, 0.04166664555668831, -0.001388736185617745, 2.4437727915938012e-05});
    Value isOdd = arith::OrIOp::create(b, compare(OEQ, quadrant, number(1)),
                                       compare(OEQ, quadrant, number(3)));
    Value value = arith::SelectOp::create(b, isOdd, cosine, sine);
    Value isLater = compare(OGE, quadrant, number(2));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isLater, arith::NegFOp::create(b, value),
                                                 value);
    return success();
  }
};

/// Builds what the inverse hyperbolic functions consist of.
struct InverseBuilder : ImplicitLocOpBuilder {
  InverseBuilder(Operation *op, OpBuilder &builder)
      : ImplicitLocOpBuilder(op->getLoc(), builder), type(op->getResult(0).getType()) {}

  Value number(double value) { return splat(*this, type, value); }
  Value add(Value x, Value y) { return arith::AddFOp::create(*this, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(*this, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(*this, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(*this, x, y); }
  Value abs(Value x) { return math::AbsFOp::create(*this, x); }
  Value root(Value x) { return math::SqrtOp::create(*this, x); }
  Value logOfOneMore(Value x) { return math::Log1pOp::create(*this, x); }
  Value select(arith::CmpFPredicate predicate, Value x, double limit, Value yes, Value no) {
    Value condition = arith::CmpFOp::create(*this, predicate, x, number(limit));
    return arith::SelectOp::create(*this, condition, yes, no);
  }
  /// Returns log(2 x) where x is large, and `value` elsewhere.
  Value unlessLarge(Value x, Value value) {
    Value doubled = add(math::LogOp::create(*this, x), number(M_LN2));
    return select(arith::CmpFPredicate::OGT, x, kLarge, doubled, value);
  }
  Value withSign(Value magnitude, Value x) { return math::CopySignOp::create(*this, magnitude, x); }

  Type type;
};

/// asinh(x) = sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))): no cancellation, for small and for
/// negative x.
struct LowerAsinh : OpRewritePattern<math::AsinhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AsinhOp op, PatternRewriter &rewriter) const override {
    InverseBuilder b(op, rewriter);
    Value x = op.getOperand(), magnitude = b.abs(x), square = b.mul(x, x), one = b.number(1);
    Value rest = b.div(square, b.add(one, b.root(b.add(square, one))));
    Value value = b.logOfOneMore(b.add(magnitude, rest));
    rewriter.replaceOp(op, b.withSign(b.unlessLarge(magnitude, value), x));
    return success();
  }
};

/// acosh(1 + t) = log1p(t + sqrt(2t + t^2)).
struct LowerAcosh : OpRewritePattern<math::AcoshOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AcoshOp op, PatternRewriter &rewriter) const override {
    InverseBuilder b(op, rewriter);
    Value x = op.getOperand(), t = b.sub(x, b.number(1));
    Value root = b.root(b.add(b.add(t, t), b.mul(t, t)));
    Value value = b.unlessLarge(x, b.logOfOneMore(b.add(t, root)));
    Value none = b.number(std::numeric_limits<double>::quiet_NaN());
    rewriter.replaceOp(op, b.select(arith::CmpFPredicate::OLT, x, 1, none, value));
    return success();
  }
};

/// atanh(x) = sign(x) log1p(2|x| / (1 - |x|)) / 2: no cancellation for negative x.
struct LowerAtanh : OpRewritePattern<math::AtanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AtanhOp op, PatternRewriter &rewriter) const override {
    InverseBuilder b(op, rewriter);
    Value x = op.getOperand(), magnitude = b.abs(x);
    Value quotient = b.div(b.add(magnitude, magnitude), b.sub(b.number(1), magnitude));
    Value value = b.mul(b.logOfOneMore(quotient), b.number(0.5));
    rewriter.replaceOp(op, b.withSign(value, x));
    return success();
  }
};

} // namespace

void populateAnglePatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerAngle<math::SinOp>, LowerAngle<math::CosOp>, LowerAsinh, LowerAcosh, LowerAtanh>(
          patterns.getContext());
}

} // namespace atc::cpu
