//===-- ByteGates.h - weights of gates in 8 bits ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a quantized model are multiples of a scale of their column: as bytes they are exact,
// and need a quarter of the space of f32. What they multiply, the state or the data, becomes
// integers of 16 bits, fewer for many values, in two limbs of 8, whose sums are exact in 32 bits.

#ifndef OPENATC_KERNELS_NN_GATES_BYTEGATES_H
#define OPENATC_KERNELS_NN_GATES_BYTEGATES_H

#include "kernels/core/WideDot.h"
#include "kernels/nn/gates/GateLayout.h"

namespace atc::kernels {

/// Converts packed panels to [depth / 4][kColumns][4] weights, the scale of each column, and the
/// sum of its weights times zeroOf(depth).
struct ByteGates {
  static constexpr int64_t kColumns = GateLayout::kColumns, kGroup = 4;
  static_assert(GateLayout::kByteTail == 2 * kColumns);
  /// Sums of more products do not fit 32 bits.
  static constexpr int64_t kMaxDepth = 2048;
  static constexpr int32_t kLargest = 127;
  /// Returns what is added to the integers, the magnitudes of which are smaller.
  static constexpr int32_t zeroOf(int64_t depth) {
    return depth <= 512 ? 32768 : depth <= 1024 ? 16384 : 8192;
  }

  /// Returns whether rows of `depth` values fit.
  static constexpr bool areFor(int64_t depth) {
    return depth > 0 && depth % kGroup == 0 && depth <= kMaxDepth;
  }

  /// Converts the packed weights of a direction, which are finite, `from` in the layout of floats.
  /// Returns whether all columns are multiples of a scale.
  static bool convert(uint32_t *to, const float *from, const CellLayout &layout) {
    bool fit = true;
    convertPanels(to, from, layout, [&](uint32_t *words, const float *weights) {
      for (int64_t column = 0; fit && column < kColumns; ++column)
        fit = convertColumn(words, weights, layout.depth, column);
    });
    return fit;
  }

private:
  static float nearest(float value) { return __builtin_roundf(value); }

  /// Returns the scale of which all weights of a column are multiples by at most kLargest, but for
  /// the rounding of f32; below 0 where there is none.
  static float scaleOf(const float *column, int64_t depth) {
    constexpr float tolerance = 0x1p-12f, tiny = 0x1p-80f;
    float largest = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const float magnitude = __builtin_fabsf(column[k * kColumns]);
      largest = magnitude > largest ? magnitude : largest;
    }
    if (largest < tiny)
      return largest > 0 ? -1 : 0;
    for (int32_t digits = kLargest; digits > 0; --digits) {
      const float scale = largest / float(digits);
      int64_t k = 0;
      for (; k < depth; ++k) {
        const float value = column[k * kColumns] / scale;
        if (!(__builtin_fabsf(value - nearest(value)) <= tolerance))
          break;
      }
      if (k == depth)
        return scale;
    }
    return -1;
  }

  static bool convertColumn(uint32_t *to, const float *from, int64_t depth, int64_t column) {
    const float scale = scaleOf(from + column, depth);
    uint32_t sum = 0;
    for (int64_t k = 0; scale >= 0 && k < depth; k += kGroup) {
      uint32_t group = 0;
      for (int64_t i = 0; i < kGroup; ++i) {
        const float value = scale > 0 ? from[(k + i) * kColumns + column] / scale : 0;
        const auto digits = uint32_t(int32_t(nearest(value)));
        sum += digits;
        group |= (digits & 0xff) << 8 * i;
      }
      to[k / kGroup * kColumns + column] = group;
    }
    uint32_t *tail = to + depth / kGroup * kColumns + column;
    tail[0] = __builtin_bit_cast(uint32_t, scale);
    tail[kColumns] = sum * uint32_t(zeroOf(depth));
    return scale >= 0;
  }
};

/// Multiplies up to kRows rows by panels of bytes.
class ByteRows {
  static constexpr int64_t kColumns = ByteGates::kColumns, kGroup = ByteGates::kGroup;
  static constexpr int64_t kLimbBits = 8;
  /// How many bytes ahead weights are prefetched.
  static constexpr int64_t kDistance = 2048;

public:
  static constexpr int kRows = 3;

  /// Takes `count` rows of ByteGates::areFor(units) values, and finds their limbs for what
  /// multiplies these.
  void set(const float *from, int64_t stride, int64_t count, int64_t units,
           bool findsLimbs = multipliesLimbs()) {
    rows = from;
    rowStride = stride;
    depth = units;
    hasLimbs = findsLimbs;
    for (int64_t row = 0; row < count; ++row)
      setRow(from + row * stride, row);
  }

  /// Computes the products of the first R rows with the columns of a panel.
  template <int R> void multiply(float (&to)[R][kColumns], const float *panel) const {
#if defined(__x86_64__)
    if (hasLimbs)
      return multiplyWide<R>(to, panel);
#endif
    multiplyFloats<R>(to, panel);
  }

