//===-- HostPlan.h - a dynamic schedule as a linear list of steps ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HOSTPLAN_H
#define OPENATC_RUNTIME_HOSTPLAN_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Support.h"

namespace atc::rt {

/// A step without blocks inside it: branches and loops are jumps.
struct HostOp {
  enum Kind : uint32_t { Call, Run, Tiles, JumpUnless, Jump, Move, Release, Collective, Wait };
  Kind kind;
  uint32_t index;  ///< Call: in `calls`; Run, Tiles: the (first) part; JumpUnless: the condition's
                   ///< slot
  uint32_t target; ///< of jumps
  const void *table; ///< of the others: their table in the file
};

/// A dynamic schedule and its range of the plan's ops and calls.
struct PlannedProgram {
  const om::fb::HostProgram *program;
  uint32_t firstOp, ops;
  uint32_t firstCall, calls;
};

/// The steps of a model's dynamic schedule, or of those of its gears one behind the other, in the
/// order in which they run, which also numbers the calls.
struct HostPlan {
  /// Flattens the blocks of all dynamic schedules of `model`, which must outlive the plan. Returns
  /// false where memory could not be allocated.
  bool build(const om::fb::Model &model);
  /// Returns the plan of a dynamic schedule of the model.
  const PlannedProgram &find(const om::fb::HostProgram &program) const;

  Array<HostOp> ops;
  uint32_t opCount = 0;
  Array<const om::fb::HostCall *> calls;
  /// Whether each call is the last reader of its input 0, which is released or replaced before
  /// anything else could read it. False where that depends on a branch.
  Array<bool> endsFirst;
  uint32_t callCount = 0;

private:
  Array<PlannedProgram> programs;
  void add(const om::fb::HostProgram &program, int32_t block);
  /// Sets `endsFirst` for the calls of a program. Returns false where memory could not be
  /// allocated.
  bool findLastUses(const PlannedProgram &plan);
  uint32_t push(HostOp::Kind kind, uint32_t index, const void *table) {
    ops[opCount] = {kind, index, 0, table};
    return opCount++;
  }
};

} // namespace atc::rt

#endif
