//===-- AttentionOps.h - what forms of attention consist of ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_EXPAND_ATTENTIONOPS_H
#define OPENATC_PASSES_HOST_EXPAND_ATTENTIONOPS_H

#include "passes/host/expand/CallOps.h"

namespace atc::host {

/// Queries, keys and values, [batch, heads, positions, size], and what is done with the scores.
struct Scores {
  mlir::Value q, k, v;
  double scale = 1, softcap = 0;
  mlir::Value added;   ///< to the scores, broadcast to [batch, heads, queries, keys]; null: nothing
  mlir::Value allowed; ///< of bool, broadcast as well: false hides a key; null: none is hidden
  llvm::SmallVector<mlir::Value> seen; ///< as `allowed`, and each query sees a key
  bool causal = false;
  int64_t before = 0; ///< causal: query i sees the keys up to before + i
  mlir::Value sinks;  ///< [heads], scores of a key without a value; null: there is none
};

/// Returns the dims of a tensor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value x);

/// Creates softmax(q k^T * scale + added) v, [batch, heads, positions, size].
mlir::Value attend(CallOps &ops, const Scores &scores);
/// Creates [batch, positions, heads * size] -> [batch, heads, positions, size].
mlir::Value splitHeads(CallOps &ops, mlir::Value x, int64_t heads);
/// Creates the other way round.
mlir::Value joinHeads(CallOps &ops, mlir::Value x);
/// Rotates pairs of the last dim of [batch, heads, positions, size] by tables that broadcast to
/// [batch, 1, positions, half].
mlir::Value turnPairs(CallOps &ops, mlir::Value x, mlir::Value cosines, mlir::Value sines,
                      int64_t half, bool interleaved);

/// Replaces a call of GroupQueryAttention of static shapes by graph ops. Returns the reason why it
/// stays; empty: it was replaced.
llvm::StringRef expandGroupQuery(graph::HostCallOp call);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_EXPAND_ATTENTIONOPS_H
