//===-- Winograd.h - F(m x m, 3x3) ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_WINOGRAD_H
#define OPENATC_DIALECTS_CPU_WINOGRAD_H

#include "kernels/core/WinogradPoint.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cstdint>
#include <optional>

namespace atc::cpu {

/// A Winograd form: tiles of m x m outputs of a 3x3 convolution from the products at (m + 2)^2
/// positions (A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2015). All
/// matrices of integers are integers; the accumulators are `odd` * 2^`shift` times the results.
/// Floats have other points of evaluation for m = 4 (kernels/core/WinogradPoint.h).
struct Winograd {
  int64_t outputs; // m
  uint32_t odd, shift;

  /// Returns the form with that number of positions; nothing where there is none.
  static std::optional<Winograd> ofPoints(int64_t points) {
    if (points == 16)
      return Winograd{2, 1, 2};
    if (points == 36)
      return Winograd{4, 9, 6};
    return std::nullopt;
  }

  /// Returns the rows of an input tile, which is square.
  int64_t side() const { return outputs + 2; }
  /// Returns the products per tile and channel.
  int64_t points() const { return side() * side(); }
  /// Returns the number of tiles that cover `size` outputs of a dim.
  int64_t tilesAlong(int64_t size) const { return llvm::divideCeil(size, outputs); }
  int64_t tilesOf(int64_t height, int64_t width) const {
    return tilesAlong(height) * tilesAlong(width);
  }
  /// Returns the number of tiles for which a buffer of transformed 16-bit inputs has memory at each
  /// position. A tile is written at all positions in turn, half a cache line at each: with a
  /// multiple of 1 KB between them, 36 lines would share four of 64 sets, and leave the cache
  /// before the next block of channels fills their other half.
  int64_t storedTilesOf(int64_t height, int64_t width, int64_t channels) const {
    constexpr int64_t kConflictBytes = 1024;
    const int64_t tiles = tilesOf(height, width);
    return 2 * tiles * channels % kConflictBytes ? tiles : tiles + 1;
  }
  /// Returns the factors of a row of weights, for each position along a side.
  llvm::ArrayRef<std::array<int, 3>> weights() const {
    static constexpr std::array<int, 3> two[] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    static constexpr std::array<int, 3> four[] = {{1, 0, 0}, {-1, -1, -1}, {-1, 1, -1},
                                                  {1, 2, 4}, {1, -2, 4},   {0, 0, 1}};
    return outputs == 2 ? llvm::ArrayRef(two) : llvm::ArrayRef(four);
  }
  /// Returns the factors of a row of weights in f32: with these the accumulators are the results.
  llvm::ArrayRef<std::array<double, 3>> floatWeights() const {
    static constexpr std::array<double, 3> two[] = {
        {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    constexpr double a2 = kernels::kWinogradPoint2, a3 = kernels::kWinogradPoint3,
                     a4 = kernels::kWinogradPoint4;
    static constexpr std::array<double, 3> four[] = {{1 / (4 * a4), 0, 0},
                                                     {-1 / (6 * a4), -1 / (6 * a3), -1 / (6 * a2)},
                                                     {-1 / (6 * a4), 1 / (6 * a3), -1 / (6 * a2)},
                                                     {1 / (24 * a4), 1 / (12 * a3), 1 / (6 * a2)},
                                                     {1 / (24 * a4), -1 / (12 * a3), 1 / (6 * a2)},
                                                     {0, 0, 1}};
    return outputs == 2 ? llvm::ArrayRef(two) : llvm::ArrayRef(four);
  }
  /// Returns the largest result of a convolution that 32 bits can represent: the odd factor is
  /// divided out modulo 2^32, the power of two costs high bits.
  int64_t largestSum() const { return (int64_t(1) << (31 - shift)) - 1; }
};

} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_WINOGRAD_H
