//===-- SmallFloats.h - f16 and bf16 without instructions for them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H
#define OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Arithmetic on f16 and bf16 is done in f32; bf16 becomes f32 and back by
/// integer operations.
void populateSmallFloatPatterns(mlir::RewritePatternSet &patterns);

/// The same for f16, for levels that have no instruction for it.
void populateF16ConversionPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_SMALLFLOATS_H
