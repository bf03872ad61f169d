//===-- IntegerGates.h - weights of gates in 16 bits -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 16-bit integers need half of the bytes of f32, and two instructions per vector of
// them. A column of weights has a scale for each kChunk rows. The state becomes integers of 20
// bits in two limbs of 10, so that its error is far below that of the weights. The sums of a chunk
// are exact; they are scaled and added up as floats in the same order on every processor.

#ifndef OPENATC_KERNELS_NN_GATES_INTEGERGATES_H
#define OPENATC_KERNELS_NN_GATES_INTEGERGATES_H

#include "kernels/core/WideDot.h"
#include "kernels/nn/gates/GateLayout.h"

namespace atc::kernels {

/// Converts packed panels to chunks, each of which holds [kChunk / 2][kColumns][2] weights, then
/// the scale of each column.
struct IntegerGates {
  static constexpr int64_t kChunk = 32, kColumns = GateLayout::kColumns;
  static constexpr int64_t kChunkWords = kChunk * GateLayout::kIntegerWords;
  static_assert(kChunkWords == kChunk * kColumns / 2 + kColumns);
  static constexpr int64_t kMaxDepth = 2048;
  static constexpr float kLargest = 32767;
  /// The largest expected error of a gate, for a state of ones. With it, results of cells with
  /// weights of many kinds differ by less than 1e-5 of their range.
  static constexpr double kMaxError = 3e-5;

  /// Returns whether states of `depth` units fit.
  static constexpr bool areFor(int64_t depth) {
    return depth > 0 && depth % kChunk == 0 && depth <= kMaxDepth;
  }

  /// Converts the packed weights of a direction, which are finite, `from` in the layout of floats.
  /// Returns the expected error of the gate with the largest one, for a state of ones: that of a
  /// weight is as likely as any between minus and plus half of its scale.
  static double convert(uint32_t *to, const float *from, const CellLayout &layout) {
    double largest = 0;
    convertPanels(to, from, layout, [&](uint32_t *words, const float *weights) {
      double errors[kColumns] = {};
      for (int64_t k = 0; k < layout.depth; k += kChunk)
        convertChunk(words + k * GateLayout::kIntegerWords, weights + k * kColumns, errors);
      for (double error : errors)
        largest = error > largest ? error : largest;
    });
    return __builtin_sqrt(largest);
  }

private:
  /// Converts rows of a panel, and adds the expected squares of the errors of the gates.
  static void convertChunk(uint32_t *to, const float *from, double (&errors)[kColumns]) {
    constexpr float tiny = 0x1p-80f;
    for (int64_t column = 0; column < kColumns; ++column) {
      float largest = 0;
      for (int64_t k = 0; k < kChunk; ++k) {
        const float magnitude = __builtin_fabsf(from[k * kColumns + column]);
        largest = magnitude > largest ? magnitude : largest;
      }
      const float scale = largest < tiny ? 0 : largest / kLargest;
      to[kChunk / 2 * kColumns + column] = __builtin_bit_cast(uint32_t, scale);
      errors[column] += kChunk / 12.0 * scale * scale;
      const auto digitsOf = [&](int64_t k) -> uint32_t {
        const float value = scale > 0 ? from[k * kColumns + column] / scale : 0;
        return uint32_t(int32_t(value < 0 ? value - 0.5f : value + 0.5f)) & 0xffff;
      };
      for (int64_t k = 0; k < kChunk; k += 2)
        to[k / 2 * kColumns + column] = digitsOf(k) | digitsOf(k + 1) << 16;
    }
  }
};

/// Multiplies a state by panels of integers.
class IntegerState {
  typedef float Vec __attribute__((vector_size(64)));

public:
  /// Finds the limbs of a state, of IntegerGates::areFor(units) units.
  void set(const float *from, int64_t units) {
    typedef int32_t Ints __attribute__((vector_size(64)));
    typedef int16_t Limbs __attribute__((vector_size(32), aligned(2), may_alias));
    typedef Vec Loose __attribute__((aligned(4), may_alias));
    typedef uint32_t Words __attribute__((vector_size(64)));
    state = from;
    depth = units;
    // Magnitudes are in the order of their bits.
    Words largest = {};
    for (int64_t k = 0; k < depth; k += kLanes)
      largest = __builtin_elementwise_max(
          largest,
          __builtin_bit_cast(Words, *reinterpret_cast<const Loose *>(from + k)) & 0x7fffffffu);
    uint32_t exponent = __builtin_reduce_max(largest) >> 23;
    hasLimbs = exponent < 255 && multipliesLimbs();
    if (!hasLimbs)
      return;
    // Below 2^-62 zeros are close enough, and unit() stays normal.
    exponent = exponent < 64 ? 64 : exponent;
    // The largest magnitude is below 2^(exponent - 126), which becomes 2^20.
    const float scale = __builtin_bit_cast(float, (273 - exponent) << 23);
    valueOfOne = __builtin_bit_cast(float, (exponent - 19) << 23);
    // The sum has a unit of 1, so that it is rounded to the nearest integer.
    constexpr float round = 0x1.8p23f;
    for (int64_t k = 0; k < depth; k += kLanes) {
      const Vec sum = *reinterpret_cast<const Loose *>(from + k) * scale + round;
      const Ints digits = __builtin_bit_cast(Ints, sum) - __builtin_bit_cast(int32_t, round);
      const Ints above = (digits + 512) >> 10;
      *reinterpret_cast<Limbs *>(high + k) = __builtin_convertvector(above, Limbs);
      *reinterpret_cast<Limbs *>(low + k) = __builtin_convertvector(digits - (above << 10), Limbs);
    }
  }

