//===-- Scratch.h - memory of a thread that a kernel works in ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_SCRATCH_H
#define OPENATC_PASSES_CPU_TILES_SCRATCH_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// The bytes of scratch memory that a kernel function needs per thread (i64). Where it is set, the
/// last buffer argument is that memory, which the runtime provides; the launch has no operand for
/// it.
inline constexpr llvm::StringLiteral kScratchAttr = "cpu.scratch";

/// Adds scratch memory of `elements` f32 values to the kernel function around `op` and returns it
/// as a flat buffer, aligned to a page. Its contents are undefined at the start of a call. A
/// function has one scratch memory.
mlir::Value addScratch(mlir::Operation *op, int64_t elements);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_SCRATCH_H
