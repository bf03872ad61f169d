//===-- HalfChunk.h - how many products are accumulated in f16 --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_HALFCHUNK_H
#define OPENATC_DIALECTS_CPU_HALFCHUNK_H

#include <algorithm>
#include <cstdint>

namespace atc::cpu {

/// The part of the contracted dims whose products are accumulated in f16 before they are added to
/// sums of f32: `blocks` input blocks times the rows of the window (all or one) times its columns
/// times `pairs` pairs of channels.
struct HalfChunk {
  /// Products per lane. The error of a sum of n products in f16, each rounded to 11 bits, is about
  /// 1e-4 * sqrt(n) of its size, and to add it to a sum of f32 costs as much as ten.
  static constexpr int64_t kMaxSteps = 64;

  int64_t blocks = 1;
  bool windowRows = true;
  int64_t pairs;

  /// Returns the pairs of `channels` channels of a block with which weights are stored: a multiple
  /// of the pairs of a chunk, and for long blocks of 8, the steps of an unrolled loop.
  static int64_t storedPairs(int64_t channels) {
    const int64_t pairs = channels / 2;
    if (pairs <= kMaxSteps)
      return pairs;
    const int64_t chunks = (pairs + kMaxSteps - 1) / kMaxSteps;
    return chunks * ((pairs + 8 * chunks - 1) / (8 * chunks) * 8);
  }

  /// Returns the chunk for weights [..][inputBlocks][rows][columns][storedPairs].
  HalfChunk(int64_t inputBlocks, int64_t rows, int64_t columns, int64_t storedPairs)
      : pairs(storedPairs) {
    if (storedPairs > kMaxSteps) {
      pairs = storedPairs / ((storedPairs + kMaxSteps - 1) / kMaxSteps);
      return;
    }
    const int64_t steps = rows * columns * storedPairs;
    windowRows = steps <= kMaxSteps / 2 * 3;
    if (windowRows)
      blocks = std::clamp<int64_t>(kMaxSteps / steps, 1, inputBlocks);
    while (inputBlocks % blocks)
      --blocks;
  }
};

} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_HALFCHUNK_H
