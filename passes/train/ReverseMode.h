//===-- ReverseMode.h - gradients by reverse-mode differentiation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_REVERSEMODE_H
#define OPENATC_PASSES_TRAIN_REVERSEMODE_H

#include "passes/train/Gradients.h"

#include <string>

namespace atc::train {

/// Returns whether values of a type can have gradients: float tensors of static shape with
/// elements.
bool isContinuous(mlir::Type type);

/// Differentiates one value of a block by others.
class ReverseMode {
public:
  /// Adds a value by which is differentiated. Its type is continuous.
  void addVariable(mlir::Value value) { varying.insert(value); }

  /// Finds the ops of `body` in front of `end` through which `target` depends on the variables.
  /// Returns the names of those that have no gradient, separated by commas; empty: all have one.
  std::string findPath(mlir::Block &body, mlir::Operation *end, mlir::Value target);
  /// Returns the ops that findPath has found, from the target to the variables.
  llvm::ArrayRef<mlir::Operation *> path() const { return ops; }

  /// Builds the gradients of all values on the path, where that of the target is `seed`.
  void differentiate(mlir::OpBuilder &builder, mlir::Value target, mlir::Value seed);
  /// Returns the gradient of a value; null where the target does not depend on it.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }

private:
  void differentiate(mlir::OpBuilder &builder, mlir::Operation *op);

  GradientRules rules;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Value> varying; ///< values that depend on a variable
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_REVERSEMODE_H
