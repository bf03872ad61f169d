//===-- SaturatingCasts.h - numbers to bytes by saturating instructions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H
#define OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// For vectors that are rounded, moved by a zero point and cut to the range of bytes: a
/// zero point that is taken back at once is dropped, and where they become bytes and the
/// level has AVX its conversion rounds and its packing cuts.
void populateSaturatingCastPatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_SATURATINGCASTS_H
