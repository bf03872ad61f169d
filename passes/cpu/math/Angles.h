//===-- Angles.h - trigonometric and inverse hyperbolic functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_ANGLES_H
#define OPENATC_PASSES_CPU_MATH_ANGLES_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds patterns that expand math.sin and math.cos of f32, exact for the angles of positions in
/// long sequences, and math.asinh, math.acosh and math.atanh without overflow or cancellation.
void populateAnglePatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_ANGLES_H
