//===-- NibbleProduct.h - few rows times weights of 4 bits ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is 128 weights of a column: 64 bytes, that is 16 lanes of 8 fields. A shift moves a field
// q of each lane to the top of a mantissa, where with the exponent of 1 it is the float 1 + q / 16:
// no conversion is needed, and with zero point z
//
//   sum((q - z) * s * x) = 16 * s * (sum((1 + q / 16) * x) - (1 + z / 16) * sum(x))
//
// The sums stay in their lanes until the end of a column, so that blocks cost one scale and one
// zero point per lane.

#ifndef OPENATC_KERNELS_MICROSOFT_NIBBLEPRODUCT_H
#define OPENATC_KERNELS_MICROSOFT_NIBBLEPRODUCT_H

#include "kernels/core/Floats.h"

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

/// The product of `rows` rows of k floats and k x n weights of 4 bits, stored by columns in blocks
/// of `block` along k, the first of two fields in the low bits.
struct NibbleProduct {
  static constexpr int64_t kGroup = 128; ///< weights of a column that are read at a time
  static constexpr int64_t kLanes = 16, kFields = 8;

  int64_t n = 0, k = 0, block = 32, blocks = 0; ///< `blocks` per column
  const uint8_t *packed = nullptr;              ///< [n, blocks, block / 2]
  const float *scales = nullptr;                ///< [n, blocks]
  /// Zero points as floats [n, blocks] or in 4 bits [n, (blocks + 1) / 2]; both null: 8.
  const float *zeros = nullptr;
  const uint8_t *packedZeros = nullptr;

  /// Returns whether groups hold whole blocks or blocks whole groups.
  static bool serves(int64_t block) { return block == 32 || block == 64 || block % kGroup == 0; }

  int64_t groups() const { return ceilDiv(blocks * block, kGroup); }
  /// The number of floats that a row takes when it is arranged, and of its sums.
  int64_t width() const { return groups() * kGroup; }
  int64_t sumsWidth() const { return groups() * kLanes; }

  /// Returns the zero point of a block of a column.
  float zeroOf(int64_t j, int64_t b) const {
    if (zeros)
      return zeros[j * blocks + b];
    const uint8_t *from = packedZeros ? packedZeros + j * ceilDiv(blocks, int64_t(2)) : nullptr;
    return from ? float(from[b / 2] >> (b % 2 * 4) & 15) : 8;
  }

  /// Arranges a row of k floats: field after field, each with its 16 lanes, zeros behind k.
  /// `sums` receives the sum per lane and group.
  void arrange(float *to, float *sums, const float *row) const {
    for (int64_t g = 0; g < groups(); ++g, to += kGroup, sums += kLanes) {
      float padded[kGroup] = {};
      const float *from = row + g * kGroup;
      if (const int64_t rest = k - g * kGroup; rest < kGroup) {
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
      columns<R, 4>(y, x, sums, add, begin, end);
    else if (block == 64)
      columns<R, 2>(y, x, sums, add, begin, end);
    else
      columns<R, 1>(y, x, sums, add, begin, end);
  }

  /// Expands rows [first, first + depth) of 16 columns from `column` on, as multiplyPacked reads a
  /// panel; those behind n are 0. `first` is a multiple of 8.
  void expandPanel(float *to, int64_t column, int64_t first, int64_t depth) const {
    const int64_t bytes = blocks * block / 2;
    int64_t columnOf[kLanes]; // behind the last column: that one, with a scale of 0
    for (int64_t lane = 0; lane < kLanes; ++lane)
      columnOf[lane] = minimum(column + lane, n - 1);
    for (int64_t i = 0; i < depth;) {
      const int64_t b = (first + i) / block, end = minimum((b + 1) * block - first, depth);
      Floats scaled, middle;
#pragma clang loop unroll(full)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t j = columnOf[lane];
        scaled[lane] = column + lane < n ? 16 * scales[j * blocks + b] : 0;
        middle[lane] = middleOf(j, b);
      }
      for (; i < end; i += kFields) {
        const uint8_t *from = packed + (first + i) / 2;
        Words words;
#pragma clang loop unroll(full)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          uint32_t word;
          __builtin_memcpy(&word, from + columnOf[lane] * bytes, 4);
          words[lane] = word;
        }
        float *row = to + i * kLanes;
        for (int64_t field = 0; field < minimum(kFields, end - i); ++field, words >>= 4u)
          *reinterpret_cast<LooseFloats *>(row + field * kLanes) =
              (floatsFrom(words << uint32_t(kTop)) - middle) * scaled;
      }
    }
  }

private:
  using Floats = Floats16;
  typedef float LooseFloats __attribute__((vector_size(64), aligned(4), may_alias));
  typedef uint32_t Words __attribute__((vector_size(64)));
  typedef uint32_t LooseWords __attribute__((vector_size(64), aligned(1), may_alias));
  static constexpr uint32_t kOne = 0x3f800000, kField = 0x00780000;
  static constexpr int kTop = 19; ///< the lowest bit of a field at the top of a mantissa

  /// Returns 1 + z / 16 for the zero point of a block of a column.
  float middleOf(int64_t j, int64_t b) const { return 1 + zeroOf(j, b) / 16; }

  static Floats floatsFrom(Words fields) {
    return __builtin_bit_cast(Floats, (fields & kField) | kOne);
  }

