//===-- FieldProduct.h - few rows times weights of few bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step is 64 bytes of a column, 16 lanes of 8 fields of 4 bits or 4 of 8 bits. A shift moves a
// field q of each lane to the top of a mantissa, where with the exponent of 1 it is the float
// 1 + q / L, L = 2^bits: no conversion is needed, and with zero point z
//
//   sum((q - z) * s * x) = L * s * (sum((1 + q / L) * x) - (1 + z / L) * sum(x))
//
// The sums stay in their lanes until the end of a column, so that blocks cost one scale and one
// zero point per lane.

#ifndef OPENATC_KERNELS_MICROSOFT_FIELDPRODUCT_H
#define OPENATC_KERNELS_MICROSOFT_FIELDPRODUCT_H

#include "kernels/microsoft/BlockedWeights.h"

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

/// The product of rows of k floats and weights of `Bits` bits.
template <int Bits> struct FieldProduct : BlockedWeights {
  static constexpr int64_t kFields = 32 / Bits; ///< of a word
  static constexpr int64_t kStep =
      kLanes * kFields; ///< weights of a column that are read at a time
  static constexpr int64_t kStepBytes = 4 * kLanes;

  int64_t steps() const { return ceilDiv(blocks * block, kStep); }
  /// Return the number of floats of a row that is arranged, and of its sums.
  int64_t rowWidth() const { return steps() * kStep; }
  int64_t sumsWidth() const { return steps() * kLanes; }

  /// Arranges a row of k floats: field after field, each with its 16 lanes, zeros behind k.
  /// `sums` receives the sum per lane and step.
  void arrange(float *to, float *sums, const float *row) const {
    for (int64_t g = 0; g < steps(); ++g, to += kStep, sums += kLanes) {
      float padded[kStep] = {};
      const float *from = row + g * kStep;
      if (const int64_t rest = k - g * kStep; rest < kStep) {
        for (int64_t i = 0; i < rest; ++i)
          padded[i] = from[i];
        from = padded;
      }
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        float sum = 0;
        for (int64_t i = 0; i < kFields; ++i) {
          const float x = from[lane * kFields + i];
          to[i * kLanes + lane] = x;
          sum += x;
        }
        sums[lane] = sum;
      }
    }
  }

  /// Computes columns [begin, end) of R rows, which are arranged one behind the other: y has rows
  /// of n. `add` holds a float per column, or is null.
  template <int R>
  void multiply(float *y, const float *x, const float *sums, const float *add, int64_t begin,
                int64_t end) const {
    if (block == 32)
      columns<R, kStep / 32>(y, x, sums, add, begin, end);
    else if (block == 64)
      columns<R, kStep / 64>(y, x, sums, add, begin, end);
    else
      columns<R, 1>(y, x, sums, add, begin, end);
  }

