//===-- LowerMath.cpp - math functions without a library ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/ErrorFunction.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/math/Angles.h"
#include "passes/cpu/math/ByteTables.h"
#include "passes/cpu/math/DoubleMath.h"
#include "passes/cpu/math/Exponentials.h"
#include "passes/cpu/math/Powers.h"
#include "passes/cpu/math/SaturatingCasts.h"
#include "passes/cpu/math/SmallFloats.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPULOWERMATH
#include "passes/cpu/Passes.h.inc"

namespace {

/// Lowers remf, for which the processor has no instruction. In f64 the quotient of two f32 values
/// is exact enough to be off by at most one, which the sign of the remainder shows.
struct LowerRemF : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (width > 64)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = withElement(type, b.getF64Type());
    auto extend = [&](Value value) -> Value {
      return width == 64 ? value : arith::ExtFOp::create(b, wide, value).getResult();
    };
    Value x = extend(op.getLhs()), y = math::AbsFOp::create(b, extend(op.getRhs()));
    Value zero = splat(b, wide, 0.0);
    Value magnitude = math::AbsFOp::create(b, x);
    Value quotient = math::TruncOp::create(b, arith::DivFOp::create(b, magnitude, y));
    Value rest = arith::SubFOp::create(b, magnitude, arith::MulFOp::create(b, quotient, y));
    Value low = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, rest, zero);
    rest = arith::SelectOp::create(b, low, arith::AddFOp::create(b, rest, y), rest);
    Value high = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, rest, y);
    rest = arith::SelectOp::create(b, high, arith::SubFOp::create(b, rest, y), rest);
    // A finite value modulo infinity is itself; infinity / infinity is NaN.
    Value smaller = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude, y);
    rest = arith::SelectOp::create(b, smaller, magnitude, rest);
    Value result = math::CopySignOp::create(b, rest, x);
    if (width != 64)
      result = arith::TruncFOp::create(b, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Lowers erf(x) to x P(x^2) / Q(x^2). Without intervals there are no coefficients to select: it is
/// a third of the instructions of a piecewise form, which is what the activations of a transformer
/// cost.
struct LowerErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto clamp = [&](Value x, double end) -> Value {
      // Comparisons with NaN are false, and leave it.
      Value high = splat(b, type, end), low = splat(b, type, -end);
      Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, high);
      x = arith::SelectOp::create(b, isAbove, high, x);
      Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, low);
      return arith::SelectOp::create(b, isBelow, low, x);
    };
    Value x = clamp(op.getOperand(), kErfEnd), square = arith::MulFOp::create(b, x, x);
    auto polynomial = [&](ArrayRef<double> coefficients) {
      Value sum = splat(b, type, coefficients.back());
      for (double coefficient : llvm::reverse(coefficients.drop_back()))
        sum = math::FmaOp::create(b, sum, square, splat(b, type, coefficient));
      return sum;
    };
    Value numerator = arith::MulFOp::create(b, x, polynomial(kErfNumerator));
    Value quotient = arith::DivFOp::create(b, numerator, polynomial(kErfDenominator));
    rewriter.replaceOp(op, clamp(quotient, 1.0)); // rounding may exceed 1
    return success();
  }
};

/// Without FMA instructions a fused multiply-add would be a library call.
template <typename FmaOp> struct SplitFma : OpRewritePattern<FmaOp> {
  using OpRewritePattern<FmaOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(FmaOp op, PatternRewriter &rewriter) const override {
    auto [a, b, c] = std::tuple(op->getOperand(0), op->getOperand(1), op->getOperand(2));
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), a, b);
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, c);
    return success();
  }
};

struct LowerMathPass : impl::CpuLowerMathBase<LowerMathPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet shared(context);
    // Functions with instructions (sqrt, floor, ceil, trunc, roundeven, copysign, fabs) are not
    // lowered.
    static constexpr StringLiteral approximated[] = {
        "math.acos", "math.asin",  "math.atan", "math.atan2", "math.cbrt", "math.erf", "math.erfc",
        "math.exp",  "math.expm1", "math.log",  "math.log1p", "math.log2", "math.tanh"};
    auto isApproximated = [](StringRef name) { return llvm::is_contained(approximated, name); };
    populateMathF32ExpansionPatterns(shared, isApproximated);
    populateMathPolynomialApproximationPatterns(
        shared, [&](StringRef name) { return name != "math.erf" && isApproximated(name); });
    math::populateExpansionPatterns(shared,
                                    {"sinh", "cosh", "tan", "exp2", "fpowi", "round", "rsqrt"});
    shared.add<LowerErf, LowerRemF>(context);
    populateAnglePatterns(shared);
    populateByteTablePatterns(shared);
    populateDoubleMathPatterns(shared);
    populateExponentialPatterns(shared);
    populatePowerPatterns(shared);
    populateSmallFloatPatterns(shared);
    populateSaturatingCastPatterns(shared);
    withFma = FrozenRewritePatternSet(std::move(shared));

    RewritePatternSet split(context);
    split.add<SplitFma<math::FmaOp>, SplitFma<vector::FMAOp>>(context);
    populateF16ConversionPatterns(split);
    withoutFma = FrozenRewritePatternSet(std::move(split));
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    if (failed(applyPatternsGreedily(getOperation(), withFma, config)))
      return signalPassFailure();
    if (!levelOf(getOperation()).getFma() &&
        failed(applyPatternsGreedily(getOperation(), withoutFma, config)))
      return signalPassFailure();
  }

private:
  FrozenRewritePatternSet withFma, withoutFma;
};
} // namespace
} // namespace atc::cpu
