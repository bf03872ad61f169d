//===-- ProgramTime.h - simulated time of one program -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H
#define OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H

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

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PROGRAM_PROGRAMTIME_H
