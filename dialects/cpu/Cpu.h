//===-- Cpu.h - the cpu dialect -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_CPU_H
#define OPENATC_DIALECTS_CPU_CPU_H

#include "dialects/kernel/Kernel.h"

#include "dialects/cpu/CpuDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/cpu/CpuAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.h.inc"

namespace atc::cpu {
// The CPU backend handles the kernels of both dialects.
using namespace kernel;

/// Registers the cpu dialect.
void registerCpuDialect(mlir::DialectRegistry &registry);
} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_CPU_H
