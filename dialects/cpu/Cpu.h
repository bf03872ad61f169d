//===-- Cpu.h - the cpu dialect -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_CPU_H
#define OPENATC_DIALECTS_CPU_CPU_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "dialects/cpu/CpuDialect.h.inc"
#include "dialects/cpu/CpuEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/cpu/CpuAttrs.h.inc"
#include "dialects/cpu/CpuInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.h.inc"

namespace atc::cpu {
void registerCpuDialect(mlir::DialectRegistry &registry);
} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_CPU_H
