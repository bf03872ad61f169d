//===-- WinogradProducts.h - products of transformed tiles ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each position of Winograd's form is a product of matrices: transformed tiles of all input
// channels times the weights of some blocks of output channels. It is short where there are few
// channels, so that one call computes some positions.

#ifndef OPENATC_KERNELS_CONV_WINOGRADPRODUCTS_H
#define OPENATC_KERNELS_CONV_WINOGRADPRODUCTS_H

#include "kernels/conv/BlockTile.h"

namespace atc::kernels::blocks {

/// The operands of some positions from the first one on. Steps count elements.
struct WinogradProducts {
  const float *x;       ///< [input block, tile, 16] per position
  float *y;             ///< [output block, tile, 16] per position
  const float *w;       ///< [input channel, 16] per output block and position
  int64_t xStep, yStep; ///< from one position to the next
  int64_t tileBlock;    ///< from one block of tiles to the next
  int64_t wStep;        ///< from one position's weights to the next position's
  int64_t wBlock;       ///< from one output block's weights to the next one's
  int64_t inBlocks;
};

/// Computes `P` tiles of `B` output blocks for `positions` positions. Each vector of weights of the
/// first block prefetches the one that is `ahead` elements behind it into the second cache.
template <int P, int B>
__attribute__((noinline)) void multiplyTiles(const WinogradProducts &r, int64_t first,
                                             int64_t positions, int64_t ahead) {
  const float *x = r.x + first * kBlock, *w = r.w;
  float *y = r.y + first * kBlock;
  const int64_t xStep = r.xStep, yStep = r.yStep, wStep = r.wStep, wBlock = r.wBlock;
  const int64_t tileBlock = r.tileBlock, inBlocks = r.inBlocks;
  for (int64_t i = 0; i < positions; ++i, x += xStep, y += yStep, w += wStep) {
    Vec sums[B][P] = {};
    const float *own = x, *weights = w;
    for (int64_t block = 0; block < inBlocks; ++block, own += tileBlock) {
#pragma clang loop unroll_count(2)
      for (int64_t lane = 0; lane < kBlock; ++lane, weights += kBlock) {
        // One block has weights of few channels, and its loads are what it waits for.
        if constexpr (B > 1)
          __builtin_prefetch(weights + ahead, 0, 2);
        Vec row[B];
#pragma clang loop unroll(full)
        for (int b = 0; b < B; ++b)
          row[b] = blockAt(weights + b * wBlock);
#pragma clang loop unroll(full)
        for (int p = 0; p < P; ++p) {
          const float value = own[p * kBlock + lane];
#pragma clang loop unroll(full)
          for (int b = 0; b < B; ++b)
            sums[b][p] += value * row[b];
        }
      }
    }
#pragma clang loop unroll(full)
    for (int b = 0; b < B; ++b)
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p)
        blockAt(y + b * tileBlock + p * kBlock) = sums[b][p];
  }
}

/// Computes `tiles` tiles, up to `P`.
template <int B, int P = (B > 2 ? maxPixels / 2 : maxPixels)>
void multiplyTilesOf(const WinogradProducts &r, int64_t first, int64_t tiles, int64_t positions,
                     int64_t ahead) {
  if constexpr (P > 1)
    if (tiles < P)
      return multiplyTilesOf<B, P - 1>(r, first, tiles, positions, ahead);
  multiplyTiles<P, B>(r, first, positions, ahead);
}

/// Computes all `count` positions of `tiles` tiles and `B` output blocks. `next` is the distance
/// from the weights of the last position to those that are read behind them.
template <int B>
void multiplyPositions(WinogradProducts r, int64_t tiles, int64_t count, int64_t next) {
  // The weights of the positions of a call stay in the first cache for all tiles.
  constexpr int64_t weightBytes = 16 << 10;
  const int64_t together =
      maximum(weightBytes / (B * r.wStep * int64_t(sizeof(float))), int64_t(1));
  const int64_t parts = ceilDiv(tiles, B > 2 ? maxPixels / 2 : tilePixels());
  const int64_t size = tiles / parts, larger = tiles % parts;
  for (int64_t position = 0; position < count; position += together) {
    const int64_t positions = minimum(together, count - position);
    const int64_t ahead = positions * r.wStep + (position + positions == count ? next : 0);
    for (int64_t part = 0, first = 0; part < parts; ++part) {
      const int64_t here = size + (part < larger);
      multiplyTilesOf<B>(r, first, here, positions, part < B ? ahead + part * r.wBlock : 0);
      first += here;
    }
    r.x += positions * r.xStep;
    r.y += positions * r.yStep;
    r.w += positions * r.wStep;
  }
}

/// Computes all positions of `blocks` output blocks, which fit the registers.
inline void multiplyAll(WinogradProducts r, int64_t blocks, int64_t tiles, int64_t count) {
  const int64_t next = (blocks - 1) * r.wBlock;
  if (hasWideRegisters() && blocks == 4)
    return multiplyPositions<4>(r, tiles, count, next);
  for (; hasWideRegisters() && blocks > 1; blocks -= 2) {
    multiplyPositions<2>(r, tiles, count, next);
    r.w += 2 * r.wBlock;
    r.y += 2 * r.tileBlock;
  }
  if (blocks)
    multiplyPositions<1>(r, tiles, count, next);
}

} // namespace atc::kernels::blocks

#endif // OPENATC_KERNELS_CONV_WINOGRADPRODUCTS_H