  /// Returns what a product is to be multiplied by.
  float unit() const { return hasLimbs ? valueOfOne : 1; }

  /// Computes the product with each column of a panel, and requests the panel `ahead`, if any.
  /// Results are stored and not returned, which depends on the CPU level for vectors.
  void multiply(Vec (&to)[4], const float *panel, const float *ahead) const {
#if defined(__x86_64__)
    const int64_t distance = ahead ? (ahead - panel) * int64_t(sizeof(float)) : kNearDistance;
    if (hasLimbs && atc_kernel_lanes >= 16)
      return multiplyWide(to, reinterpret_cast<const char *>(panel), distance);
    if (hasLimbs && atc_kernel_lanes >= 8)
      return multiplyHalves(to, reinterpret_cast<const char *>(panel), ahead ? distance : 0);
#endif
    multiplyFloats(to, panel);
  }

private:
  static constexpr int64_t kLanes = 16, kChunk = IntegerGates::kChunk;
  /// How many bytes ahead weights are prefetched where no panel follows.
  static constexpr int64_t kNearDistance = 2048;
  static constexpr float kLimb = 1024;

  /// Returns whether there are functions for the registers of the CPU level.
  static bool multipliesLimbs() {
#if defined(__x86_64__)
    return atc_kernel_lanes >= 8;
#else
    return false;
#endif
  }

#if defined(__x86_64__)
  /// Returns two adjacent limbs.
  [[gnu::always_inline]] static int32_t pairAt(const int16_t *limbs) {
    int32_t pair;
    __builtin_memcpy(&pair, limbs, sizeof(pair));
    return pair;
  }

  __attribute__((target("avx512f,avx512bw"))) void multiplyWide(Vec (&to)[4], const char *from,
                                                                int64_t distance) const {
    __m512 total[4] = {};
    const __m512 limb = _mm512_set1_ps(kLimb);
    for (int64_t k = 0; k < depth; k += kChunk) {
      __m512i above[4] = {}, below[4] = {};
      // The compiler makes two instructions of vpdpwssd where it joins iterations.
#pragma clang loop unroll(disable)
      for (int64_t i = k; i < k + kChunk; i += 2, from += 256) {
        const __m512i upper = _mm512_set1_epi32(pairAt(high + i));
        const __m512i lower = _mm512_set1_epi32(pairAt(low + i));
#pragma clang loop unroll(full)
        for (int s = 0; s < 4; ++s) {
          const __m512i pairs = _mm512_loadu_si512(from + 64 * s);
          __builtin_prefetch(from + distance + 64 * s, 0, 3);
          above[s] = _mm512_add_epi32(above[s], _mm512_madd_epi16(upper, pairs));
          below[s] = _mm512_add_epi32(below[s], _mm512_madd_epi16(lower, pairs));
        }
      }
#pragma clang loop unroll(full)
      for (int s = 0; s < 4; ++s, from += 64) {
        const __m512 sums =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(above[s]), limb, _mm512_cvtepi32_ps(below[s]));
        __builtin_prefetch(from + distance, 0, 3);
        total[s] = _mm512_fmadd_ps(sums, _mm512_loadu_ps(from), total[s]);
      }
    }
#pragma clang loop unroll(full)
    for (int s = 0; s < 4; ++s)
      _mm512_storeu_ps(&to[s], total[s]);
  }

