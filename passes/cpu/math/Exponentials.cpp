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
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
    auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
      return arith::CmpFOp::create(b, predicate, op.getOperand(), number(bound));
    };

    // Above 89 e^x is infinite, and so is e^89.
    Value x = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OGT, 89), number(89),
                                      op.getOperand());
    // Below ln(2^-126) it is subnormal, and zero here as in the general expansion. The lanes are
    // masked: a result that underflows takes some processors a hundred times as long, and the
    // 1 + e^-x of gates is full of them.
    Value isNormal = compare(arith::CmpFPredicate::UGE, -87.3365402);
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
    rewriter.replaceOp(op, scaled(b, sum, n, isNormal));
    return success();
  }

private:
  /// Returns x * 2^n for whole n in the lanes of `mask`, and zero in the others.
  static Value scaled(ImplicitLocOpBuilder &b, Value x, Value n, Value mask) {
    constexpr int32_t currentRounding = 4;
    Value bits = vector::BitCastOp::create(b, VectorType::get({1}, b.getI16Type()), mask);
    Value lanes = vector::ExtractOp::create(b, bits, 0);
    Value zero = splat(b, x.getType(), 0.0);
    Value rounding =
        LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(currentRounding));
    return LLVM::CallIntrinsicOp::create(b, x.getType(),
                                         b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                         ValueRange{x, n, zero, lanes, rounding})
        .getResult(0);
  }
};

} // namespace

void populateExponentialPatterns(RewritePatternSet &patterns) {
  patterns.add<ScaleByExponent>(patterns.getContext());
}

} // namespace atc::cpu
