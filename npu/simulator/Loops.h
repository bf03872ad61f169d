//===-- Loops.h - the loops of the scalar unit ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_LOOPS_H
#define OPENATC_NPU_SIMULATOR_LOOPS_H

#include "npu/isa/Isa.h"

namespace atc::npu {

/// Enters a loop of `trips` iterations inside the current one.
inline void enterLoop(Frame &frame, int64_t trips) {
  frame.ivs[kGridDims + frame.depth] = 0;
  frame.trips[kGridDims + frame.depth++] = trips;
}

/// Ends an iteration of the innermost loop: returns true if there is another one, else leaves the
/// loop.
inline bool nextRound(Frame &frame) {
  unsigned iv = kGridDims + frame.depth - 1;
  if (++frame.ivs[iv] < frame.trips[iv])
    return true;
  frame.ivs[iv] = 0;
  frame.trips[iv] = 1;
  --frame.depth;
  return false;
}

} // namespace atc::npu

#endif
