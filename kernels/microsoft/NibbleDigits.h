//===-- NibbleDigits.h - few rows times weights of 4 bits, in integers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a processor adds products of four bytes in one instruction (vpdpbusd), fields need not
// become floats. The elements of a block of a row are integers q times a step of the block, and an
// integer is digits of 8 bits with sign: q = 65536 * d2 + 256 * d1 + d0. With zero point z and
// scale s of the weights
//
//   sum((w - z) * s * x) = s * step * sum(w * q) - s * z * step * sum(q)
//
// and sum(w * q) is three sums of products of bytes. Three digits have the 24 bits of an f32, with
// the exponent of the largest element of the block; one is what models ask for by accuracy_level 4.

#ifndef OPENATC_KERNELS_MICROSOFT_NIBBLEDIGITS_H
#define OPENATC_KERNELS_MICROSOFT_NIBBLEDIGITS_H

#include "kernels/microsoft/BlockedWeights.h"

#if defined(__x86_64__)
#include <immintrin.h>

/// Compiles a function for the levels of hasWideDot().
#define ATC_WIDE_DOT __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
/// Compiles one that functions of these levels contain.
#define ATC_WIDE_DOT_PART ATC_WIDE_DOT __attribute__((always_inline)) inline

namespace atc::kernels {

/// Converts floats to integers of `Digits` digits with a step per block.
template <int Digits> struct DigitSteps {
  static_assert(Digits >= 1 && Digits <= 3);
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
    // Of smaller ones the inverse would not be finite.
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
    // What is left after a digit that has a sign.
    values = _mm512_srai_epi32(_mm512_add_epi32(values, _mm512_set1_epi32(128)), 8);
    return _mm_shuffle_epi8(lowest, order);
  }

private:
  /// The largest integer: that with 127 as the first digits. With 127 as the third, too, an f32
  /// that is rounded up could exceed them.
  static constexpr int32_t kLimit = Digits == 3 ? 127 * 65792 : Digits == 2 ? 127 * 257 : 127;

  ATC_WIDE_DOT_PART static __m512 load(const float *from, int64_t count) {
    return count >= 16 ? _mm512_loadu_ps(from)
           : count > 0 ? _mm512_maskz_loadu_ps(__mmask16((1u << count) - 1), from)
                       : _mm512_setzero_ps();
  }
};

