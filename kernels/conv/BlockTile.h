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

/// The maximum number of pixels of one block whose inputs are a known number of elements apart:
/// with their weights 29 of 32 registers, which are addressed without further ones.
inline constexpr int64_t maxKnownPixels = 28;

/// The pixels of a tile on this CPU level.
[[gnu::always_inline]] inline int64_t tilePixels() {
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
  int64_t wRowGap;                         ///< weights that are left out behind a row of taps
  int64_t wBlockGap;                       ///< and behind an input block
  int64_t next;                            ///< from w to the weights that are read next; 0: none
  int64_t index;                           ///< of this row among those that read w
  bool isFirst, isLast;                    ///< of the chunks of input blocks

  /// Moves on by some output blocks.
  void advance(int64_t blocks) {
    block += blocks;
    w += blocks * wBlock;
    y += blocks * yBlock;
    at += blocks * yBlock;
  }
};

/// Computes `P` pixels of `B` output blocks, whose inputs are `Step` elements apart; 0: any number.
/// Each vector of weights of the first block prefetches the one that is `ahead` elements behind it
/// into the second cache.
template <int P, int B, int Step>
__attribute__((noinline)) void tile(const Row &r, int64_t first, int64_t ahead) {
  const int64_t step = Step ? Step : r.step, lanes = r.lanes;
  const int64_t at = first * kBlock;
  Vec sums[B][P];
#pragma clang loop unroll(full)
  for (int b = 0; b < B; ++b) {
    const int64_t offset = at + b * r.yBlock;
    if (r.isFirst) {
      r.finish->begin(sums[b], r.block + b, r.at + offset);
      r.finish->prefetch(r.at + offset + P * kBlock, P);
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
    for (int64_t i = 0; i < r.height; ++i, w += r.wRowGap)
      for (int64_t j = 0; j < r.width; ++j) {
        const float *x = plane + i * r.rowStep + j * r.tapStep;
        const float *starts[(P + 2) / 3];
#pragma clang loop unroll(full)
        for (int p = 0; p < P; p += 3)
          starts[p / 3] = x + p * step;
#pragma clang loop unroll(disable)
        for (int64_t lane = 0; lane < lanes; ++lane, w += kBlock) {
          __builtin_prefetch(w + ahead, 0, 2);
          Vec weights[B];
#pragma clang loop unroll(full)
          for (int b = 0; b < B; ++b)
            weights[b] = blockAt(w + b * r.wBlock);
#pragma clang loop unroll(full)
          for (int p = 0; p < P; ++p) {
            const float value = Step ? x[p * Step + lane] : starts[p / 3][(p % 3) * step + lane];
#pragma clang loop unroll(full)
            for (int b = 0; b < B; ++b)
              sums[b][p] += value * weights[b];
          }
        }
      }
    w += r.wBlockGap;
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
    const int64_t offset = at + b * r.yBlock;
    r.finish->finish(r.y + offset, r.block + b, r.at + offset, P);
  }
}

/// Computes `pixels` pixels by the tile of that size, which is from `Min` to `P`.
template <int B, int Step, int P = (B > 2 ? maxPixels / 2 : maxPixels), int Min = 1>
void tileOf(const Row &row, int64_t first, int64_t pixels, int64_t ahead) {
  if constexpr (P > Min)
    if (pixels < P)
      return tileOf<B, Step, P - 1, Min>(row, first, pixels, ahead);
  tile<P, B, Step>(row, first, ahead);
}

/// Returns the output blocks per tile on this CPU level.
[[gnu::always_inline]] inline int64_t tileBlocks() { return hasWideRegisters() ? 2 : 1; }

/// Returns the output blocks per tile of rows of `pixels` pixels: few pixels leave registers for
/// more blocks.
[[gnu::always_inline]] inline int64_t tileBlocks(int64_t pixels) {
  return hasWideRegisters() && pixels <= maxPixels / 2 ? 4 : tileBlocks();
}

/// Calls tile(first pixel, pixels, ahead) for the tiles of a row, of nearly equal size up to
/// `maxSize`. The first tiles that read the weights of `blocks` output blocks prefetch what is read
/// next: each of them one block, so that each step of a tile does so for one vector.
template <typename Tile>
void forEachTile(const Row &row, int64_t blocks, int64_t pixels, int64_t maxSize, Tile &&tile) {
  const int64_t parts = ceilDiv(pixels, maxSize);
  const int64_t size = pixels / parts, larger = pixels % parts;
  for (int64_t part = 0, first = 0; part < parts; ++part) {
    const int64_t here = size + (part < larger), index = row.index * parts + part;
    tile(first, here, row.next && index < blocks ? row.next + index * row.wBlock : 0);
    first += here;
  }
}

/// Computes the pixels of a row. Their inputs are neighbours, or every second pixel as in
/// convolutions of stride 2: constants, which addresses absorb.
template <int B> void computeRow(const Row &row, int64_t pixels, bool isDense) {
  const int64_t maxSize = B > 2 ? maxPixels / 2 : tilePixels();
  forEachTile(row, B, pixels, maxSize, [&](int64_t first, int64_t here, int64_t ahead) {
    if (isDense)
      return tileOf<B, kBlock>(row, first, here, ahead);
    if constexpr (B > 1)
      if (row.step == 2 * kBlock)
        return tileOf<B, 2 * kBlock>(row, first, here, ahead);
    tileOf<B, 0>(row, first, here, ahead);
  });
}

/// Computes the pixels of a row for one output block, whose inputs are `Step` elements apart, by
/// tiles of as many pixels as wide registers hold.
template <int Step> void computeRowOfKnown(const Row &row, int64_t pixels) {
  forEachTile(row, 1, pixels, maxKnownPixels, [&](int64_t first, int64_t here, int64_t ahead) {
    if (here > maxPixels)
      tileOf<1, Step, maxKnownPixels, maxPixels + 1>(row, first, here, ahead);
    else
      tileOf<1, 0>(row, first, here, ahead);
  });
}

/// Computes the pixels of a row for one output block. Inputs that are few elements apart are those
/// of pictures, which have three channels, and of which stems read each pixel or every second one.
inline void computeRowOfBlock(const Row &row, int64_t pixels, bool isDense) {
  constexpr int64_t picture = 3;
  if (hasWideRegisters() && row.step == picture)
    computeRowOfKnown<picture>(row, pixels);
  else if (hasWideRegisters() && row.step == 2 * picture)
    computeRowOfKnown<2 * picture>(row, pixels);
  else
    computeRow<1>(row, pixels, isDense);
}

/// Computes the pixels of a row for `blocks` output blocks, which fit the registers.
template <bool MayBePicture>
void computeBlocks(Row row, int64_t blocks, int64_t pixels, bool isDense) {
  if (hasWideRegisters() && blocks == 4)
    return computeRow<4>(row, pixels, isDense);
  for (; hasWideRegisters() && blocks > 1; blocks -= 2) {
    computeRow<2>(row, pixels, isDense);
    row.advance(2);
  }
  if (!blocks)
    return;
  if constexpr (MayBePicture)
    computeRowOfBlock(row, pixels, isDense);
  else
    computeRow<1>(row, pixels, isDense);
}

} // namespace atc::kernels::blocks

#endif // OPENATC_KERNELS_CONV_BLOCKTILE_H
