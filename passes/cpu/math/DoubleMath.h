//===-- DoubleMath.h - exp and log of f64 without a library ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_DOUBLEMATH_H
#define OPENATC_PASSES_CPU_MATH_DOUBLEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds patterns that expand math.exp and math.log of f64 into arithmetic.
void populateDoubleMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_DOUBLEMATH_H
