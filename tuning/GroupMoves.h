//===-- GroupMoves.h - random changes of groups of layers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_GROUPMOVES_H
#define OPENATC_TUNING_GROUPMOVES_H

#include "passes/npu/schedule/GroupChoice.h"

#include <functional>
#include <vector>

namespace atc::tuning {

/// Draws a number below its argument.
using Draw = std::function<size_t(size_t)>;

/// Makes the kernels [begin, end) one group of `parts` parts, or single kernels with 1; what was a
/// group with some of them goes on as groups of the others.
std::vector<npu::Group> paint(llvm::ArrayRef<npu::Group> groups, unsigned begin, unsigned end,
                              int64_t parts, bool isInterleaved = false);

/// Returns `groups` with the kernels [begin, end) in the interleaved groups of `pattern`, as far as
/// it has them there.
std::vector<npu::Group> interleaveRange(llvm::ArrayRef<npu::Group> groups,
                                        llvm::ArrayRef<npu::Group> pattern, unsigned begin,
                                        unsigned end);

/// Returns the text of groups after one random change: a group dissolved, divided, joined with its
/// neighbours, moved at an end, in other parts, or a new one; where they `mayInterleave`, also in
/// the other order. `partCounts` are the numbers of parts to choose from, not empty.
std::string moveGroups(llvm::ArrayRef<npu::Group> groups, llvm::ArrayRef<int64_t> partCounts,
                       bool mayInterleave, const Draw &draw);

} // namespace atc::tuning

#endif // OPENATC_TUNING_GROUPMOVES_H
