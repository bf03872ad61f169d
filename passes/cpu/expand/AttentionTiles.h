//===-- AttentionTiles.h - the sizes of an attention's loops ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_ATTENTIONTILES_H
#define OPENATC_PASSES_CPU_EXPAND_ATTENTIONTILES_H

#include "dialects/cpu/Transformer.h"

namespace atc::cpu {

/// The sizes of the loops of a cpu.attention and its scratch memory, in f32 elements.
struct AttentionTiles {
  AttentionTiles(AttentionOp op, LevelAttr level);

  /// Columns of a block of scores, or of the result.
  static constexpr int64_t kWidth = 16;

  bool packsKeys;        ///< keys are transposed to panels [key block][depth][16] in scratch memory
  bool packsValues;      ///< values are copied to panels [column block][key][16] in scratch memory
  int64_t rows;          ///< of queries in a register tile, whose scores are in scratch memory
  int64_t blocks;        ///< of columns in a register tile
  int64_t rowTasks;      ///< tasks per head; each has the same number of rows
  int64_t scoreStride;   ///< from row to row of the scores
  int64_t keyElements;   ///< of the packed keys, at the start of the scratch memory
  int64_t valueElements; ///< of the packed values, behind them

  /// Returns the elements of scratch memory: packed keys and values, scores, and a factor per row.
  int64_t scratchElements() const { return keyElements + valueElements + rows * (scoreStride + 1); }
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_ATTENTIONTILES_H
