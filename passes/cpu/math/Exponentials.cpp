//===-- Exponentials.cpp - exp of vectors by AVX-512 ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// e^x = 2^n e^r with n = round(x / ln(2)). One instruction multiplies by 2^n, where the general
// expansion builds the float 2^n of integers and must keep n in the range of its exponents.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/math/Exponentials.h"

#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kLanes = 16;

struct ScaleByExponent : OpRewritePattern<math::ExpOp> {
  explicit ScaleByExponent(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/PatternBenefit(10)) {}

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32() || type.getShape() != ArrayRef(kLanes) ||
        levelOf(op).getLanes() != kLanes || levelOf(op).getDot().empty())
      return rewriter.notifyMatchFailure(op, "is no vector of AVX-512");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto number = [&](double value) { return splat(b, type, value); };
    auto fma = [&](Value x, Value y, Value z) -> Value { return math::FmaOp::create(b, x, y, z); };
    // A NaN is neither above nor below a bound, and stays.
    auto replaced = [&](arith::CmpFPredicate isBeyond, Value x, double bound, double by) -> Value {
      Value beyond = arith::CmpFOp::create(b, isBeyond, number(bound), x);
      return arith::SelectOp::create(b, beyond, number(by), x);
    };

    // Below the first bound e^x is subnormal, and zero is returned: Intel's cores take 150 cycles
    // for a product that is subnormal or almost so, but none for 2^n that is far below, which
    // masked scores and saturated sigmoids have all the time. Above the second it is infinite.
    Value x = replaced(arith::CmpFPredicate::OGT, op.getOperand(), -87.336, -1000);
    x = replaced(arith::CmpFPredicate::OLT, x, 89, 89);
    Value n = math::RoundEvenOp::create(b, arith::MulFOp::create(b, x, number(1 / M_LN2)));
    // The first product is exact.
    constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;
    Value r = fma(n, number(-kLn2Low), fma(n, number(-kLn2High), x));
    // 1 + r + r^2 q(r), whose relative error is at most 3e-9 for |r| <= ln(2) / 2: q fits by least
    // squares, weighted again and again with the error that was left.
    constexpr double coefficients[] = {0x1.6a242ap-10, 0x1.1239e4p-7, 0x1.5558f2p-5,
                                       0x1.555492p-3,  0x1.fffffcp-2, 1};
    Value sum = number(coefficients[0]);
    for (double coefficient : ArrayRef(coefficients).drop_front())
      sum = fma(sum, r, number(coefficient));
    sum = fma(sum, r, number(1));
    rewriter.replaceOp(op, scaled(b, sum, n));
    return success();
  }

private:
  /// Returns x * 2^n for whole n.
  static Value scaled(ImplicitLocOpBuilder &b, Value x, Value n) {
    constexpr int32_t currentRounding = 4;
    Value all = LLVM::ConstantOp::create(b, b.getI16Type(), b.getI16IntegerAttr(-1));
    Value rounding =
        LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(currentRounding));
    return LLVM::CallIntrinsicOp::create(b, x.getType(),
                                         b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                         ValueRange{x, n, x, all, rounding})
        .getResult(0);
  }
};

} // namespace

void populateExponentialPatterns(RewritePatternSet &patterns) {
  patterns.add<ScaleByExponent>(patterns.getContext());
}

} // namespace atc::cpu
