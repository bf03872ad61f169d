//===-- SaturatingCasts.h - floats to int8 by saturating instructions -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H
#define OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds patterns for vectors that are rounded, shifted by a zero point and clamped to the range of
/// int8 or uint8: a zero point that is subtracted again at once is dropped, and where the result is
/// converted to bytes and the level has AVX, its conversion rounds and its pack instructions
/// saturate.
void populateSaturatingCastPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H
