//===-- HostTime.h - the modelled time of kernels on the CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_HOSTTIME_H
#define OPENATC_DRIVER_HOSTTIME_H

#include "backends/cpu/CpuLevels.h"
#include "driver/Placement.h"

namespace atc::driver {

/// The assumed rates of a CPU per second, with all processors of a session together. docs/npu.md
/// states the constants and how far measured times are from them.
struct HostRates {
  unsigned processors = 1;
  double floatMacs = 0;     ///< multiply-accumulates of f32 in generated code
  double integerMacs = 0;   ///< of 8-bit integers in generated code
  double hostCallMacs = 0;  ///< in kernels that serve all shapes
  double operations = 0;    ///< of elementwise code
  double bytes = 0;         ///< read and written
  double launchSeconds = 0; ///< per kernel: the threads begin and meet
};

/// Returns the rates of a level with this many processors, at the clock of docs/npu.md.
HostRates hostRates(const cpu::CpuLevel &level, unsigned processors);

/// Returns the seconds that the CPU needs for `kernel`. Products of unknown number count as none.
/// A kernel of the NPU has f16 tensors, which are twice as large on the CPU.
double hostSeconds(const PlacedKernel &kernel, const HostRates &rates);

} // namespace atc::driver

#endif // OPENATC_DRIVER_HOSTTIME_H
