//===-- ReductionPasses.h - passes on sums of computed values ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_REDUCTIONPASSES_H
#define OPENATC_PASSES_CPU_REDUCTIONPASSES_H

#include "passes/cpu/Passes.h"

namespace atc::cpu {
#define GEN_PASS_DECL_CPUEXPANDMAPREDUCE
#define GEN_PASS_DECL_CPUFUSEREDUCTIONS
#define GEN_PASS_REGISTRATION
#include "passes/cpu/ReductionPasses.h.inc"
} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_REDUCTIONPASSES_H
