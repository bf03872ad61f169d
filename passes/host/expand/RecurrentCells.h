//===-- RecurrentCells.h - calls of recurrent cells ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_HOST_EXPAND_RECURRENTCELLS_H
#define OPENATC_PASSES_HOST_EXPAND_RECURRENTCELLS_H

#include "llvm/ADT/StringSwitch.h"

namespace atc::host {

/// The parameter of calls whose constant weights are packed: 1, or 2 to 5 where those of the state,
/// or all, are in fewer bits, too (kernels/nn/gates/GateLayout.h).
inline constexpr llvm::StringLiteral kPacked = "packed";
/// From this number on they are bytes.
inline constexpr int64_t kPackedBytes = 4;

/// Returns the gates of the cell that a kernel computes; 0 for other kernels.
inline int64_t gatesOf(llvm::StringRef kernel) {
  return llvm::StringSwitch<int64_t>(kernel).Case("RNN", 1).Case("GRU", 3).Case("LSTM", 4).Default(
      0);
}

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_EXPAND_RECURRENTCELLS_H
