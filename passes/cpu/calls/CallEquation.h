//===-- CallEquation.h - the terms of an Einsum ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_CALLEQUATION_H
#define OPENATC_PASSES_CPU_CALLS_CALLEQUATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace atc::cpu {

/// The labels of the dims of each operand and of the result: letters, and numbers from
/// `kFirstCovered` on for dims that an ellipsis stands for.
struct Equation {
  static constexpr int64_t kFirstCovered = 256;

  llvm::SmallVector<llvm::SmallVector<int64_t>> inputs;
  llvm::SmallVector<int64_t> output;

  /// Reads the equation of operands of these ranks; nothing where they do not fit.
  static std::optional<Equation> read(llvm::StringRef text, llvm::ArrayRef<int64_t> ranks);
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_CALLEQUATION_H
