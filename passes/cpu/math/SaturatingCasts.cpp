//===-- SaturatingCasts.cpp - floats to int8 by saturating instructions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/math/SaturatingCasts.h"

#include "kernels/core/Reciprocal.h"
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

/// Floats of one AVX register, and of one of AVX-512.
constexpr int64_t kWidth = 8, kWideWidth = 16;

/// Returns the value of a splat if it is a small integer.
std::optional<int64_t> wholeNumber(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return std::nullopt;
  double number = splat.getSplatValue<APFloat>().convertToDouble();
  int64_t whole = std::abs(number) <= 512 ? static_cast<int64_t>(number) : 0;
  return whole == number ? std::optional(whole) : std::nullopt;
}

/// Returns a bound of the magnitude of a value that is computed from integers of 8 bits, of which
/// it is no NaN; nothing where none is known.
std::optional<double> maxMagnitude(Value value, unsigned depth = 0) {
  constexpr unsigned kMaxDepth = 16;
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && isa<FloatType>(splat.getElementType()))
    return std::abs(splat.getSplatValue<APFloat>().convertToDouble());
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return std::nullopt;
  if (isa<arith::UIToFPOp, arith::SIToFPOp>(op))
    return getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(8) ? std::optional(255.0)
                                                                          : std::nullopt;
  // The range of a clamped value is that of its bounds.
  if (auto min = dyn_cast<arith::MinimumFOp>(op)) {
    auto max = min.getLhs().getDefiningOp<arith::MaximumFOp>();
    std::optional<int64_t> high = wholeNumber(min.getRhs());
    std::optional<int64_t> low = max ? wholeNumber(max.getRhs()) : std::nullopt;
    if (low && high)
      return std::max(std::abs(double(*low)), std::abs(double(*high)));
    return std::nullopt;
  }
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op))
    return std::nullopt;
  SmallVector<double, 3> bounds;
  for (Value operand : op->getOperands()) {
    std::optional<double> bound = maxMagnitude(operand, depth + 1);
    if (!bound)
      return std::nullopt;
    bounds.push_back(*bound);
  }
  if (isa<math::FmaOp>(op))
    return bounds[0] * bounds[1] + bounds[2];
  return isa<arith::MulFOp>(op) ? bounds[0] * bounds[1] : bounds[0] + bounds[1];
}

/// saturate(round(source) + zeroPoint) to [low, high].
struct Rounded {
  Value source;
  int64_t zeroPoint = 0, low = 0, high = 0;
  bool isNumber = true; ///< the source is no NaN