private:
  using Floats = Floats16;
  typedef uint32_t LooseWords __attribute__((vector_size(64), aligned(1), may_alias));
  static constexpr int kTop = 23 - Bits; ///< the lowest bit of a field at the top of a mantissa
  static constexpr uint32_t kOne = 0x3f800000, kField = ((1u << Bits) - 1) << kTop;
  static constexpr float kLevels = 1 << Bits;

  static Floats floatsFrom(Words fields) {
    return __builtin_bit_cast(Floats, (fields & kField) | kOne);
  }

  /// Adds the products of fields I and up to the sums of R rows.
  template <int R, int I = 0>
  static __attribute__((always_inline)) inline void addFields(Floats (&sums)[R], Words words,
                                                              const float *x, int64_t row) {
    if constexpr (I < kFields) {
      constexpr int shift = kTop - Bits * I;
      Floats weights;
      if constexpr (shift >= 0)
        weights = floatsFrom(words << uint32_t(shift));
      else
        weights = floatsFrom(words >> uint32_t(-shift));
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r)
        sums[r] += weights * *reinterpret_cast<const LooseFloats *>(x + r * row + I * kLanes);
      addFields<R, I + 1>(sums, words, x, row);
    }
  }

  /// Returns the values of the blocks of a step, each in the lanes of its block.
  template <int Blocks>
  static __attribute__((always_inline)) inline Floats inLanes(const float *values) {
    Floats lanes;
#pragma clang loop unroll(full)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = values[lane * Blocks / kLanes];
    return lanes;
  }

  /// Returns 1 + z / L for the zero points of the blocks in the low bits of `fields`.
  template <int Blocks>
  static __attribute__((always_inline)) inline Floats zerosFrom(uint32_t fields) {
    Words lanes, shifts;
#pragma clang loop unroll(full)
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = fields;
      shifts[lane] = uint32_t(kTop - lane * Blocks / kLanes * Bits);
    }
    return floatsFrom(lanes << shifts);
  }

  /// Reads the zero points of the step whose first block of a column is `first`.
  template <int Blocks> static uint32_t zeroFields(const uint8_t *from, int64_t first) {
    if constexpr (Bits == 4 && Blocks < 4)
      return uint32_t(from[first / 2]) >> (first % 2 * 4);
    const uint8_t *begin = from + first * Bits / 8;
    return Blocks * Bits > 8 ? begin[0] | uint32_t(begin[1]) << 8 : begin[0];
  }

  static Floats masked(Floats values, Words kept) {
    return __builtin_bit_cast(Floats, __builtin_bit_cast(Words, values) & kept);
  }

  template <int R, int Blocks>
  void columns(float *y, const float *x, const float *sums, const float *add, int64_t begin,
               int64_t end) const {
    static_assert(Blocks * Bits <= 16);
    const int64_t bytes = columnBytes(), zeroBytes = ceilDiv(blocks * Bits, int64_t(8));
    const int64_t whole = blocks * block / kStep, row = rowWidth(), sumsRow = sumsWidth();
    // Steps that several blocks make may end behind the column's last one.
    const int64_t rest = Blocks > 1 ? blocks % Blocks : 0;
    Words kept;
    for (int lane = 0; lane < kLanes; ++lane)
      kept[lane] = lane * Blocks / kLanes < rest ? ~0u : 0;
    for (int64_t j = begin; j < end; ++j) {
      const uint8_t *from = packed + j * bytes;
      const float *scale = scales + j * blocks, *zero = zeros ? zeros + j * blocks : nullptr;
      const uint8_t *zeroFrom = packedZeros ? packedZeros + j * zeroBytes : nullptr;
      Floats total[R] = {};
      auto addStep = [&](int64_t g, const uint8_t *weights, Floats scaled, Floats middle) {
        __builtin_prefetch(weights + kAhead);
        Floats part[R] = {};
        addFields<R>(part, *reinterpret_cast<const LooseWords *>(weights), x + g * kStep, row);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r) {
          part[r] -=
              middle * *reinterpret_cast<const LooseFloats *>(sums + r * sumsRow + g * kLanes);
          total[r] += scaled * part[r];
        }
      };
      auto addWhole = [&](auto middleOf) {
        BlockCounter counter{block / kStep};
        for (int64_t g = 0; g < whole; ++g, counter.next()) {
          const int64_t first = Blocks > 1 ? g * Blocks : counter.block;
          addStep(g, from + g * kStepBytes, inLanes<Blocks>(scale + first), middleOf(first));
        }
      };
      if (zeroFrom)
        addWhole(
            [&](int64_t first) { return zerosFrom<Blocks>(zeroFields<Blocks>(zeroFrom, first)); });
      else if (zero)
        addWhole([&](int64_t first) { return 1 + inLanes<Blocks>(zero + first) / kLevels; });
      else
        addWhole([](int64_t) { return Floats{} + 1.5f; });
      if (rest) {
        auto addRest = [&](const uint8_t *weights, const float *scaled, const float *middles,
                           const uint8_t *fields, int64_t first) {
          const Floats middle = fields    ? zerosFrom<Blocks>(zeroFields<Blocks>(fields, first))
                                : middles ? 1 + inLanes<Blocks>(middles) / kLevels
                                          : Floats{} + 1.5f;
          addStep(whole, weights, masked(inLanes<Blocks>(scaled), kept), masked(middle, kept));
        };
        const int64_t first = whole * Blocks;
        const uint8_t *last = from + whole * kStepBytes;
        if (j + 1 < n && blocks >= Blocks) {
          // The load reads into the next column: x is 0 there, and the mask hides the rest.
          addRest(last, scale + first, zero ? zero + first : nullptr, zeroFrom, first);
        } else {
          uint8_t weights[kStepBytes] = {}, fields[2] = {};
          float scaled[Blocks] = {}, middles[Blocks] = {};
          copyBytes(weights, last, rest * block * Bits / 8);
          for (int64_t i = 0; i < rest; ++i) {
            scaled[i] = scale[first + i];
            middles[i] = zero ? zero[first + i] : 0;
            if (const int64_t at = i * Bits / 8; zeroFrom)
              fields[at] = zeroFrom[first * Bits / 8 + at];
          }
          addRest(weights, scaled, zero ? middles : nullptr, zeroFrom ? fields : nullptr, 0);
        }
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r)
        y[r * n + j] = kLevels * sumOf(total[r]) + (add ? add[j] : 0);
    }
  }
};

} // namespace atc::kernels

#pragma GCC diagnostic pop

#endif // OPENATC_KERNELS_MICROSOFT_FIELDPRODUCT_H
