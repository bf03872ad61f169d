//===-- BlockTile.h - tiles of pixels times channels in registers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile accumulates neighbouring pixels times one, two or four blocks of output channels in
// registers: each step multiplies an element per pixel by a vector of weights per block.

#ifndef OPENATC_KERNELS_CONV_BLOCKTILE_H
#define OPENATC_KERNELS_CONV_BLOCKTILE_H

#include "kernels/conv/ChannelBlocks.h"

namespace atc::kernels::blocks {

/// The maximum number of pixels of a tile: with two blocks 28 of 32 registers of 64 bytes. Levels
/// with smaller registers take fewer pixels and one block.
inline constexpr int64_t maxPixels = 14;

/// The pixels of a tile on this CPU level.
inline int64_t tilePixels() {
#ifdef __aarch64__
  return 6;
#else
  return hasWideRegisters() ? maxPixels : atc_kernel_lanes >= 8 ? 6 : 3;
#endif
}

/// Describes a row of tiles. Steps count elements.
struct Row {
  float *y;
  const float *x, *w;
  const Finish *finish;
  int64_t at;                              ///< offset of y in the result
  int64_t block;                           ///< first output block
  int64_t yBlock;                          ///< from one output block to the next
  int64_t wBlock;                          ///< as above, in the weights
  int64_t step;                            ///< from a pixel's input to the next pixel's
  int64_t blocks;                          ///< of input channels
  int64_t xBlock;                          ///< from one of them to the next
  const float *const *planes;              ///< start of each of them; null: x and xBlock say it
  int64_t shift;                           ///< from there to the first pixel's input
  int64_t height, rowStep, width, tapStep; ///< taps, and from one to the next
  int64_t lanes;                           ///< elements per tap
  bool isFirst, isLast;                    ///< of the chunks of input blocks
};

/// Computes `P` pixels of `B` output blocks. `Dense`: the inputs of pixels are kBlock elements
/// apart.
template <int P, int B, bool Dense>
__attribute__((noinline)) void tile(const Row &r, int64_t first) {
  const int64_t step = Dense ? kBlock : r.step, lanes = r.lanes;
  const int64_t at = first * kBlock;
  Vec sums[B][P];
#pragma clang loop unroll(full)
  for (int b = 0; b < B; ++b) {
    const int64_t offset = at + b * r.yBlock;
    if (r.isFirst) {
      r.finish->begin(sums[b], r.block + b, r.at + offset);
      continue;
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      sums[b][p] = blockAt(r.y + offset + p * kBlock);
  }
  const float *w = r.w;
  for (int64_t block = 0; block < r.blocks; ++block) {
    const float *plane = r.planes ? r.planes[block] : r.x + block * r.xBlock;
    plane += r.shift + first * step;
    for (int64_t i = 0; i < r.height; ++i)
      for (int64_t j = 0; j < r.width; ++j) {
        const float *x = plane + i * r.rowStep + j * r.tapStep;
        const float *starts[(P + 2) / 3];
#pragma clang loop unroll(full)
        for (int p = 0; p < P; p += 3)
          starts[p / 3] = x + p * step;
#pragma clang loop unroll(disable)
        for (int64_t lane = 0; lane < lanes; ++lane, w += kBlock) {
          Vec weights[B];
#pragma clang loop unroll(full)
          for (int b = 0; b < B; ++b)
            weights[b] = blockAt(w + b * r.wBlock);
#pragma clang loop unroll(full)
          for (int p = 0; p < P; ++p) {
            const float value = Dense ? x[p * kBlock + lane] : starts[p / 3][(p % 3) * step + lane];
#pragma clang loop unroll(full)
            for (int b = 0; b < B; ++b)
              sums[b][p] += value * weights[b];
          }
        }
      }
  }
#pragma clang loop unroll(full)
  for (int b = 0; b < B; ++b) {
    float *y = r.y + at + b * r.yBlock;
    if (r.isLast) {
      r.finish->end(y, sums[b]);
      continue;
    }
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      blockAt(y + p * kBlock) = sums[b][p];
  }
  for (int b = 0; r.isLast && b < B; ++b) {
    r.finish->clear(r.y + at + b * r.yBlock, r.block + b, P);
    r.finish->apply(r.y + at + b * r.yBlock, P * kBlock);
  }
}

/// Computes `pixels` pixels by the tile of that size.
template <int B, bool Dense, int P = (B > 2 ? maxPixels / 2 : maxPixels)>
void tileOf(const Row &row, int64_t first, int64_t pixels) {
  if constexpr (P > 1)
    if (pixels < P)
      return tileOf<B, Dense, P - 1>(row, first, pixels);
  tile<P, B, Dense>(row, first);
}

/// Returns the output blocks per tile on this CPU level.
inline int64_t tileBlocks() { return hasWideRegisters() ? 2 : 1; }

/// Returns the output blocks per tile of rows of `pixels` pixels: few pixels leave registers for
/// more blocks.
inline int64_t tileBlocks(int64_t pixels) {
  return hasWideRegisters() && pixels <= maxPixels / 2 ? 4 : tileBlocks();
}

/// Computes the pixels of a row in tiles of nearly equal size.
template <int B> void computeRow(const Row &row, int64_t pixels, bool isDense) {
  const int64_t parts = ceilDiv(pixels, tilePixels());
  const int64_t size = pixels / parts, larger = pixels % parts;
  for (int64_t part = 0, first = 0; part < parts; ++part) {
    const int64_t here = size + (part < larger);
    isDense ? tileOf<B, true>(row, first, here) : tileOf<B, false>(row, first, here);
    first += here;
  }
}

/// Computes the pixels of a row for `blocks` output blocks, tileBlocks(pixels) at most.
inline void computeBlocks(Row row, int64_t blocks, int64_t pixels, bool isDense) {
  if (hasWideRegisters() && blocks == 4)
    return computeRow<4>(row, pixels, isDense);
  for (; hasWideRegisters() && blocks > 1; blocks -= 2) {
    computeRow<2>(row, pixels, isDense);
    row.block += 2;
    row.w += 2 * row.wBlock;
    row.y += 2 * row.yBlock;
    row.at += 2 * row.yBlock;
  }
  if (blocks)
    computeRow<1>(row, pixels, isDense);
}

} // namespace atc::kernels::blocks

#endif // OPENATC_KERNELS_CONV_BLOCKTILE_H
