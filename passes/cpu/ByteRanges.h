//===-- ByteRanges.h - integers of 8 bits inside of bodies ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_BYTERANGES_H
#define OPENATC_PASSES_CPU_BYTERANGES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <optional>

namespace atc::cpu {

/// Returns the value of a constant of f32.
inline std::optional<float> constantOf(mlir::Value value) {
  llvm::APFloat number(0.0f);
  if (!value.getType().isF32() || !mlir::matchPattern(value, mlir::m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToFloat();
}

/// Returns the value of a constant of f32 that is a small integer.
inline std::optional<int> integerOf(mlir::Value value) {
  std::optional<float> number = constantOf(value);
  const bool isInteger = number && std::abs(*number) <= 512 && *number == std::trunc(*number);
  return isInteger ? std::optional<int>(int(*number)) : std::nullopt;
}

/// A value that is an integer from `low` to `high`.
struct Range {
  int low, high;
};

/// Returns the bounds of min(max(x, low), high) of an x that is no NaN, or with `mayBeNan` of any.
inline std::optional<std::pair<mlir::Value, Range>> clampOf(mlir::Value value,
                                                            bool mayBeNan = false) {
  auto min = value.getDefiningOp<mlir::arith::MinimumFOp>();
  auto max = min ? min.getLhs().getDefiningOp<mlir::arith::MaximumFOp>() : nullptr;
  if (!max || (!mayBeNan && !bitEnumContainsAll(min.getFastmath() & max.getFastmath(),
                                                mlir::arith::FastMathFlags::nnan)))
    return std::nullopt;
  std::optional<int> low = integerOf(max.getRhs()), high = integerOf(min.getRhs());
  if (!low || !high || *low > *high)
    return std::nullopt;
  return std::pair(max.getLhs(), Range{*low, *high});
}

/// Returns round(x) + zero point: x and the zero point.
inline std::optional<std::pair<mlir::Value, int>> roundedOf(mlir::Value value) {
  int zeroPoint = 0;
  if (auto sum = value.getDefiningOp<mlir::arith::AddFOp>()) {
    std::optional<int> given = integerOf(sum.getRhs());
    if (!given)
      return std::nullopt;
    zeroPoint = *given;
    value = sum.getLhs();
  }
  auto rounded = value.getDefiningOp<mlir::math::RoundEvenOp>();
  if (!rounded)
    return std::nullopt;
  return std::pair(rounded.getOperand(), zeroPoint);
}

/// Returns the values of what was rounded and clamped to an integer of at most 8 bits.
inline std::optional<Range> roundedRange(mlir::Value value, bool mayBeNan = false) {
  std::optional<std::pair<mlir::Value, Range>> clamp = clampOf(value, mayBeNan);
  if (clamp && roundedOf(clamp->first) && clamp->second.high - clamp->second.low < 256)
    return clamp->second;
  return std::nullopt;
}

/// Returns the values of an integer of at most 8 bits in a float: a converted byte, or what was
/// rounded and clamped, in both cases perhaps less its zero point.
inline std::optional<Range> bytesOf(mlir::Value value) {
  auto isByte = [](auto op) { return op && op.getIn().getType().isInteger(8); };
  if (isByte(value.getDefiningOp<mlir::arith::UIToFPOp>()))
    return Range{0, 255};
  if (isByte(value.getDefiningOp<mlir::arith::SIToFPOp>()))
    return Range{-128, 127};
  if (auto difference = value.getDefiningOp<mlir::arith::SubFOp>()) {
    std::optional<int> zeroPoint = integerOf(difference.getRhs());
    std::optional<Range> range = roundedRange(difference.getLhs());
    if (!zeroPoint || !range)
      return std::nullopt;
    return Range{range->low - *zeroPoint, range->high - *zeroPoint};
  }
  return roundedRange(value);
}

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_BYTERANGES_H