  /// Computes 32 columns at a time, for which there are registers.
  __attribute__((target("avx2,fma"))) void multiplyHalves(Vec (&to)[4], const char *panel,
                                                          int64_t distance) const {
    const __m256 limb = _mm256_set1_ps(kLimb);
    float *result = reinterpret_cast<float *>(&to);
    for (int64_t k = 0; k < depth; k += kChunk, panel += 4 * IntegerGates::kChunkWords)
      for (int64_t half = 0; half < 2; ++half) {
        const char *from = panel + 128 * half;
        __m256i above[4] = {}, below[4] = {};
#pragma clang loop unroll(disable)
        for (int64_t i = k; i < k + kChunk; i += 2, from += 256) {
          const __m256i upper = _mm256_set1_epi32(pairAt(high + i));
          const __m256i lower = _mm256_set1_epi32(pairAt(low + i));
          if (distance) {
            __builtin_prefetch(from + distance, 0, 2);
            __builtin_prefetch(from + distance + 64, 0, 2);
          }
#pragma clang loop unroll(full)
          for (int s = 0; s < 4; ++s) {
            const __m256i pairs =
                _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + 32 * s));
            above[s] = _mm256_add_epi32(above[s], _mm256_madd_epi16(upper, pairs));
            below[s] = _mm256_add_epi32(below[s], _mm256_madd_epi16(lower, pairs));
          }
        }
        const char *scales = panel + 2 * kChunk * GateLayout::kColumns + 128 * half;
#pragma clang loop unroll(full)
        for (int s = 0; s < 4; ++s) {
          const __m256 sums =
              _mm256_fmadd_ps(_mm256_cvtepi32_ps(above[s]), limb, _mm256_cvtepi32_ps(below[s]));
          const __m256 scale = _mm256_loadu_ps(reinterpret_cast<const float *>(scales) + 8 * s);
          float *sum = result + 32 * half + 8 * s;
          const __m256 before = k == 0 ? _mm256_setzero_ps() : _mm256_loadu_ps(sum);
          _mm256_storeu_ps(sum, _mm256_fmadd_ps(sums, scale, before));
        }
      }
  }
#endif

  /// Multiplies the state as it is: one that is not finite, and on processors for which the
  /// compiler does not make such weights.
  void multiplyFloats(Vec (&to)[4], const float *panel) const {
    constexpr int64_t columns = GateLayout::kColumns;
    float sums[columns] = {};
    for (int64_t k = 0; k < depth; ++k) {
      const float *chunk = panel + k / kChunk * IntegerGates::kChunkWords;
      const float *pairs = chunk + k % kChunk / 2 * columns;
      const float *scales = chunk + kChunk / 2 * columns;
      for (int64_t j = 0; j < columns; ++j) {
        const auto pair = __builtin_bit_cast(uint32_t, pairs[j]);
        const auto digits = int16_t(k % 2 ? pair >> 16 : pair & 0xffff);
        sums[j] += state[k] * (float(digits) * scales[j]);
      }
    }
    __builtin_memcpy(&to, sums, sizeof(sums));
  }

  const float *state = nullptr;
  int64_t depth = 0;
  float valueOfOne = 0;
  bool hasLimbs = false; ///< else the state is multiplied as it is
  int16_t high[IntegerGates::kMaxDepth], low[IntegerGates::kMaxDepth];
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GATES_INTEGERGATES_H
