//===-- CorePosition.h - where a core is in its grid ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_COREPOSITION_H
#define OPENATC_NPU_SIMULATOR_COREPOSITION_H

#include "npu/isa/Isa.h"

namespace atc::npu {

/// Writes the position of core number `core` of a section into its frame, and the sizes of the
/// grid. The last dim of the grid varies fastest.
inline void setCorePosition(Frame &frame, const Section &section, unsigned core) {
  for (int dim = kGridDims - 1; dim >= 0; --dim) {
    frame.ivs[dim] = core % section.grid[dim];
    frame.trips[dim] = section.grid[dim];
    core /= section.grid[dim];
  }
}

} // namespace atc::npu

#endif // OPENATC_NPU_SIMULATOR_COREPOSITION_H
