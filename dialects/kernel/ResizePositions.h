//===-- ResizePositions.h - which element a resize repeats ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H
#define OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H

#include "dialects/kernel/Kernel.h"

namespace atc::kernel {

/// The position of the input that output position `i` of a nearest resize shows,
/// in f32 and by ONNX Runtime's order of operations.
int64_t nearestPosition(ResizeOp op, unsigned dim, int64_t i);

/// s where output position i shows position i / s of the input, else 0: the usual
/// case of nearest, which needs no arithmetic on floats.
int64_t repetitionOf(ResizeOp op, unsigned dim);

} // namespace atc::kernel

#endif // OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H
