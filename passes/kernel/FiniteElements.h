//===-- FiniteElements.h - formulas that keep numbers finite ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cube multiplies elements that no result needs by zero: lanes past the last channel, and the
// other channels of a residual. That is zero only for what is finite.

#ifndef OPENATC_PASSES_KERNEL_FINITEELEMENTS_H
#define OPENATC_PASSES_KERNEL_FINITEELEMENTS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <limits>
#include <optional>

namespace atc::kernel {

/// How large numbers become: |number| <= gain * |argument| + offset for the largest argument of a
/// formula, and min <= number <= max whatever the arguments are.
struct Growth {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  /// A power of an argument has no gain, but is a number of f32.
  double gain = 1, offset = 0;
  double min = -kInfinity, max = kInfinity;
  /// Otherwise infinite for some finite arguments, but never NaN.
  bool isFinite = true;
  /// The number of arguments that are multiplied.
  unsigned degree = 1;

  /// Returns the growth of numbers that do not depend on the arguments.
  static Growth between(double min, double max);
  /// Returns the largest absolute value.
  double bound() const { return std::max(-min, max); }
};

/// Returns the growth of the elements of a constant; nothing where some are infinite or NaN.
std::optional<Growth> growthOf(mlir::ElementsAttr constant);

/// Returns the growth of what `body` yields, of finite arguments with the given growths; nothing
/// where it may be infinite or NaN, or is large for arguments of usual size, zero among them. What
/// is not known to be harmless is not.
std::optional<Growth> growthOf(mlir::Block &body, llvm::ArrayRef<std::optional<Growth>> arguments);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_FINITEELEMENTS_H
