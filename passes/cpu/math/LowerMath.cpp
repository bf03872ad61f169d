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
#include "mlir/IR/Matchers.h"
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

/// Divides vectors of integers as floats, which have an instruction. Rounded to f32, the quotient
/// of integers of 16 bits is below the next whole number where the exact one is, and so is that of
/// 32 bits in f64. Elements of 64 bits are divided so where they are below 2^51, and where the
/// level converts them; else one by one. What divides by zero or overflows is undefined before as
/// well.
template <typename Op> struct DivideAsFloats : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  static constexpr bool isSigned =
      std::is_same_v<Op, arith::DivSIOp> || std::is_same_v<Op, arith::RemSIOp>;
  static constexpr bool isQuotient =
      std::is_same_v<Op, arith::DivSIOp> || std::is_same_v<Op, arith::DivUIOp>;
  /// Marks a division that stays as it is.
  static constexpr StringLiteral kKept = "cpu.one_by_one";

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || op->hasAttr(kKept) || matchPattern(op.getRhs(), m_Constant()))
      return rewriter.notifyMatchFailure(op, "no vector, or a constant, which is multiplied by");
    const unsigned bits = type.getElementTypeBitWidth();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getLhs(), y = op.getRhs();
    if (bits <= 32) {
      rewriter.replaceOp(op, divide(b, x, y, bits <= 16 ? b.getF32Type() : b.getF64Type()));
      return success();
    }
    if (bits != 64 || levelOf(op).getLanes() < 16)
      return rewriter.notifyMatchFailure(op, "not converted by an instruction");
    auto isSmall = [&](Value value) -> Value {
      constexpr int64_t limit = int64_t(1) << 51;
      auto all = [&](int64_t number) -> Value {
        return arith::ConstantOp::create(
            b, DenseElementsAttr::get(type, b.getI64IntegerAttr(number).getValue()));
      };
      Value shifted = arith::AddIOp::create(b, value, all(isSigned ? limit : 0));
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, shifted,
                                   all(isSigned ? 2 * limit : limit));
    };
    Value lanes = arith::AndIOp::create(b, isSmall(x), isSmall(y));
    Value isFast = vector::ReductionOp::create(b, vector::CombiningKind::AND, lanes);
    auto ifOp = scf::IfOp::create(
        b, isFast,
        [&](OpBuilder &inner, Location loc) {
          ImplicitLocOpBuilder own(loc, inner);
          scf::YieldOp::create(own, divide(own, x, y, own.getF64Type()));
        },
        [&](OpBuilder &inner, Location loc) {
          auto kept = Op::create(inner, loc, x, y);
          kept->setAttr(kKept, inner.getUnitAttr());
          scf::YieldOp::create(inner, loc, kept.getResult());
        });
    rewriter.replaceOp(op, ifOp.getResults());
    return success();
  }

private:
  static Value divide(ImplicitLocOpBuilder &b, Value x, Value y, Type element) {
    Type type = x.getType(), floats = withElement(type, element);
    Value quotient;
    if constexpr (isSigned) {
      quotient = arith::DivFOp::create(b, arith::SIToFPOp::create(b, floats, x),
                                       arith::SIToFPOp::create(b, floats, y));
      quotient = arith::FPToSIOp::create(b, type, quotient);
    } else {
      quotient = arith::DivFOp::create(b, arith::UIToFPOp::create(b, floats, x),
                                       arith::UIToFPOp::create(b, floats, y));
      quotient = arith::FPToUIOp::create(b, type, quotient);
    }
    if (isQuotient)
      return quotient;
    return arith::SubIOp::create(b, x, arith::MulIOp::create(b, quotient, y));
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
    shared.add<LowerErf, LowerRemF, DivideAsFloats<arith::DivSIOp>, DivideAsFloats<arith::DivUIOp>,
               DivideAsFloats<arith::RemSIOp>, DivideAsFloats<arith::RemUIOp>>(context);
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