/// Multiplies rows, given in `Digits` digits per element, by weights of 4 bits. Only
/// where hasWideDot().
template <int Digits> struct NibbleDigits {
  static constexpr int64_t kGroup = BlockedWeights::kGroup;
  static constexpr int64_t kBlocks = 16; ///< whose scales are read at a time

  /// Rows in digits, each field with those of all groups or blocks of a row, rows one behind the
  /// other.
  struct Rows {
    int8_t *digits; ///< per group and digit, the highest first: even elements, then odd ones
    float *steps;   ///< per block
    float *sums;    ///< of the elements, per block
  };

  const BlockedWeights &p;

  /// Return the bytes that the digits of a row take, and the floats of its steps and of its sums.
  int64_t width() const { return p.groups() * Digits * kGroup; }
  int64_t stepsWidth() const { return ceilDiv(p.blocks, kBlocks) * kBlocks; }

  /// Writes the digits of a row of k floats; those behind k are 0.
  ATC_WIDE_DOT void arrange(const Rows &to, const float *row) const {
    using Steps = DigitSteps<Digits>;
    __builtin_memset(to.digits, 0, uint64_t(width()));
    for (int64_t b = 0; b < stepsWidth(); ++b)
      to.steps[b] = to.sums[b] = 0;
    const __m128i evenFirst = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    for (int64_t b = 0; b < p.blocks; ++b) {
      const int64_t first = b * p.block, count = minimum(p.block, p.k - first);
      const Steps steps = Steps::of(row + first, count);
      __m512 sum = _mm512_setzero_ps();
      for (int64_t i = first; i < first + count; i += 16) {
        __m512i values = steps.quantize(row + i, first + count - i);
        sum = _mm512_add_ps(sum, _mm512_cvtepi32_ps(values));
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
      to.steps[b] = steps.step;
      to.sums[b] = steps.step * _mm512_reduce_add_ps(sum);
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
  /// Accumulates a column: products in lanes, and what zero points subtract per block.
  template <int R> struct Sums {
    __m512 products[R], zeros[R];
  };

  /// Masks: which of 16 blocks, of their zero points in bytes, and of the bytes of their last group
  /// exist.
  struct Kept {
    __mmask16 blocks, zeroBytes;
    __mmask64 lastBytes;
  };
  Kept keptOf(int64_t count) const {
    const int64_t last = (p.blocks * p.block / 2 - 1) % (kGroup / 2) + 1;
    return {__mmask16((1u << count) - 1), __mmask16((1u << (count + 1) / 2) - 1),
            ~__mmask64(0) >> (64 - last)};
  }

  /// Returns the zero points of 16 blocks of column j from `first` on, an even number.
  ATC_WIDE_DOT_PART __m512 zerosOf(int64_t j, int64_t first, const Kept &kept) const {
    if (p.zeros)
      return _mm512_maskz_loadu_ps(kept.blocks, p.zeros + j * p.blocks + first);
    if (!p.packedZeros)
      return _mm512_set1_ps(8);
    const uint8_t *from = p.packedZeros + j * ceilDiv(p.blocks, int64_t(2)) + first / 2;
    const __m128i bytes = _mm_maskz_loadu_epi8(kept.zeroBytes, from);
    // A byte becomes two, of which the first has its low bits.
    const __m128i wide = _mm_cvtepu8_epi16(bytes);
    const __m128i fields =
        _mm_and_si128(_mm_or_si128(wide, _mm_slli_epi16(wide, 4)), _mm_set1_epi8(15));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(fields));
  }

  /// Adds the products of R rows and a group of a column, of which the `kept` bytes exist.
  /// `factors` are the scales times the steps of the rows, per block; lane l's block is blockOf[l].
  template <int R>
  ATC_WIDE_DOT_PART void addGroup(Sums<R> &to, const int8_t *digits, const uint8_t *from,
                                  __mmask64 kept, const __m512 (&factors)[R],
                                  __m512i blockOf) const {
    const __m512i own = _mm512_maskz_loadu_epi8(kept, from);
    __builtin_prefetch(from + BlockedWeights::kAhead);
    const __m512i field = _mm512_set1_epi8(15);
    const __m512i even = _mm512_and_si512(own, field);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(own, 4), field);
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r, digits += width()) {
      __m512i sum = _mm512_setzero_si512();
#pragma clang loop unroll(full)
      for (int digit = 0; digit < Digits; ++digit) {
        if (digit > 0)
          sum = _mm512_slli_epi32(sum, 8);
        const int8_t *own = digits + digit * kGroup;
        sum = _mm512_dpbusd_epi32(sum, even, _mm512_loadu_si512(own));
        sum = _mm512_dpbusd_epi32(sum, odd, _mm512_loadu_si512(own + kGroup / 2));
      }
      to.products[r] = _mm512_fmadd_ps(_mm512_permutexvar_ps(blockOf, factors[r]),
                                       _mm512_cvtepi32_ps(sum), to.products[r]);
    }
  }

  /// Adds blocks [b, b + count) of column j for R rows; b is a multiple of kBlocks. Blocks: those
  /// of a group, or 1 where a block has whole groups.
  template <int R, int Blocks, bool isWhole>
  ATC_WIDE_DOT_PART void addBlocks(Sums<R> &to, const Rows &x, int64_t j, int64_t b, int64_t count,
                                   const Kept &kept) const {
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i firstBlocks = _mm512_srli_epi32(lane, Blocks == 4 ? 2 : Blocks == 2 ? 3 : 4);
    const __m512 scale = _mm512_maskz_loadu_ps(kept.blocks, p.scales + j * p.blocks + b);
    const __m512 zero = _mm512_mul_ps(scale, zerosOf(j, b, kept));
    __m512 factors[R];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const int64_t at = r * stepsWidth() + b;
      factors[r] = _mm512_mul_ps(scale, _mm512_loadu_ps(x.steps + at));
      to.zeros[r] = _mm512_fmadd_ps(zero, _mm512_loadu_ps(x.sums + at), to.zeros[r]);
    }
    const int64_t perBlock = p.block / kGroup, first = b * p.block / kGroup;
    const uint8_t *from = p.packed + j * (p.blocks * p.block / 2) + first * (kGroup / 2);
    const int8_t *digits = x.digits + first * Digits * kGroup;
    if constexpr (Blocks > 1 && isWhole) {
#pragma clang loop unroll(full)
      for (int64_t g = 0; g < kBlocks / Blocks; ++g)
        addGroup<R>(to, digits + g * Digits * kGroup, from + g * (kGroup / 2), ~__mmask64(0),
                    factors, _mm512_add_epi32(firstBlocks, _mm512_set1_epi32(int32_t(g * Blocks))));
    } else if constexpr (Blocks > 1) {
      const int64_t groups = (count + Blocks - 1) / Blocks;
      for (int64_t g = 0; g < groups; ++g)
        addGroup<R>(to, digits + g * Digits * kGroup, from + g * (kGroup / 2),
                    g + 1 < groups ? ~__mmask64(0) : kept.lastBytes, factors,
                    _mm512_add_epi32(firstBlocks, _mm512_set1_epi32(int32_t(g * Blocks))));
    } else {
      for (int64_t block = 0; block < count; ++block)
        for (int64_t g = 0; g < perBlock; ++g, digits += Digits * kGroup, from += kGroup / 2)
          addGroup<R>(to, digits, from, ~__mmask64(0), factors, _mm512_set1_epi32(int32_t(block)));
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
    constexpr int64_t columns = 4; // whose sums are added up together
    const int64_t rest = p.blocks % kBlocks, whole = p.blocks - rest;
    const Kept all = {0xffff, 0xff, ~__mmask64(0)}, some = keptOf(rest);
    for (int64_t j = begin; j < end; j += columns) {
      const int64_t count = minimum(columns, end - j);
      const __mmask8 kept = __mmask8((1u << count) - 1);
      __m512 total[columns][R];
      for (int64_t c = 0; c < columns; ++c) {
        Sums<R> sums;
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r)
          sums.products[r] = sums.zeros[r] = _mm512_setzero_ps();
        for (int64_t b = 0; c < count && b < whole; b += kBlocks)
          addBlocks<R, Blocks, true>(sums, x, j + c, b, kBlocks, all);
        if (c < count && rest)
          addBlocks<R, Blocks, false>(sums, x, j + c, whole, rest, some);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r)
          total[c][r] = _mm512_sub_ps(sums.products[r], sums.zeros[r]);
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
