//===-- PartWaits.h - what parts of a joined launch wait for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SCHEDULE_PARTWAITS_H
#define OPENATC_PASSES_NPU_SCHEDULE_PARTWAITS_H

#include "dialects/om/Om.h"
#include "passes/npu/program/JoinedProgram.h"

namespace atc::npu {

/// Bytes that a launch reads or writes.
struct Reach {
  mlir::Value root; ///< null: the arena, where lifetimes share bytes
  int64_t begin = 0, end = 0;
  bool written = false;

  /// Returns whether both are some of the same bytes, and one of them is written.
  bool conflictsWith(const Reach &other) const {
    return (written || other.written) && root == other.root && begin < other.end &&
           other.begin < end;
  }
};

/// Returns the bytes in gm that a launch of a program reads and writes, weights excepted.
llvm::SmallVector<Reach> reachesOf(om::LaunchOp launch, ir::ProgramOp program);

/// Returns whether some and others reach the same bytes, and one of them writes there.
bool doConflict(llvm::ArrayRef<Reach> some, llvm::ArrayRef<Reach> others);

/// Sets for each part of a joined launch, which reaches the bytes of the same number, which event
/// it signals and what it waits for. Parts of a section are in streams with an event each. Each
/// part follows the one before in its stream, and the latest part of either section with which it
/// shares bytes; a core that is done with a part is done with all before it. So parts of different
/// parts of the batch do not wait for each other.
void findWaits(llvm::ArrayRef<llvm::SmallVector<Reach>> reaches,
               llvm::MutableArrayRef<ProgramPart> parts);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_PARTWAITS_H