  /// Returns whether there are functions for the registers of the CPU level.
  static bool multipliesLimbs() {
#if defined(__x86_64__)
    return hasWideDot();
#else
    return false;
#endif
  }

#if defined(__x86_64__)
  /// Does what multiply does, for rows that have limbs.
  template <int R>
  ATC_WIDE_DOT void multiplyWide(float (&to)[R][kColumns], const float *panel) const {
    const char *from = reinterpret_cast<const char *>(panel);
    __m512i above[R][4] = {}, below[R][4] = {};
#pragma clang loop unroll(disable)
    for (int64_t k = 0; k < depth; k += kGroup, from += 256) {
      __m512i weights[4];
#pragma clang loop unroll(full)
      for (int s = 0; s < 4; ++s) {
        weights[s] = _mm512_loadu_si512(from + 64 * s);
        __builtin_prefetch(from + kDistance + 64 * s, 0, 3);
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r) {
        const __m512i upper = _mm512_set1_epi32(groupAt(high[r] + k));
        const __m512i lower = _mm512_set1_epi32(groupAt(low[r] + k));
#pragma clang loop unroll(full)
        for (int s = 0; s < 4; ++s) {
          above[r][s] = _mm512_dpbusd_epi32(above[r][s], upper, weights[s]);
          below[r][s] = _mm512_dpbusd_epi32(below[r][s], lower, weights[s]);
        }
      }
    }
#pragma clang loop unroll(full)
    for (int s = 0; s < 4; ++s) {
      const __m512 scale = _mm512_loadu_ps(from + 64 * s);
      const __m512i zero = _mm512_loadu_si512(from + 256 + 64 * s);
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r) {
        // What does not fit 32 bits wraps around, and back.
        const __m512i sum =
            _mm512_add_epi32(_mm512_slli_epi32(above[r][s], kLimbBits), below[r][s]);
        const __m512 whole = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, zero));
        _mm512_storeu_ps(to[r] + 16 * s,
                         _mm512_mul_ps(whole, _mm512_mul_ps(scale, _mm512_set1_ps(unit[r]))));
      }
    }
  }
#endif

private:
  void setRow(const float *from, int64_t row) {
    uint32_t bits = 0;
    for (int64_t k = 0; k < depth; ++k) {
      // Magnitudes are in the order of their bits.
      const uint32_t magnitude = __builtin_bit_cast(uint32_t, from[k]) & 0x7fffffffu;
      bits = magnitude > bits ? magnitude : bits;
    }
    hasLimbs &= bits < 0x7f800000u;
    if (!hasLimbs)
      return;
    // Below it zeros are close enough, and the scale stays finite.
    constexpr float tiny = 0x1p-100f;
    const int32_t zero = ByteGates::zeroOf(depth);
    const auto range = float(zero - 1);
    const float largest = __builtin_bit_cast(float, bits);
    const float scale = largest < tiny ? 0 : range / largest;
    unit[row] = largest < tiny ? 0 : largest / range;
    // The sum has a unit of 1, so that it is rounded to the nearest integer.
    constexpr float round = 0x1.8p23f;
    const int32_t first = __builtin_bit_cast(int32_t, round) - zero;
    for (int64_t k = 0; k < depth; ++k) {
      const int32_t digits = __builtin_bit_cast(int32_t, from[k] * scale + round) - first;
      high[row][k] = uint8_t(digits >> kLimbBits);
      low[row][k] = uint8_t(digits & ((1 << kLimbBits) - 1));
    }
  }

#if defined(__x86_64__)
  /// Returns adjacent limbs.
  [[gnu::always_inline]] static int32_t groupAt(const uint8_t *limbs) {
    int32_t group;
    __builtin_memcpy(&group, limbs, sizeof(group));
    return group;
  }
#endif

  /// Multiplies the rows as they are: those that are not finite, and on processors for which the
  /// compiler does not make such weights.
  template <int R> void multiplyFloats(float (&to)[R][kColumns], const float *panel) const {
    const float *scales = panel + depth / kGroup * kColumns;
    for (int r = 0; r < R; ++r) {
      float sums[kColumns] = {};
      for (int64_t k = 0; k < depth; ++k) {
        const float *groups = panel + k / kGroup * kColumns;
        const auto shift = uint32_t(8 * (k % kGroup));
        for (int64_t j = 0; j < kColumns; ++j) {
          const auto digits = int8_t(__builtin_bit_cast(uint32_t, groups[j]) >> shift & 0xff);
          sums[j] += rows[r * rowStride + k] * (float(digits) * scales[j]);
        }
      }
      __builtin_memcpy(to[r], sums, sizeof(sums));
    }
  }

  const float *rows = nullptr;
  int64_t rowStride = 0, depth = 0;
  float unit[kRows] = {}; ///< what the products are multiplied by
  bool hasLimbs = false;  ///< else the rows are multiplied as they are
  uint8_t high[kRows][ByteGates::kMaxDepth], low[kRows][ByteGates::kMaxDepth];
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GATES_BYTEGATES_H
