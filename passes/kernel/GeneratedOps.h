//===-- GeneratedOps.h - for which operators code can be generated --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_GENERATEDOPS_H
#define OPENATC_PASSES_KERNEL_GENERATEDOPS_H

#include "mlir/IR/Operation.h"

namespace atc::kernel {

/// Whether the compiler will have code for `op`, a graph op as importers make it.
/// Asked before the graph passes, which bring operators into the forms that
/// whyUnsupported knows; what is none of these is better a host call from the
/// beginning. `widenFloats`: the graph passes will make float32 of the small floats
/// that are multiplied; without, the target multiplies float16 itself.
bool canGenerate(mlir::Operation *op, bool widenFloats);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_GENERATEDOPS_H
