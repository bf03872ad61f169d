//===-- PositionRuns.h - positions of a dim as runs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_POSITIONRUNS_H
#define OPENATC_PASSES_GRAPH_POSITIONRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace atc::graph {

/// Positions [start, start + size) of a dim.
struct PositionRun {
  int64_t start, size;
};

/// Returns positions as runs of consecutive ascending ones, in their order; stops behind `maxRuns`
/// + 1.
llvm::SmallVector<PositionRun> runsOf(llvm::ArrayRef<int64_t> positions, size_t maxRuns);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_POSITIONRUNS_H
