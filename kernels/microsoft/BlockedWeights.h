//===-- BlockedWeights.h - weights of few bits in blocks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_MICROSOFT_BLOCKEDWEIGHTS_H
#define OPENATC_KERNELS_MICROSOFT_BLOCKEDWEIGHTS_H

#include "kernels/core/Floats.h"

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

/// Counts the blocks of a column along pieces of it, of which a block has `pieces`, without a
/// division per piece.
struct BlockCounter {
  int64_t pieces, left = pieces, block = 0;

  /// Goes on to the next piece.
  void next() {
    if (--left == 0) {
      ++block;
      left = pieces;
    }
  }
};

/// k x n weights of 4 or 8 bits, stored by columns in blocks of `block` along k, the first of two
/// fields in the low bits.
struct BlockedWeights {
  static constexpr int64_t kGroup = 128; ///< weights of a column that are read at a time
  static constexpr int64_t kLanes = 16;
  /// The bytes by which products of few rows request weights ahead: processors do so themselves
  /// within a page only.
  static constexpr int64_t kAhead = 4096;

  int64_t n = 0, k = 0, bits = 4, block = 32, blocks = 0; ///< `blocks` per column
  const uint8_t *packed = nullptr;                        ///< [n, blocks, block * bits / 8]
  const float *scales = nullptr;                          ///< [n, blocks]
  /// Zero points as floats [n, blocks], or in so many bits, where a column begins with a byte; both
  /// null: the middle.
  const float *zeros = nullptr;
  const uint8_t *packedZeros = nullptr;

  /// Returns whether groups hold whole blocks or blocks whole groups.
  static bool serves(int64_t block) { return block == 32 || block == 64 || block % kGroup == 0; }

  int64_t groups() const { return ceilDiv(blocks * block, kGroup); }
  /// Returns the number of elements of whole groups.
  int64_t width() const { return groups() * kGroup; }
  int64_t columnBytes() const { return blocks * block * bits / 8; }

  /// Returns the zero point of a block of a column.
  float zeroOf(int64_t j, int64_t b) const {
    if (zeros)
      return zeros[j * blocks + b];
    if (!packedZeros)
      return float(1 << (bits - 1));
    if (bits == 8)
      return packedZeros[j * blocks + b];
    return float(packedZeros[j * ceilDiv(blocks, int64_t(2)) + b / 2] >> (b % 2 * 4) & 15);
  }

  /// Expands rows [first, first + depth) of 16 columns from `column` on, as multiplyPacked reads a
  /// panel; those behind n are 0. `first` is a multiple of the fields of a word, and so are blocks.
  /// A shift moves a field q to the top of a mantissa, where it is the float 1 + q / 2^Bits.
  template <int Bits>
  void expandPanel(float *to, int64_t column, int64_t first, int64_t depth) const {
    constexpr int64_t fields = 32 / Bits;
    constexpr uint32_t top = 23 - Bits, mask = ((1u << Bits) - 1) << top;
    constexpr float levels = 1 << Bits;
    int64_t columnOf[kLanes]; // behind the last column: that one, with a scale of 0
    for (int64_t lane = 0; lane < kLanes; ++lane)
      columnOf[lane] = minimum(column + lane, n - 1);
    for (int64_t i = 0; i < depth;) {
      const int64_t b = (first + i) / block, end = minimum((b + 1) * block - first, depth);
      // Prefetches the beginning of the next piece of these columns, while this one is computed.
      for (int64_t lane = 0; i % kGroup == 0 && lane < kLanes; ++lane)
        __builtin_prefetch(packed + columnOf[lane] * columnBytes() +
                           (first + i + depth) * Bits / 8);
      Floats16 scaled, middle;
#pragma clang loop unroll(full)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t j = columnOf[lane];
        scaled[lane] = column + lane < n ? levels * scales[j * blocks + b] : 0;
        middle[lane] = 1 + zeroOf(j, b) / levels;
      }
      for (; i < end; i += fields) {
        const uint8_t *from = packed + (first + i) * Bits / 8;
        Words words;
#pragma clang loop unroll(full)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          uint32_t word;
          __builtin_memcpy(&word, from + columnOf[lane] * columnBytes(), 4);
          words[lane] = word;
        }
        float *row = to + i * kLanes;
        for (int64_t field = 0; field < minimum(fields, end - i); ++field, words >>= uint32_t(Bits))
          *reinterpret_cast<LooseFloats *>(row + field * kLanes) =
              (__builtin_bit_cast(Floats16, (words << top & mask) | 0x3f800000u) - middle) * scaled;
      }
    }
  }

protected:
  typedef float LooseFloats __attribute__((vector_size(64), aligned(4), may_alias));
  typedef uint32_t Words __attribute__((vector_size(64)));
};

} // namespace atc::kernels

#pragma GCC diagnostic pop

#endif // OPENATC_KERNELS_MICROSOFT_BLOCKEDWEIGHTS_H
