//===-- SaturatingCasts.cpp - floats to int8 by saturating instructions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/SaturatingCasts.h"

#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// Floats of one AVX register.
constexpr int64_t kWidth = 8;

/// Returns the value of a splat if it is a small integer.
std::optional<int64_t> wholeNumber(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return std::nullopt;
  double number = splat.getSplatValue<APFloat>().convertToDouble();
  int64_t whole = std::abs(number) <= 512 ? static_cast<int64_t>(number) : 0;
  return whole == number ? std::optional(whole) : std::nullopt;
}

/// saturate(round(source) + zeroPoint) to [low, high].
struct Rounded {
  Value source;
  int64_t zeroPoint = 0, low = 0, high = 0;

  static std::optional<Rounded> of(Value value) {
    Rounded all;
    auto bound = [&](auto op, int64_t &number) {
      std::optional<int64_t> whole;
      if (op && bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::nnan))
        whole = wholeNumber(op.getRhs());
      if (whole) {
        number = *whole;
        value = op.getLhs();
      }
      return whole.has_value();
    };
    if (!bound(value.getDefiningOp<arith::MinimumFOp>(), all.high) ||
        !bound(value.getDefiningOp<arith::MaximumFOp>(), all.low))
      return std::nullopt;
    if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
      std::optional<int64_t> zeroPoint = wholeNumber(sum.getRhs());
      if (!zeroPoint)
        return std::nullopt;
      all.zeroPoint = *zeroPoint;
      value = sum.getLhs();
    }
    auto rounded = value.getDefiningOp<math::RoundEvenOp>();
    if (!rounded)
      return std::nullopt;
    all.source = rounded.getOperand();
    return all;
  }
};

arith::FastMathFlagsAttr noNans(MLIRContext *context) {
  return arith::FastMathFlagsAttr::get(context,
                                       arith::FastMathFlags::nnan | arith::FastMathFlags::nsz);
}

/// Simplifies a quantization that is dequantized at once: the bounds are shifted by the zero point
/// instead of the value, which would be shifted back.
struct DropZeroPoint : OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubFOp op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> back = wholeNumber(op.getRhs());
    std::optional<Rounded> rounded = Rounded::of(op.getLhs());
    if (!back || !rounded || rounded->zeroPoint == 0 || rounded->zeroPoint != *back)
      return rewriter.notifyMatchFailure(op, "not a zero point that is taken back");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto bound = [&](int64_t number) { return splat(b, op.getType(), number - *back); };
    Value x = math::RoundEvenOp::create(b, rounded->source);
    x = arith::MaximumFOp::create(b, x, bound(rounded->low), noNans(b.getContext()));
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, x, bound(rounded->high),
                                                   noNans(b.getContext()));
    return success();
  }
};

template <typename CastOp> struct PackBytes : OpRewritePattern<CastOp> {
  using OpRewritePattern<CastOp>::OpRewritePattern;
  static constexpr bool isUnsigned = std::is_same_v<CastOp, arith::FPToUIOp>;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    LevelAttr level = levelOf(op);
    if (level.getDot().empty() || level.getLanes() < kWidth)
      return rewriter.notifyMatchFailure(op, "the level has no AVX");
    if (!type || !type.getElementType().isInteger(8) || type.getRank() != 1 ||
        type.getDimSize(0) % kWidth || !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "no whole vectors of f32 that become bytes");
    std::optional<Rounded> rounded = Rounded::of(op.getIn());
    constexpr int64_t least = isUnsigned ? 0 : -128, most = isUnsigned ? 255 : 127;
    if (!rounded || rounded->low < least || rounded->high > most || rounded->low > rounded->high)
      return rewriter.notifyMatchFailure(op, "not rounded and cut to a part of the bytes");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto vectorOf = [&](unsigned bits) { return type.clone(b.getIntegerType(bits)); };
    auto limit = [&](int64_t number) {
      return splat(b, rounded->source.getType(), number - rounded->zeroPoint);
    };
    // Values too large for the conversion become the minimum integer; for values that are too small
    // that is correct, so only the upper bound is applied here.
    Value x =
        arith::MinimumFOp::create(b, rounded->source, limit(rounded->high), noNans(b.getContext()));
    if (rounded->low > least)
      x = arith::MaximumFOp::create(b, x, limit(rounded->low), noNans(b.getContext()));
    Value words = arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(32)));
    for (int64_t first = 0; first < type.getDimSize(0); first += kWidth) {
      Value part = vector::ExtractStridedSliceOp::create(
          b, x, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{kWidth}, ArrayRef<int64_t>{1});
      part = LLVM::CallIntrinsicOp::create(b, VectorType::get({kWidth}, b.getI32Type()),
                                           b.getStringAttr("llvm.x86.avx.cvt.ps2dq.256"), part)
                 .getResult(0);
      words = vector::InsertStridedSliceOp::create(b, part, words, ArrayRef<int64_t>{first},
                                                   ArrayRef<int64_t>{1});
    }
    // Code generation combines a clamp and a truncation into packing instructions.
    auto narrowed = [&](Value value, unsigned bits, int64_t low, int64_t high) -> Value {
      value = arith::MaxSIOp::create(b, value, splat(b, value.getType(), low));
      value = arith::MinSIOp::create(b, value, splat(b, value.getType(), high));
      return arith::TruncIOp::create(b, vectorOf(bits), value);
    };
    if (rounded->zeroPoint != 0) {
      Value shorts = narrowed(words, 16, INT16_MIN, INT16_MAX);
      Value zeroPoint = splat(b, vectorOf(16), rounded->zeroPoint);
      words = LLVM::SAddSat::create(b, vectorOf(16), shorts, zeroPoint);
    }
    rewriter.replaceOp(op, narrowed(words, 8, least, most));
    return success();
  }
};

} // namespace

void populateSaturatingCastPatterns(RewritePatternSet &patterns) {
  patterns.add<DropZeroPoint, PackBytes<arith::FPToUIOp>, PackBytes<arith::FPToSIOp>>(
      patterns.getContext());
}

} // namespace atc::cpu
