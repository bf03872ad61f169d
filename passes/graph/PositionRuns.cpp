//===-- PositionRuns.cpp - positions of a dim as runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/PositionRuns.h"

using namespace llvm;

namespace atc::graph {

SmallVector<PositionRun> runsOf(ArrayRef<int64_t> positions, size_t maxRuns) {
  SmallVector<PositionRun> runs;
  for (int64_t position : positions) {
    if (!runs.empty() && runs.back().start + runs.back().size == position)
      ++runs.back().size;
    else
      runs.push_back({position, 1});
    if (runs.size() > maxRuns)
      break;
  }
  return runs;
}

} // namespace atc::graph
