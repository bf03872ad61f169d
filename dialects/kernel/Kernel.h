//===-- Kernel.h - the kernel dialect -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_KERNEL_KERNEL_H
#define OPENATC_DIALECTS_KERNEL_KERNEL_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "dialects/kernel/KernelDialect.h.inc"
#include "dialects/kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.h.inc"
#include "dialects/kernel/KernelInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

namespace atc::kernel {
/// Registers the kernel dialect.
void registerKernelDialect(mlir::DialectRegistry &registry);
} // namespace atc::kernel

#endif // OPENATC_DIALECTS_KERNEL_KERNEL_H
