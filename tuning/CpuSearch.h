//===-- CpuSearch.h - looks for better choices for the CPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The NPU is simulated, a CPU is measured: each candidate runs in turn with the best so far on this
// machine, kernel by kernel, and what wins is measured once more against the untuned model before
// it is kept.

#ifndef OPENATC_TUNING_CPUSEARCH_H
#define OPENATC_TUNING_CPUSEARCH_H

#include "tuning/CpuTrial.h"
#include "tuning/GroupMoves.h"
#include "tuning/Search.h"

namespace atc::tuning {

/// A choice that was kept, with the minimum time of its kernels in nanoseconds.
struct KeptChoice {
  std::string choice;
  double before = 0, after = 0;
};

/// The result of a search for the CPU.
struct CpuTuning {
  bool done = false; ///< otherwise there are errors in the diagnostics
  std::map<std::string, KeptChoice> kept;
  double beforeMs = 0, afterMs = 0; ///< medians of runs in turn; equal where nothing was kept
  uint64_t trials = 0, runs = 0;    ///< compilations; runs of the last comparison per model
  double seconds = 0;

  double gain() const { return afterMs > 0 ? beforeMs / afterMs : 1; }
};

/// Returns a tile `pixels,blocks,rows,groups,depth,flatten` after one change of a size; empty where
/// `text` is no tile. The result need not be possible.
std::string moveCpuTile(llvm::StringRef text, const Draw &draw);

/// Searches within `budget`, whose job types are: 1 the forms of convolutions (Winograd or direct),
/// 2 the tiles. `say` takes lines on the progress. Starts from `known`. Nothing is kept unless
/// the model as a whole is faster in the last comparison.
CpuTuning tuneCpu(const driver::CompilerOptions &options, const Budget &budget,
                  const Choices &known, const std::function<void(const std::string &)> &say,
                  Diagnostics &diagnostics);

} // namespace atc::tuning

#endif // OPENATC_TUNING_CPUSEARCH_H
