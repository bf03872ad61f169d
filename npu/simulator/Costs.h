//===-- Costs.h - cycles of one instruction on its own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_COSTS_H
#define OPENATC_NPU_SIMULATOR_COSTS_H

#include "npu/isa/Footprint.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

struct Cost {
  double start = 0;   ///< the queue is busy before the data
  double data = 0;    ///< ... and with it, as long as nothing else hinders
  double latency = 0; ///< results are there so long after the queue is free
  uint64_t bytes = 0; ///< moved or computed
  uint64_t macs = 0;
  int gm = -1; ///< the box that lies in gm, -1 without
};

/// Of an instruction in one iteration, with its `count` boxes (0: nothing runs).
Cost costOf(const SocTable &soc, const Instruction &instruction, const Frame &frame,
            const Box *boxes, unsigned count);

} // namespace atc::npu

#endif
