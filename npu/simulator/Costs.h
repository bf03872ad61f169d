//===-- Costs.h - cycles of one instruction on its own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_COSTS_H
#define OPENATC_NPU_SIMULATOR_COSTS_H

#include "npu/isa/Footprint.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// The time of an instruction without contention, in cycles.
struct Cost {
  double start = 0;   ///< the queue is busy before the data is processed
  double data = 0;    ///< ... and while it is processed
  double latency = 0; ///< until results are visible after the queue is free
  uint64_t bytes = 0; ///< moved or computed
  uint64_t again = 0; ///< of `bytes`, those that the move reads or writes once more
  uint64_t macs = 0;
  int gm = -1; ///< the box that lies in gm, -1 if none
};

/// Returns the bytes that a move of `box`, which lies in gm, transfers: those of the box, but of a
/// table only as many rows as are gathered, evenly spread, because time does not depend on data.
Box transferredBy(const Instruction &instruction, const Frame &frame, const Box &box);

/// Returns the cost of an instruction in one iteration with its `count` boxes (0: it does nothing).
Cost costOf(const SocTable &soc, const Instruction &instruction, const Frame &frame,
            const Box *boxes, unsigned count);

} // namespace atc::npu

#endif
