//===-- ByteTables.h - tables of bytes in registers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_MATH_BYTETABLES_H
#define OPENATC_PASSES_CPU_MATH_BYTETABLES_H

#include "mlir/IR/PatternMatch.h"

namespace atc::cpu {

/// Adds a pattern that lowers `cpu.lookup` to the instructions of the level that permute bytes.
void populateByteTablePatterns(mlir::RewritePatternSet &patterns);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_MATH_BYTETABLES_H
