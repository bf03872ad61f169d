//===-- PairDigits.h - few rows times weights of 4 bits, with AVX2 --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group of a column is two registers of 32 bytes. vpmaddubsw multiplies bytes and adds two
// products in 16 bits: four products of a field below 16 and a digit of at most 128 fit. vpmaddwd
// adds these in 32 bits, in the lanes of DigitLayout.h.

#ifndef OPENATC_KERNELS_MICROSOFT_PAIRDIGITS_H
#define OPENATC_KERNELS_MICROSOFT_PAIRDIGITS_H

#include "kernels/core/Lanes.h"
#include "kernels/microsoft/DigitLayout.h"

#if defined(__x86_64__)
#include <immintrin.h>

/// Compiles a function for the levels of hasPairDot().
#define ATC_PAIR_DOT __attribute__((target("avx2,fma")))
/// Compiles one that functions of these levels contain.
#define ATC_PAIR_DOT_PART ATC_PAIR_DOT __attribute__((always_inline)) inline

namespace atc::kernels {

/// Returns whether the level has AVX2 and registers of 32 bytes.
[[gnu::always_inline]] inline bool hasPairDot() { return atc_kernel_lanes == 8; }

/// Multiplies rows, given in `Digits` digits per element, by weights of 4 bits. Only where
/// hasPairDot().
template <int Digits> struct PairDigits : DigitLayout<Digits> {
  using Layout = DigitLayout<Digits>;
  using Rows = typename Layout::Rows;
  using Columns = typename Layout::Columns;
  using Layout::kGroup, Layout::kLanes, Layout::kPerLane, Layout::kLimit;
  using Layout::p, Layout::width, Layout::stepsWidth, Layout::columnsFrom;

  /// Writes the digits of a row of k floats; those behind k are 0.
  ATC_PAIR_DOT void arrange(const Rows &to, const float *row) const {
    __builtin_memset(to.digits, 0, uint64_t(width()));
    for (int64_t lane = 0; lane < stepsWidth(); ++lane)
      to.steps[lane] = to.sums[lane] = 0;
    // Elements of one block and of one group.
    const int64_t unit = minimum(p.block, kGroup), lanes = unit / kPerLane;
    for (int64_t b = 0; b < p.blocks; ++b) {
      const int64_t first = b * p.block, end = minimum(first + p.block, p.k);
      const uint32_t bits = largestBits(row + first, end - first);
      const float largest = __builtin_bit_cast(float, bits);
      const bool isFinite = bits < __builtin_bit_cast(uint32_t, __builtin_inff());
      // For smaller maxima the inverse would not be finite, so the block counts as zeros.
      const bool isZero = bits < __builtin_bit_cast(uint32_t, 0x1p-100f);
      const float step = !isFinite ? __builtin_nanf("") : isZero ? 0 : largest / float(kLimit);
      const float inverse = !isFinite || isZero ? 0 : float(kLimit) / largest;
      for (int64_t begin = first; begin < end; begin += unit) {
        __m256i sum = _mm256_setzero_si256();
        for (int64_t i = begin; isFinite && i < minimum(begin + unit, end); i += 8) {
          __m256i values =
              _mm256_cvtps_epi32(_mm256_mul_ps(load(row + i, end - i), _mm256_set1_ps(inverse)));
          sum = _mm256_add_epi32(sum, values);
          int8_t *bytes = to.digits + i / kGroup * Digits * kGroup + i % kGroup / 2;
#pragma clang loop unroll(full)
          for (int digit = Digits - 1; digit >= 0; --digit)
            storeLowest(bytes + digit * kGroup, values);
        }
        int32_t parts[8], total = 0;
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(parts), sum);
        for (int32_t part : parts)
          total += part;
        for (int64_t lane = begin / kPerLane; lane < begin / kPerLane + lanes; ++lane) {
          to.steps[lane] = step;
          to.sums[lane] = float(total) / float(lanes);
        }
      }
    }
  }

  /// Computes columns [begin, end) of R rows: y has rows of n. `add` holds a float per column, or
  /// is null.
  template <int R>
  void multiply(float *y, const Rows &x, const float *add, int64_t begin, int64_t end) const {
    if (p.block == 32)
      multiplyKinds<R, 2>(y, x, add, begin, end);
    else
      multiplyKinds<R, 1>(y, x, add, begin, end);
  }

private:
  static constexpr int64_t kHalf = kGroup / 4; ///< bytes of a register of fields
  static constexpr int64_t kHalfLanes = kLanes / 2;

