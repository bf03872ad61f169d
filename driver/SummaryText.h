//===-- SummaryText.h - what a compilation made, for people ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_SUMMARYTEXT_H
#define OPENATC_DRIVER_SUMMARYTEXT_H

#include "driver/Compiler.h"

namespace atc::driver {

/// Returns lines about the file that was written at `path`: its size, its inputs and outputs, the
/// memory that a session needs, and what runs on the CPU. The lines on an NPU are those of
/// describe(Placement).
std::vector<std::string> describeSummary(const CompileSummary &summary, llvm::StringRef path);

} // namespace atc::driver

#endif // OPENATC_DRIVER_SUMMARYTEXT_H
