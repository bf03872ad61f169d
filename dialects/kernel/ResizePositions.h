//===-- ResizePositions.h - input positions of a nearest resize -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H
#define OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H

#include "dialects/kernel/Kernel.h"

namespace atc::kernel {

/// Returns the input position that a nearest resize copies to output position `i`, computed in f32
/// with ONNX Runtime's order of operations.
int64_t nearestPosition(ResizeOp op, unsigned dim, int64_t i);

/// Returns s where output position i copies input position i / s for all i, else 0. This is the
/// usual case and needs no float arithmetic.
int64_t repetitionOf(ResizeOp op, unsigned dim);

} // namespace atc::kernel

#endif // OPENATC_DIALECTS_KERNEL_RESIZEPOSITIONS_H