  /// Returns up to 8 floats, of which `count` exist; 0 for the others.
  ATC_PAIR_DOT_PART static __m256 load(const float *from, int64_t count) {
    if (count >= 8)
      return _mm256_loadu_ps(from);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(int(count)), lane));
  }

  /// Returns the bits of the largest magnitude; those of a NaN are larger than all others.
  ATC_PAIR_DOT_PART static uint32_t largestBits(const float *from, int64_t count) {
    __m256i top = _mm256_setzero_si256();
    for (int64_t i = 0; i < count; i += 8)
      top = _mm256_max_epu32(top, _mm256_and_si256(_mm256_castps_si256(load(from + i, count - i)),
                                                   _mm256_set1_epi32(0x7fffffff)));
    uint32_t lanes[8], bits = 0;
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(lanes), top);
    for (uint32_t lane : lanes)
      bits = bits > lane ? bits : lane;
    return bits;
  }

  /// Stores the lowest digits of 8 integers, those of the even elements at `to` and those of the
  /// odd ones behind those of the group, and removes them.
  ATC_PAIR_DOT_PART static void storeLowest(int8_t *to, __m256i &values) {
    const __m256i order =
        _mm256_setr_epi8(0, 8, 4, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 8, 4, 12,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i fours = _mm256_shuffle_epi8(values, order);
    // Per half two even elements, then two odd ones.
    const __m128i halves =
        _mm_unpacklo_epi16(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
    const uint64_t bytes = uint64_t(_mm_cvtsi128_si64(halves));
    const uint32_t even = uint32_t(bytes), odd = uint32_t(bytes >> 32);
    __builtin_memcpy(to, &even, 4);
    __builtin_memcpy(to + kGroup / 2, &odd, 4);
    // Removes the lowest signed digit: rounds to the nearest multiple of 256 and shifts.
    values = _mm256_srai_epi32(_mm256_add_epi32(values, _mm256_set1_epi32(128)), 8);
  }

  /// Returns the value of the only block of 8 lanes, or each of two in four lanes.
  template <int Blocks> ATC_PAIR_DOT_PART static __m256 inLanes(float first, float second) {
    return Blocks == 1 ? _mm256_set1_ps(first)
                       : _mm256_set_m128(_mm_set1_ps(second), _mm_set1_ps(first));
  }

  /// The form of the zero points of a block: all are the middle, or they are stored in 4 bits or as
  /// floats.
  enum class Zeros { Middle, Packed, Floats };
  static constexpr float kFloats[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

  /// Adds the products of R rows and half h of all groups of C columns, which begins with a block
  /// or is part of it. `count` of the one or two blocks exist.
  template <int R, int C, int Blocks, Zeros kind>
  ATC_PAIR_DOT_PART void addHalf(__m256 (&total)[C][R], const Rows &x, const Columns &columns,
                                 int64_t h, int64_t block, int64_t count) const {
    const __m256i field = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    __m256i even[C], odd[C];
    __m256 scales[C], zeros[C];
#pragma clang loop unroll(full)
    for (int c = 0; c < C; ++c) {
      const uint8_t *from = columns.packed + c * columns.packedStep + h * kHalf;
      const float *scale = columns.scales + c * columns.step + block;
      const bool both = count == Blocks;
      const __m256i own =
          both ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))
               : _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
      // Behind the columns that are read with this one.
      __builtin_prefetch(from + maximum(BlockedWeights::kAhead, C * columns.packedStep));
      even[c] = _mm256_and_si256(own, field);
      odd[c] = _mm256_and_si256(_mm256_srli_epi16(own, 4), field);
      scales[c] = inLanes<Blocks>(scale[0], both ? scale[Blocks - 1] : 0);
      float first = 8, second = 8;
      if constexpr (kind == Zeros::Packed) {
        const uint32_t fields = columns.packedZeros[c * columns.zeroStep + block / 2];
        first = kFloats[fields >> (block % 2 * 4) & 15];
        second = kFloats[fields >> 4];
      } else if constexpr (kind == Zeros::Floats) {
        const float *zero = columns.zeros + c * columns.step + block;
        first = zero[0];
        second = both ? zero[Blocks - 1] : 0;
      }
      zeros[c] = inLanes<Blocks>(first, second);
    }
    const int64_t group = h / 2, at = h % 2 * kHalf, lane = h * kHalfLanes;
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const int8_t *digits = x.digits + r * width() + group * Digits * kGroup + at;
      __m256i sum[C];
#pragma clang loop unroll(full)
      for (int digit = 0; digit < Digits; ++digit) {
        auto load = [&](int64_t from) ATC_PAIR_DOT {
          return _mm256_loadu_si256(
              reinterpret_cast<const __m256i *>(digits + digit * kGroup + from));
        };
        const __m256i evenDigits = load(0), oddDigits = load(kGroup / 2);
#pragma clang loop unroll(full)
        for (int c = 0; c < C; ++c) {
          const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(even[c], evenDigits),
                                                 _mm256_maddubs_epi16(odd[c], oddDigits));
          const __m256i own = _mm256_madd_epi16(pairs, ones);
          sum[c] = digit > 0 ? _mm256_add_epi32(_mm256_slli_epi32(sum[c], 8), own) : own;
        }
      }
      const __m256 steps = _mm256_loadu_ps(x.steps + r * stepsWidth() + lane),
                   sums = _mm256_loadu_ps(x.sums + r * stepsWidth() + lane);
#pragma clang loop unroll(full)
      for (int c = 0; c < C; ++c)
        total[c][r] = _mm256_fmadd_ps(_mm256_mul_ps(scales[c], steps),
                                      _mm256_fnmadd_ps(zeros[c], sums, _mm256_cvtepi32_ps(sum[c])),
                                      total[c][r]);
    }
  }

  ATC_PAIR_DOT_PART static float sumOf(__m256 x) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

  /// Computes C columns of R rows.
  template <int R, int C, int Blocks, Zeros kind>
  ATC_PAIR_DOT_PART void multiplyColumns(float *y, const Rows &x, const float *add,
                                         int64_t j) const {
    const Columns columns = columnsFrom(j, 1);
    const int64_t halves = p.blocks * p.block / (2 * kHalf);
    __m256 total[C][R];
#pragma clang loop unroll(full)
    for (int i = 0; i < C * R; ++i)
      total[i / R][i % R] = _mm256_setzero_ps();
    BlockCounter counter{p.block / (2 * kHalf)};
    for (int64_t h = 0; h < halves; ++h, counter.next())
      addHalf<R, C, Blocks, kind>(total, x, columns, h, Blocks == 2 ? 2 * h : counter.block,
                                  Blocks);
    if (Blocks == 2 && p.blocks % 2)
      addHalf<R, C, Blocks, kind>(total, x, columns, halves, 2 * halves, 1);
#pragma clang loop unroll(full)
    for (int i = 0; i < C * R; ++i)
      y[i % R * p.n + j + i / R] = sumOf(total[i / R][i % R]) + (add ? add[j + i / R] : 0);
  }

  template <int R, int Blocks, Zeros kind>
  ATC_PAIR_DOT void multiplyBlocks(float *y, const Rows &x, const float *add, int64_t begin,
                                   int64_t end) const {
    constexpr int C = R == 1 ? 2 : 1; // columns for which registers suffice
    int64_t j = begin;
    for (; j + C <= end; j += C)
      multiplyColumns<R, C, Blocks, kind>(y, x, add, j);
    for (; j < end; ++j)
      multiplyColumns<R, 1, Blocks, kind>(y, x, add, j);
  }

  template <int R, int Blocks>
  void multiplyKinds(float *y, const Rows &x, const float *add, int64_t begin, int64_t end) const {
    if (p.packedZeros)
      multiplyBlocks<R, Blocks, Zeros::Packed>(y, x, add, begin, end);
    else if (p.zeros)
      multiplyBlocks<R, Blocks, Zeros::Floats>(y, x, add, begin, end);
    else
      multiplyBlocks<R, Blocks, Zeros::Middle>(y, x, add, begin, end);
  }
};

} // namespace atc::kernels

#endif // __x86_64__

#endif // OPENATC_KERNELS_MICROSOFT_PAIRDIGITS_H
