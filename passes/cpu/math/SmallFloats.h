//===-- SmallFloats.h - f16 and bf16 without instructions for them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H
#define OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Returns `shape`, a vector or a scalar type, with other elements.
mlir::Type withElement(mlir::Type shape, mlir::Type element);

/// Adds patterns that compute f16 and bf16 in f32, and convert bf16 by integer operations.
void populateSmallFloatPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that convert f16 by integer operations, for levels without an instruction for it.
void populateF16ConversionPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H
