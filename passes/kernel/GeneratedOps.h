//===-- GeneratedOps.h - the operators with generated code ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_GENERATEDOPS_H
#define OPENATC_PASSES_KERNEL_GENERATEDOPS_H

#include "mlir/IR/Operation.h"

namespace atc::kernel {

/// Returns whether the compiler will generate code for `op`, a graph op as importers make it.
/// Called before the graph passes, which bring operators into the forms that whyUnsupported
/// accepts; an op that will have none of these forms is better imported as a host call. With
/// `widenFloats` the graph passes convert 16-bit floats that are multiplied to float32; without it,
/// the target multiplies float16 itself, and compares unsigned bytes as float16.
bool canGenerate(mlir::Operation *op, bool widenFloats);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_GENERATEDOPS_H
