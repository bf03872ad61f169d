//===-- Loops.h - how the scalar unit walks through loops -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_LOOPS_H
#define OPENATC_NPU_SIMULATOR_LOOPS_H

#include "npu/isa/Isa.h"

namespace atc::npu {

inline void enterLoop(Frame &frame, int64_t trips) {
  frame.ivs[kGridDims + frame.depth] = 0;
  frame.trips[kGridDims + frame.depth++] = trips;
}

/// At the end of the innermost loop: true if there is another round, else the
/// loop is left.
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
