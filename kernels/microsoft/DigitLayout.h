//===-- DigitLayout.h - rows of floats as digits of 8 bits ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a processor multiplies and adds bytes in one instruction, fields of 4 bits need not become
// floats. The elements of a block of a row are integers q times a step of the block, and an integer
// is digits of 8 bits with sign: q = 65536 * d2 + 256 * d1 + d0. With zero point z and scale s of
// the weights
//
//   sum((w - z) * s * x) = s * step * sum(w * q) - s * z * step * sum(q)
//
// and sum(w * q) is three sums of products of bytes. Three digits have the 24 bits of an f32, with
// the exponent of the largest element of the block; one is what models ask for by accuracy_level 4.

#ifndef OPENATC_KERNELS_MICROSOFT_DIGITLAYOUT_H
#define OPENATC_KERNELS_MICROSOFT_DIGITLAYOUT_H

#include "kernels/microsoft/BlockedWeights.h"

namespace atc::kernels {

/// The rows and columns of a product in `Digits` digits per element with weights of 4 bits.
template <int Digits> struct DigitLayout {
  static_assert(Digits >= 1 && Digits <= 3);
  static constexpr int64_t kGroup = BlockedWeights::kGroup;
  static constexpr int64_t kLanes = 16;                ///< of a group
  static constexpr int64_t kPerLane = kGroup / kLanes; ///< elements
  /// The largest integer: that with 127 as the first digits. With 127 as the third, too, an f32
  /// that is rounded up could exceed them.
  static constexpr int32_t kLimit = Digits == 3 ? 127 * 65792 : Digits == 2 ? 127 * 257 : 127;

  /// Rows in digits, each field with those of all groups of a row, rows one behind the other.
  struct Rows {
    int8_t *digits; ///< per group and digit, the highest first: even elements, then odd ones
    float *steps;   ///< per lane of a group
    float *sums;    ///< of the integers, per lane: those of a unit are spread evenly
  };

  /// The beginning of a column, and the distances to the next one.
  struct Columns {
    const uint8_t *packed;
    const float *scales, *zeros;
    const uint8_t *packedZeros;
    int64_t packedStep, step, zeroStep; ///< `step` of scales and of zeros that are floats
  };

  const BlockedWeights &p;

  /// Return the bytes that the digits of a row take, and the floats of its steps and of its sums.
  int64_t width() const { return p.groups() * Digits * kGroup; }
  int64_t stepsWidth() const { return p.groups() * kLanes; }

  /// Returns columns from j on, each `step` (1 or 0) behind the one before.
  Columns columnsFrom(int64_t j, int64_t step) const {
    const int64_t bytes = p.columnBytes(), zeroBytes = ceilDiv(p.blocks, int64_t(2));
    return {p.packed + j * bytes,
            p.scales + j * p.blocks,
            p.zeros ? p.zeros + j * p.blocks : nullptr,
            p.packedZeros ? p.packedZeros + j * zeroBytes : nullptr,
            step * bytes,
            step * p.blocks,
            step * zeroBytes};
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_MICROSOFT_DIGITLAYOUT_H
