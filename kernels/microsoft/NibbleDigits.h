//===-- NibbleDigits.h - few rows times weights of 4 bits, in integers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group of a column is one register of 64 bytes, of which vpdpbusd multiplies and adds four bytes
// per lane. DigitLayout.h says what is computed.

#ifndef OPENATC_KERNELS_MICROSOFT_NIBBLEDIGITS_H
#define OPENATC_KERNELS_MICROSOFT_NIBBLEDIGITS_H

#include "kernels/core/WideDot.h"
#include "kernels/microsoft/DigitLayout.h"

#if defined(__x86_64__)

namespace atc::kernels {

/// Converts floats to integers of `Digits` digits with a step per block.
template <int Digits> struct DigitSteps {
  float step = 0, inverse = 0;
  bool isFinite = true;

  /// Finds the step of `count` floats: NaN where one is not finite, 0 where all are below 2^-100.
  ATC_WIDE_DOT_PART static DigitSteps of(const float *from, int64_t count) {
    // The bits of the largest magnitude; those of a NaN are larger than all others.
    __m512i top = _mm512_setzero_si512();
    for (int64_t i = 0; i < count; i += 16) {
      const __m512i own = _mm512_castps_si512(load(from + i, count - i));
      top = _mm512_max_epu32(top, _mm512_and_si512(own, _mm512_set1_epi32(0x7fffffff)));
    }
    const uint32_t bits = _mm512_reduce_max_epu32(top);
    const float largest = __builtin_bit_cast(float, bits);
    if (bits >= __builtin_bit_cast(uint32_t, __builtin_inff()))
      return {__builtin_nanf(""), 0, false};
    // For smaller maxima the inverse would not be finite, so the block counts as zeros.
    if (bits < __builtin_bit_cast(uint32_t, 0x1p-100f))
      return {};
    return {largest / float(kLimit), float(kLimit) / largest, true};
  }

  /// Returns the integers of up to 16 floats, of which `count` exist; 0 for the others.
  ATC_WIDE_DOT_PART __m512i quantize(const float *from, int64_t count) const {
    const __m512 scaled = _mm512_mul_ps(load(from, count), _mm512_set1_ps(inverse));
    return isFinite ? _mm512_cvtps_epi32(scaled) : _mm512_setzero_si512();
  }

  /// Returns the lowest digits of 16 integers in the given order, and removes them.
  ATC_WIDE_DOT_PART static __m128i takeDigits(__m512i &values, __m128i order) {
    const __m128i lowest = _mm512_cvtepi32_epi8(values);
    // Removes the lowest signed digit: rounds to the nearest multiple of 256 and shifts.
    values = _mm512_srai_epi32(_mm512_add_epi32(values, _mm512_set1_epi32(128)), 8);
    return _mm_shuffle_epi8(lowest, order);
  }

private:
  static constexpr int32_t kLimit = DigitLayout<Digits>::kLimit;

  ATC_WIDE_DOT_PART static __m512 load(const float *from, int64_t count) {
    return count >= 16 ? _mm512_loadu_ps(from)
           : count > 0 ? _mm512_maskz_loadu_ps(__mmask16((1u << count) - 1), from)
                       : _mm512_setzero_ps();
  }
};

/// Multiplies rows, given in `Digits` digits per element, by weights of 4 bits. Only
/// where hasWideDot().
template <int Digits> struct NibbleDigits : DigitLayout<Digits> {
  using Layout = DigitLayout<Digits>;
  using Rows = typename Layout::Rows;
  using Columns = typename Layout::Columns;
  using Layout::kGroup, Layout::kLanes, Layout::kPerLane;
  using Layout::p, Layout::width, Layout::stepsWidth, Layout::columnsFrom;
  static constexpr int kColumns = 4; ///< whose sums are added up together

  /// Writes the digits of a row of k floats; those behind k are 0.
  ATC_WIDE_DOT void arrange(const Rows &to, const float *row) const {
    using Steps = DigitSteps<Digits>;
    __builtin_memset(to.digits, 0, uint64_t(width()));
    for (int64_t lane = 0; lane < stepsWidth(); ++lane)
      to.steps[lane] = to.sums[lane] = 0;
    const __m128i evenFirst = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    // Elements of one block and of one group.
    const int64_t unit = minimum(p.block, kGroup), lanes = unit / kPerLane;
    const __mmask16 kept = __mmask16((1u << lanes) - 1);
    for (int64_t b = 0; b < p.blocks; ++b) {
      const int64_t first = b * p.block, end = minimum(first + p.block, p.k);
      const Steps steps = Steps::of(row + first, end - first);
      for (int64_t begin = first; begin < end; begin += unit) {
        __m512i sum = _mm512_setzero_si512();
        for (int64_t i = begin; i < minimum(begin + unit, end); i += 16) {
          __m512i values = steps.quantize(row + i, end - i);
          sum = _mm512_add_epi32(sum, values);
          int8_t *bytes = to.digits + i / kGroup * Digits * kGroup + i % kGroup / 2;
#pragma clang loop unroll(full)
          for (int digit = Digits - 1; digit >= 0; --digit) {
            const __m128i both = Steps::takeDigits(values, evenFirst);
            int8_t *even = bytes + digit * kGroup;
            _mm_storel_epi64(reinterpret_cast<__m128i *>(even), both);
            _mm_storel_epi64(reinterpret_cast<__m128i *>(even + kGroup / 2),
                             _mm_unpackhi_epi64(both, both));
          }
        }
        const float part = float(_mm512_reduce_add_epi32(sum)) / float(lanes);
        _mm512_mask_storeu_ps(to.steps + begin / kPerLane, kept, _mm512_set1_ps(steps.step));
        _mm512_mask_storeu_ps(to.sums + begin / kPerLane, kept, _mm512_set1_ps(part));
      }
    }
  }

  /// Computes columns [begin, end) of R rows: y has rows of n. `add` holds a float per column, or
  /// is null.
  template <int R>
  void multiply(float *y, const Rows &x, const float *add, int64_t begin, int64_t end) const {
    if (p.block == 32)
      multiplyBlocks<R, 4>(y, x, add, begin, end);
    else if (p.block == 64)
      multiplyBlocks<R, 2>(y, x, add, begin, end);
    else
      multiplyBlocks<R, 1>(y, x, add, begin, end);
  }

private:
  /// Returns floats of the blocks of a group, each in the lanes of its block. `count` of them
  /// exist.
  template <int Blocks, bool isWhole>
  ATC_WIDE_DOT_PART static __m512 inLanes(const float *from, int64_t count) {
    if constexpr (Blocks == 1)
      return _mm512_set1_ps(*from);
    const __mmask8 kept = __mmask8((1u << (isWhole ? Blocks : count)) - 1);
    const __m512 few = _mm512_castps128_ps512(
        isWhole && Blocks == 4 ? _mm_loadu_ps(from) : _mm_maskz_loadu_ps(kept, from));
    return _mm512_permutexvar_ps(blockOfLane<Blocks>(), few);
  }
  template <int Blocks> ATC_WIDE_DOT_PART static __m512i blockOfLane() {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_srli_epi32(lane, Blocks == 4 ? 2 : 3);
  }

  /// Returns zero points in 4 bits of the blocks of a group, of which `first` is the first of its
  /// column, each in the lanes of its block.
  template <int Blocks, bool isWhole>
  ATC_WIDE_DOT_PART static __m512 fieldsInLanes(const uint8_t *from, int64_t first, int64_t count) {
    const uint8_t *begin = from + first / 2;
    // A lane is an index of four bits into the 16 floats.
    const __m512 floats = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if constexpr (Blocks == 1)
      return _mm512_permutexvar_ps(_mm512_set1_epi32(*begin >> (first % 2 * 4)), floats);
    __m512i fields = _mm512_set1_epi8(char(*begin));
    if (Blocks == 4 && (isWhole || count > 2)) {
      int16_t both;
      __builtin_memcpy(&both, begin, sizeof(both));
      fields = _mm512_set1_epi16(both);
    }
    const __m512i shifts = _mm512_slli_epi32(blockOfLane<Blocks>(), 2);
    return _mm512_permutexvar_ps(_mm512_srlv_epi32(fields, shifts), floats);
  }

  /// Adds the products of R rows and group g of C columns, which begins with a block or is part of
  /// it; `count` of its blocks exist. Digits are read once for all columns: to read them takes
  /// longer than to multiply.
  template <int R, int C, int Blocks, bool isWhole>
  ATC_WIDE_DOT_PART void addGroup(__m512 (&total)[C][R], const Rows &x, const Columns &columns,
                                  int64_t g, int64_t block, int64_t count) const {
    const __m512i field = _mm512_set1_epi8(15);
    // Whole blocks: each has 16 bytes or more.
    const __mmask64 kept = isWhole ? ~__mmask64(0) : ~__mmask64(0) >> (64 - count * (64 / Blocks));
    __m512i even[C], odd[C];
    __m512 scales[C], zeros[C];
    __builtin_prefetch(columns.scales + 2 * BlockedWeights::kAhead / 4 + g * C * Blocks);
#pragma clang loop unroll(full)
    for (int c = 0; c < C; ++c) {
      const uint8_t *from = columns.packed + c * columns.packedStep + g * (kGroup / 2);
      const __m512i own = _mm512_maskz_loadu_epi8(kept, from);
      // In the order of the addresses: columns are too short for the processor to see that they go
      // on.
      __builtin_prefetch(columns.packed + 2 * BlockedWeights::kAhead + (g * C + c) * (kGroup / 2));
      even[c] = _mm512_and_si512(own, field);
      odd[c] = _mm512_and_si512(_mm512_srli_epi16(own, 4), field);
      scales[c] = inLanes<Blocks, isWhole>(columns.scales + c * columns.step + block, count);
    }
#pragma clang loop unroll(full)
    for (int c = 0; c < C; ++c)
      if (columns.packedZeros)
        zeros[c] = fieldsInLanes<Blocks, isWhole>(columns.packedZeros + c * columns.zeroStep, block,
                                                  count);
      else if (columns.zeros)
        zeros[c] = inLanes<Blocks, isWhole>(columns.zeros + c * columns.step + block, count);
      else
        zeros[c] = _mm512_set1_ps(8);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const int8_t *digits = x.digits + r * width() + g * Digits * kGroup;
      __m512i sum[C];
#pragma clang loop unroll(full)
      for (int digit = 0; digit < Digits; ++digit) {
        const __m512i evenDigits = _mm512_loadu_si512(digits + digit * kGroup),
                      oddDigits = _mm512_loadu_si512(digits + digit * kGroup + kGroup / 2);
#pragma clang loop unroll(full)
        for (int c = 0; c < C; ++c) {
          sum[c] = digit > 0 ? _mm512_slli_epi32(sum[c], 8) : _mm512_setzero_si512();
          sum[c] = _mm512_dpbusd_epi32(sum[c], even[c], evenDigits);
          sum[c] = _mm512_dpbusd_epi32(sum[c], odd[c], oddDigits);
        }
      }
      const __m512 steps = _mm512_loadu_ps(x.steps + r * stepsWidth() + g * kLanes),
                   sums = _mm512_loadu_ps(x.sums + r * stepsWidth() + g * kLanes);
#pragma clang loop unroll(full)
      for (int c = 0; c < C; ++c)
        total[c][r] = _mm512_fmadd_ps(_mm512_mul_ps(scales[c], steps),
                                      _mm512_fnmadd_ps(zeros[c], sums, _mm512_cvtepi32_ps(sum[c])),
                                      total[c][r]);
    }
  }

