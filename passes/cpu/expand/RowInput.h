//===-- RowInput.h - what tasks prepare of their input ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_ROWINPUT_H
#define OPENATC_PASSES_CPU_EXPAND_ROWINPUT_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// Emits `prepare`, which fills the scratch memory of a task from its rows of the input, where that
/// does not hold them yet. `task` is what beginTasks({images, rows, groups}) returned: tasks that
/// follow each other differ in their group of output channels first, so that the first task of a
/// thread, which begins at `begin`, and the first group of each row prepare. Assumes that tasks are
/// in the innermost loop at the insertion point.
void emitRowInput(KernelBuilder &b, mlir::ArrayRef<mlir::Value> task, int64_t groups,
                  mlir::Value begin, mlir::function_ref<void()> prepare);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_ROWINPUT_H
