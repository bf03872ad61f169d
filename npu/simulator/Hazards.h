//===-- Hazards.h - finds accesses without an order -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a launch without time and finds every pair of accesses to the same bytes, at least one of
// them a write, that is not ordered by the order of a queue, flags, barriers, signals or the scalar
// unit. That one of the two happens to run much earlier does not count as order. The only input is
// the program: nothing is executed, and the result does not depend on the simulator.

#ifndef OPENATC_NPU_SIMULATOR_HAZARDS_H
#define OPENATC_NPU_SIMULATOR_HAZARDS_H

#include "npu/simulator/Simulator.h"
#include "npu/soc/Limits.h"

namespace atc::npu {

/// A hazard of a launch: all instances of a pair of instructions are one hazard.
struct Hazard {
  enum Kind : uint8_t {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
    Uninitialised,   ///< reads local memory that this launch has not written before
    FlagRaisedTwice, ///< nothing ensures that the flag was cleared before
    FlagLeftUp,      ///< at the end of the launch
    NeverSatisfied,  ///< a wait_flag, await or barrier that the launch hangs in
    TooLong          ///< the walk exceeded its limits
  };
  Kind kind;
  uint32_t earlier = 0, later = 0; ///< lines; equal where there is only one instruction
  uint64_t count = 1;              ///< instances
  std::string text;                ///< one line, without the end of line
};

/// Checks launches for hazards.
class HazardChecker {
public:
  explicit HazardChecker(const SocTable &soc) : soc(soc) {}
  /// Returns all hazards of a launch, whose program has passed `verify`. Where `addresses` are
  /// given arguments may overlap, else each is a memory of its own.
  std::vector<Hazard> check(const Launch &launch) const;

  /// The maximum number of instructions of all cores, and of byte intervals that they access, per
  /// walk.
  uint64_t maxSteps = uint64_t(Limits::MaxHazardSteps);
  /// The maximum number of intervals, readers of them and entries of clocks that are kept at once.
  uint64_t maxRecords = uint64_t(Limits::MaxHazardRecords);
  /// True: reports each read of local memory that was not written. False: reports only operands
  /// that in no iteration read what another instruction wrote, because where tiles are clamped at
  /// edges, the rest of a buffer is often computed with and discarded.
  bool partlyWritten = false;

private:
  SocTable soc;
};

} // namespace atc::npu

#endif
