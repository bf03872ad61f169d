//===-- HostPlan.h - a dynamic schedule as a linear list of steps ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HOSTPLAN_H
#define OPENATC_RUNTIME_HOSTPLAN_H

#include "runtime-lite/schema/om_generated.h"
#include "runtime-lite/src/Support.h"

namespace atc::rt {

/// A step without blocks inside it: branches and loops are jumps.
struct HostOp {
  enum Kind : uint32_t { Call, Run, Tiles, JumpUnless, Jump, Move, Release };
  Kind kind;
  uint32_t index;  ///< Call: in `calls`; Run, Tiles: the (first) part; JumpUnless: the condition's
                   ///< slot
  uint32_t target; ///< of jumps
  const void *table; ///< of the others: their table in the file
};

/// The steps of a dynamic schedule in the order in which they run, which also numbers the calls.
struct HostPlan {
  /// Flattens the blocks of `program`, which must outlive the plan. Returns false where memory
  /// could not be allocated.
  bool build(const om::fb::HostProgram &program);

  Array<HostOp> ops;
  uint32_t opCount = 0;
  Array<const om::fb::HostCall *> calls;
  uint32_t callCount = 0;

private:
  void add(const om::fb::HostProgram &program, int32_t block);
  uint32_t push(HostOp::Kind kind, uint32_t index, const void *table) {
    ops[opCount] = {kind, index, 0, table};
    return opCount++;
  }
};

} // namespace atc::rt

#endif
