//===-- Hazards.h - accesses that nothing orders ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a launch without time and finds every pair of accesses to the same bytes,
// at least one of them a write, that nothing orders: neither the order of one
// queue nor flags, barriers, signals or the scalar unit. That one of the two
// happens to run much earlier does not count. What it takes is the program alone;
// nothing is executed, and the result does not depend on the simulator.

#ifndef OPENATC_NPU_SIMULATOR_HAZARDS_H
#define OPENATC_NPU_SIMULATOR_HAZARDS_H

#include "npu/simulator/Simulator.h"

namespace atc::npu {

/// One fault of a launch: all instances of a pair of instructions are one.
struct Hazard {
  enum Kind : uint8_t {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
    Uninitialised,   ///< reads local memory that this launch has not written (by then)
    FlagRaisedTwice, ///< nothing makes sure that the flag was taken down before
    FlagLeftUp,      ///< at the end of the launch
    NeverSatisfied,  ///< a wait_flag, await or barrier that the launch hangs in
    TooLong          ///< the walk was given up
  };
  Kind kind;
  uint32_t earlier = 0, later = 0; ///< lines; equal where there is only one
  uint64_t count = 1;              ///< instances
  std::string text;                ///< one line, without the end of line
};

class HazardChecker {
public:
  explicit HazardChecker(const SocTable &soc) : soc(soc) {}
  /// The launch's program has passed `verify`. Where `addresses` are given
  /// arguments may overlap, else each is a memory of its own.
  std::vector<Hazard> check(const Launch &launch) const;

  /// Instructions of all cores after which a walk is given up.
  uint64_t maxInstructions = uint64_t(1) << 28;
  /// Names each read of local memory that was not written. Else only operands of
  /// which no iteration reads what another instruction wrote: where tiles are cut
  /// at edges, the rest of a buffer is often computed with and thrown away.
  bool partlyWritten = false;

private:
  SocTable soc;
};

} // namespace atc::npu

#endif
