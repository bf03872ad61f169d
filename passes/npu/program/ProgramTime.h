//===-- ProgramTime.h - simulated time of one program -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H
#define OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H

#include "dialects/npu/Npu.h"
#include "npu/isa/Isa.h"
#include "npu/soc/Soc.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace atc::npu {

/// The attribute of a module whose program is measured and dropped: passes make no remarks on it.
constexpr llvm::StringLiteral kTrialAttr = "npu.trial";

/// Returns the cycles of a launch that continues a task and finds everything in L2 that fits there;
/// nothing if the program does not terminate. The result is deterministic.
std::optional<double> timeOfProgram(const Program &program, const SocTable &soc);

/// The time of a launch of one program, and how long its queue for loads has nothing to do.
struct ProgramUse {
  double cycles = 0;
  double idleLoads = 0; ///< mean of the cores, after the launch has started
};

/// Returns the same for a program whose local memory and flags are assigned; the gm buffers `cold`
/// are not in L2. Nothing for programs that take long to simulate.
std::optional<ProgramUse> useOfProgram(ir::ProgramOp program, const SocTable &soc,
                                       llvm::ArrayRef<unsigned> cold = {});

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H