  static std::optional<Rounded> of(Value value) {
    Rounded all;
    auto bound = [&](auto op, int64_t &number) {
      std::optional<int64_t> whole = op ? wholeNumber(op.getRhs()) : std::nullopt;
      if (whole) {
        number = *whole;
        value = op.getLhs();
        all.isNumber &= bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::nnan);
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

/// A quotient by a constant scale that needs no division to be rounded to a byte.
struct Scaled {
  Value dividend;
  float scale;
  kernels::Reciprocal reciprocal;

  static std::optional<Scaled> of(Value value) {
    auto division = value.getDefiningOp<arith::DivFOp>();
    SplatElementsAttr splat;
    if (!division || !matchPattern(division.getRhs(), m_Constant(&splat)))
      return std::nullopt;
    Scaled result{division.getLhs(), splat.getSplatValue<APFloat>().convertToFloat(), {}};
    return result.reciprocal.find(result.scale) ? std::optional(result) : std::nullopt;
  }
  /// Returns the quotient of the dividend or of what it was clamped to.
  Value quotient(ImplicitLocOpBuilder &b, Value x) const {
    auto all = [&](float number) { return splat(b, x.getType(), number); };
    return math::FmaOp::create(b, x, all(reciprocal.high),
                               arith::MulFOp::create(b, x, all(reciprocal.low)));
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
    if (!back || !rounded || !rounded->isNumber || rounded->zeroPoint == 0 ||
        rounded->zeroPoint != *back)
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
    constexpr int64_t minValue = isUnsigned ? 0 : -128, maxValue = isUnsigned ? 255 : 127;
    if (!rounded || rounded->low < minValue || rounded->high > maxValue ||
        rounded->low > rounded->high)
      return rewriter.notifyMatchFailure(op, "not rounded and cut to a part of the bytes");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto vectorOf = [&](unsigned bits) { return type.clone(b.getIntegerType(bits)); };
    // Values too large for the conversion become the minimum integer; for values that are too small
    // that is correct, so only the upper bound is applied here, and only where there may be any. A
    // quotient by a scale is clamped in front of the division.
    Value x = rounded->source;
    const std::optional<Scaled> scaled = level.getFma() ? Scaled::of(x) : std::nullopt;
    if (scaled)
      x = scaled->dividend;
    auto limit = [&](int64_t number) {
      const float bound = float(number - rounded->zeroPoint);
      return splat(b, x.getType(), scaled ? bound * scaled->scale : bound);
    };
    const std::optional<double> magnitude = scaled ? std::nullopt : maxMagnitude(x);
    // A NaN passes the upper bound, and becomes the lower one or, converted, the minimum.
    auto clamp = [&](arith::CmpFPredicate isKept, Value bound) -> Value {
      Value keeps = arith::CmpFOp::create(b, isKept, x, bound);
      return arith::SelectOp::create(b, keeps, x, bound);
    };
    if (rounded->high < maxValue || !magnitude || *magnitude >= double(INT32_MAX)) {
      Value bound = limit(rounded->high);
      x = rounded->isNumber
              ? arith::MinimumFOp::create(b, x, bound, noNans(b.getContext())).getResult()
              : clamp(arith::CmpFPredicate::ULE, bound);
    }
    if (rounded->low > minValue) {
      Value bound = limit(rounded->low);
      x = rounded->isNumber
              ? arith::MaximumFOp::create(b, x, bound, noNans(b.getContext())).getResult()
              : clamp(arith::CmpFPredicate::OGE, bound);
    }
    if (scaled)
      x = scaled->quotient(b, x);
    const int64_t lanes = type.getDimSize(0);
    if (level.getLanes() >= kWideWidth && (lanes == 2 * kWideWidth || lanes == 4 * kWideWidth)) {
      rewriter.replaceOp(op, packWide(b, x, rounded->zeroPoint));
      return success();
    }
    Value words = arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(32)));
    const int64_t width =
        level.getLanes() >= kWideWidth && lanes % kWideWidth == 0 ? kWideWidth : kWidth;
    for (int64_t first = 0; first < lanes; first += width)
      words = vector::InsertStridedSliceOp::create(b, toIntegers(b, x, first, width), words,
                                                   ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
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
    rewriter.replaceOp(op, narrowed(words, 8, minValue, maxValue));
    return success();
  }

private:
  static Value call(ImplicitLocOpBuilder &b, StringRef name, int64_t lanes, unsigned bits,
                    ValueRange operands) {
    Type type = VectorType::get({lanes}, b.getIntegerType(bits));
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands).getResult(0);
  }

  /// Rounds a register of `width` lanes of `x` from lane `first` on to integers of 32 bits.
  static Value toIntegers(ImplicitLocOpBuilder &b, Value x, int64_t first, int64_t width) {
    Value part = vector::ExtractStridedSliceOp::create(
        b, x, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
    if (width == kWidth)
      return call(b, "llvm.x86.avx.cvt.ps2dq.256", width, 32, part);
    constexpr int32_t currentRounding = 4;
    Value rest =
        arith::ConstantOp::create(b, b.getZeroAttr(VectorType::get({width}, b.getI32Type())));
    Value all = LLVM::ConstantOp::create(b, b.getI16Type(), b.getI16IntegerAttr(-1));
    Value rounding =
        LLVM::ConstantOp::create(b, b.getI32Type(), b.getI32IntegerAttr(currentRounding));
    return call(b, "llvm.x86.avx512.mask.cvtps2dq.512", width, 32, {part, rest, all, rounding});
  }

  /// Packs two or four registers of floats to bytes: one instruction per register, where to narrow
  /// each of them takes two. Packing works within 128 bits; one permutation undoes that.
  static Value packWide(ImplicitLocOpBuilder &b, Value x, int64_t zeroPoint) {
    const int64_t registers = cast<VectorType>(x.getType()).getNumElements() / kWideWidth;
    SmallVector<Value> shorts;
    for (int64_t i = 0; i < registers; i += 2) {
      Value pair = call(b, "llvm.x86.avx512.packssdw.512", 2 * kWideWidth, 16,
                        {toIntegers(b, x, i * kWideWidth, kWideWidth),
                         toIntegers(b, x, (i + 1) * kWideWidth, kWideWidth)});
      if (zeroPoint != 0)
        pair = LLVM::SAddSat::create(b, pair.getType(), pair, splat(b, pair.getType(), zeroPoint));
      shorts.push_back(pair);
    }
    Value bytes =
        call(b, isUnsigned ? "llvm.x86.avx512.packuswb.512" : "llvm.x86.avx512.packsswb.512",
             4 * kWideWidth, 8, {shorts.front(), shorts.back()});
    // Fours of bytes: of each register four, for each 128 bits.
    auto fours = VectorType::get({kWideWidth}, b.getI32Type());
    Value words = vector::BitCastOp::create(b, fours, bytes);
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < registers; ++i)
      for (int64_t part = 0; part < 4; ++part)
        order.push_back(4 * part + i);
    words = vector::ShuffleOp::create(b, words, words, order);
    return vector::BitCastOp::create(b, VectorType::get({registers * kWideWidth}, b.getI8Type()),
                                     words);
  }
};

} // namespace

void populateSaturatingCastPatterns(RewritePatternSet &patterns) {
  patterns.add<DropZeroPoint, PackBytes<arith::FPToUIOp>, PackBytes<arith::FPToSIOp>>(
      patterns.getContext());
}

} // namespace atc::cpu
