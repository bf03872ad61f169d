//===-- Passes.h - passes that all targets share --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PASSES_H
#define OPENATC_PASSES_KERNEL_PASSES_H

#include "dialects/kernel/Kernel.h"
#include "dialects/om/Om.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::kernel {
#define GEN_PASS_DECL
#include "passes/kernel/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"
} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PASSES_H
