//===-- ExpandRounding.h - rounding to integers by arithmetic -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_CPU_EXPANDROUNDING_H
#define OPENATC_BACKENDS_CPU_EXPANDROUNDING_H

namespace llvm {
class Module;
} // namespace llvm

namespace atc::cpu {

/// Replaces the intrinsics that round f32 and f64, or vectors of them, to integral values (floor,
/// ceil, trunc, rint, nearbyint, roundeven, round) by additions and selections, for processors
/// whose code generator would call the C library. The results are exact, signs of zeros included.
void expandRounding(llvm::Module &module);

} // namespace atc::cpu

#endif // OPENATC_BACKENDS_CPU_EXPANDROUNDING_H