  /// Adds the products of fields I and up to the sums of R rows.
  template <int R, int I = 0>
  static __attribute__((always_inline)) inline void addFields(Floats (&sums)[R], Words words,
                                                              const float *x, int64_t row) {
    if constexpr (I < kFields) {
      constexpr int shift = kTop - 4 * I;
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

  /// Returns the values of the blocks of a group, each in the lanes of its block.
  template <int Blocks>
  static __attribute__((always_inline)) inline Floats inLanes(const float *values) {
    Floats lanes;
#pragma clang loop unroll(full)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = values[lane * Blocks / kLanes];
    return lanes;
  }

  /// Returns 1 + z / 16 for the zero points of the blocks in the low bits of `fields`.
  template <int Blocks>
  static __attribute__((always_inline)) inline Floats zerosFrom(uint32_t fields) {
    Words lanes, shifts;
#pragma clang loop unroll(full)
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = fields;
      shifts[lane] = uint32_t(kTop - lane * Blocks / kLanes * 4);
    }
    return floatsFrom(lanes << shifts);
  }

  /// Reads the zero points in 4 bits of the group whose first block of a column is `first`.
  template <int Blocks> static uint32_t zeroFields(const uint8_t *from, int64_t first) {
    if constexpr (Blocks == 4)
      return from[first / 2] | uint32_t(from[first / 2 + 1]) << 8;
    else
      return uint32_t(from[first / 2]) >> (first % 2 * 4);
  }

  static Floats masked(Floats values, Words kept) {
    return __builtin_bit_cast(Floats, __builtin_bit_cast(Words, values) & kept);
  }

  template <int R, int Blocks>
  void columns(float *y, const float *x, const float *sums, const float *add, int64_t begin,
               int64_t end) const {
    const int64_t bytes = blocks * block / 2, zeroBytes = ceilDiv(blocks, int64_t(2));
    const int64_t whole = blocks * block / kGroup, row = width(), sumsRow = sumsWidth();
    // Groups that several blocks make may end behind the column's last one.
    const int64_t rest = Blocks > 1 ? blocks % Blocks : 0;
    Words kept;
    for (int lane = 0; lane < kLanes; ++lane)
      kept[lane] = lane * Blocks / kLanes < rest ? ~0u : 0;
    for (int64_t j = begin; j < end; ++j) {
      const uint8_t *from = packed + j * bytes;
      const float *scale = scales + j * blocks, *zero = zeros ? zeros + j * blocks : nullptr;
      const uint8_t *zeroFrom = packedZeros ? packedZeros + j * zeroBytes : nullptr;
      Floats total[R] = {};
      auto addGroup = [&](int64_t g, const uint8_t *weights, Floats scaled, Floats middle) {
        Floats part[R] = {};
        addFields<R>(part, *reinterpret_cast<const LooseWords *>(weights), x + g * kGroup, row);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r) {
          part[r] -=
              middle * *reinterpret_cast<const LooseFloats *>(sums + r * sumsRow + g * kLanes);
          total[r] += scaled * part[r];
        }
      };
      auto addWhole = [&](auto middleOf) {
        for (int64_t g = 0; g < whole; ++g) {
          const int64_t first = Blocks > 1 ? g * Blocks : g * kGroup / block;
          addGroup(g, from + g * (kGroup / 2), inLanes<Blocks>(scale + first), middleOf(first));
        }
      };
      if (zeroFrom)
        addWhole(
            [&](int64_t first) { return zerosFrom<Blocks>(zeroFields<Blocks>(zeroFrom, first)); });
      else if (zero)
        addWhole([&](int64_t first) { return 1 + inLanes<Blocks>(zero + first) / 16; });
      else
        addWhole([](int64_t) { return Floats{} + 1.5f; });
      if (rest) {
        auto addRest = [&](const uint8_t *weights, const float *scaled, const float *middles,
                           const uint8_t *fields, int64_t first) {
          const Floats middle = fields    ? zerosFrom<Blocks>(zeroFields<Blocks>(fields, first))
                                : middles ? 1 + inLanes<Blocks>(middles) / 16
                                          : Floats{} + 1.5f;
          addGroup(whole, weights, masked(inLanes<Blocks>(scaled), kept), masked(middle, kept));
        };
        const int64_t first = whole * Blocks;
        const uint8_t *last = from + whole * (kGroup / 2);
        if (j + 1 < n && blocks >= Blocks) {
          // What follows is the next column's: x is 0 there, and the mask hides the rest of it.
          addRest(last, scale + first, zero ? zero + first : nullptr, zeroFrom, first);
        } else {
          uint8_t weights[kGroup / 2] = {}, fields[2] = {};
          float scaled[Blocks] = {}, middles[Blocks] = {};
          copyBytes(weights, last, rest * block / 2);
          for (int64_t i = 0; i < rest; ++i) {
            scaled[i] = scale[first + i];
            middles[i] = zero ? zero[first + i] : 0;
            fields[i / 2] = zeroFrom ? zeroFrom[(first + i) / 2] : uint8_t(0);
          }
          addRest(weights, scaled, zero ? middles : nullptr, zeroFrom ? fields : nullptr, 0);
        }
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r)
        y[r * n + j] = 16 * sumOf(total[r]) + (add ? add[j] : 0);
    }
  }
};

} // namespace atc::kernels

#pragma GCC diagnostic pop

#endif // OPENATC_KERNELS_MICROSOFT_NIBBLEPRODUCT_H
