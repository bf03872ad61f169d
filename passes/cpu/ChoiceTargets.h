//===-- ChoiceTargets.h - whose choices a CPU's are -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CHOICETARGETS_H
#define OPENATC_PASSES_CPU_CHOICETARGETS_H

#include "llvm/ADT/StringRef.h"

namespace atc::cpu {

/// The target in keys of choices (passes/Choices.h) that are made once for all CPU levels of a
/// file, such as the form of weights; choices per level have the level's name.
inline constexpr llvm::StringLiteral kAllLevels = "cpu";

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CHOICETARGETS_H
