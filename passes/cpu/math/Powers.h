//===-- Powers.h - powers of floats without a library ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_POWERS_H
#define OPENATC_PASSES_CPU_MATH_POWERS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds the pattern that expands math.powf of f32 and f64, with the values of C's pow() for
/// negative bases, zeros and infinities. Smaller floats are computed in f32.
void populatePowerPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_POWERS_H
