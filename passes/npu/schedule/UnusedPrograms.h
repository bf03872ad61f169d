//===-- UnusedPrograms.h - erases replaced programs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SCHEDULE_UNUSEDPROGRAMS_H
#define OPENATC_PASSES_NPU_SCHEDULE_UNUSEDPROGRAMS_H

#include "dialects/npu/Npu.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace atc::npu {

/// Erases the programs that `isReplaced` accepts and that nothing uses. It takes one search for the
/// uses of all programs: a module has thousands of them.
void eraseUnusedPrograms(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                         llvm::function_ref<bool(ir::ProgramOp)> isReplaced);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SCHEDULE_UNUSEDPROGRAMS_H
