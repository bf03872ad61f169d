//===-- Winograd.h - F(m x m, 3x3) in whole numbers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_WINOGRAD_H
#define OPENATC_DIALECTS_CPU_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstdint>
#include <optional>

namespace atc::cpu {

/// Tiles of m x m outputs of a 3x3 convolution from the products of (m + 2)^2 places
/// (A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2015). All
/// matrices are whole numbers; sums come out `odd` * 2^`shift` times as large as they are.
struct Winograd {
  int64_t outputs; // m
  uint32_t odd, shift;

  /// The form with so many places, if there is one.
  static std::optional<Winograd> ofPlaces(int64_t places) {
    if (places == 16)
      return Winograd{2, 1, 2};
    if (places == 36)
      return Winograd{4, 9, 6};
    return std::nullopt;
  }

  int64_t side() const { return outputs + 2; }
  int64_t places() const { return side() * side(); }
  int64_t tilesAlong(int64_t size) const { return llvm::divideCeil(size, outputs); }
  int64_t tilesOf(int64_t height, int64_t width) const {
    return tilesAlong(height) * tilesAlong(width);
  }
  /// What a row of weights is multiplied with for each place of a side.
  llvm::ArrayRef<std::array<int, 3>> weights() const {
    static constexpr std::array<int, 3> two[] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    static constexpr std::array<int, 3> four[] = {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1},
                                                  {1, 2, 4}, {1, -2, 4},   {0, 0, 1}};
    return outputs == 2 ? llvm::ArrayRef(two) : llvm::ArrayRef(four);
  }
  /// Largest sum of a convolution that 32 bits still tell from others: the odd factor is
  /// taken back modulo 2^32, the power of two is lost at the upper end.
  int64_t largestSum() const { return (int64_t(1) << (31 - shift)) - 1; }
};

} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_WINOGRAD_H
