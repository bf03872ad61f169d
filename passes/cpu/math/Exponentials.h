//===-- Exponentials.h - exp of vectors by AVX-512 --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_EXPONENTIALS_H
#define OPENATC_PASSES_CPU_MATH_EXPONENTIALS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds the pattern that expands math.exp of 16 lanes of f32 on levels with AVX-512, with a benefit
/// above that of the general expansion. The error is below one unit in the last place.
void populateExponentialPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_EXPONENTIALS_H
