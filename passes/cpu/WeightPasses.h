//===-- WeightPasses.h - passes on packed weights ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_WEIGHTPASSES_H
#define OPENATC_PASSES_CPU_WEIGHTPASSES_H

#include "passes/cpu/Passes.h"

namespace atc::cpu {
#define GEN_PASS_DECL_CPUNARROWWEIGHTS
#define GEN_PASS_DECL_CPUSELECTHALFPRODUCTS
#define GEN_PASS_REGISTRATION
#include "passes/cpu/WeightPasses.h.inc"
} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_WEIGHTPASSES_H
