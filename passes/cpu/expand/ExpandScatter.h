//===-- ExpandScatter.h - kernel.scatter_add as loops -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EXPAND_EXPANDSCATTER_H
#define OPENATC_PASSES_CPU_EXPAND_EXPANDSCATTER_H

#include "dialects/kernel/Scatter.h"
#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

using kernel::ScatterAddOp;

/// Replaces the op, which is erased, by loops on vectors.
void expandScatterAdd(ScatterAddOp op);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_EXPANDSCATTER_H