  /// Returns the sums of the elements of four vectors.
  ATC_WIDE_DOT_PART static __m128 sumsOf(__m512 a, __m512 b, __m512 c, __m512 d) {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    const __m512 all =
        _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  }

  template <int R, int Blocks>
  ATC_WIDE_DOT void multiplyBlocks(float *y, const Rows &x, const float *add, int64_t begin,
                                   int64_t end) const {
    constexpr int C = R == 1 ? 4 : R == 2 ? 2 : 1; // columns for which registers suffice
    const int64_t rest = Blocks > 1 ? p.blocks % Blocks : 0, whole = p.groups() - (rest > 0);
    // The last columns are computed again with those in front of them; where there are too few, a
    // column is computed several times.
    const int64_t step = end - begin >= kColumns, count = step ? kColumns : 1;
    const __mmask8 kept = __mmask8((1u << count) - 1);
    for (int64_t next = begin; next < end; next += count) {
      const int64_t j = minimum(next, end - count);
      __m512 total[kColumns][R];
#pragma clang loop unroll(disable)
      for (int64_t c = 0; c < kColumns; c += C) {
        const Columns columns = columnsFrom(j + c * step, step);
        __m512 sums[C][R];
#pragma clang loop unroll(full)
        for (int i = 0; i < C * R; ++i)
          sums[i / R][i % R] = _mm512_setzero_ps();
        BlockCounter counter{p.block / kGroup};
        for (int64_t g = 0; g < whole; ++g, counter.next())
          addGroup<R, C, Blocks, true>(sums, x, columns, g, Blocks > 1 ? g * Blocks : counter.block,
                                       Blocks);
        if (rest)
          addGroup<R, C, Blocks, false>(sums, x, columns, whole, whole * Blocks, rest);
#pragma clang loop unroll(full)
        for (int i = 0; i < C * R; ++i)
          total[c + i / R][i % R] = sums[i / R][i % R];
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r) {
        __m128 sums = sumsOf(total[0][r], total[1][r], total[2][r], total[3][r]);
        if (add)
          sums = _mm_add_ps(sums, _mm_maskz_loadu_ps(kept, add + j));
        _mm_mask_storeu_ps(y + r * p.n + j, kept, sums);
      }
    }
  }
};

} // namespace atc::kernels

#endif // __x86_64__

#endif // OPENATC_KERNELS_MICROSOFT_NIBBLEDIGITS_H
