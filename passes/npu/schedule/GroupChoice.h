//===-- GroupChoice.h - groups of layers as text ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of npu-split-batch: runs of kernels in the order of the schedule, each with its number
// of parts of the batch. "12/4 3/1 5/2i" are 12 kernels that run in 4 parts as one group, 3 that
// run on the whole batch, and a group of 5 in 2 parts whose kernels each run on all parts in turn.

#ifndef OPENATC_PASSES_NPU_SCHEDULE_GROUPCHOICE_H
#define OPENATC_PASSES_NPU_SCHEDULE_GROUPCHOICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace atc::npu {

/// Kernels that run on the same part of the batch one after the other, part by part; interleaved
/// ones kernel by kernel, each on one part after the other.
struct Group {
  unsigned begin, end; ///< kernels [begin, end)
  int64_t parts;       ///< 1: the whole batch
  bool isInterleaved = false;
};

/// Returns the text for groups that cover all kernels in order.
std::string textOf(llvm::ArrayRef<Group> groups);

/// Returns the groups that `text` spells, each kernel on the whole batch as a group of its own;
/// nothing where it is not of that form or is not for `count` kernels.
std::optional<llvm::SmallVector<Group>> parseGroups(llvm::StringRef text, unsigned count);

/// The assumptions of the model of npu-split-batch; other ones give alternatives.
struct GroupAssumptions {
  double share = 0.9;    ///< of L2 that a group may fill
  double exposed = 0;    ///< share of the reading of weights that no work hides
  double launchCost = 1; ///< times the table's cost of a launch
};

/// Returns the assumptions for alternatives, those most likely to help first.
llvm::ArrayRef<GroupAssumptions> otherAssumptions();

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_GROUPCHOICE_H
