//===-- HalfTiles.h - the sizes of a contraction in f16 ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_HALFTILES_H
#define OPENATC_PASSES_CPU_EXPAND_HALFTILES_H

#include "dialects/cpu/Half.h"
#include "dialects/cpu/HalfChunk.h"

namespace atc::cpu {

/// The sizes of the loops of a cpu.half_conv2d and its scratch memory, in f32 elements; a pair of
/// f16 is one of them.
struct HalfTiles {
  HalfTiles(HalfConv2DOp op, TileAttr tile);

  HalfChunk chunk;
  int64_t blocks, rows, columns; ///< of the input that a task rounds
  int64_t pixelStride;           ///< from pixel to pixel of the rounded input

  int64_t rowStride() const { return columns * pixelStride; }
  /// Returns the elements of the rounded input, which comes first in the scratch memory. Rounding
  /// may write a vector behind its end.
  int64_t inputElements() const { return blocks * rows * rowStride() + 16; }
  /// Returns the elements of scratch memory: rounded input, and the sums of a register tile.
  int64_t scratchElements(TileAttr tile) const;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_HALFTILES_H
