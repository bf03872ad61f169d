//===-- Functions.h - arguments and results of @main ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_TRAIN_FUNCTIONS_H
#define OPENATC_PASSES_TRAIN_FUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace atc::train {

/// Returns the name for users of an argument or result: its `om.name`, or its number.
std::string argumentName(mlir::func::FuncOp main, unsigned index);
std::string resultName(mlir::func::FuncOp main, unsigned index);

/// Returns the number of the argument or result of a name; nothing where there is none.
std::optional<unsigned> findArgument(mlir::func::FuncOp main, llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp main, llvm::StringRef name);

/// Adds an argument behind the others.
mlir::BlockArgument appendArgument(mlir::func::FuncOp main, mlir::Type type,
                                   const std::string &name);
/// Adds a result behind the others, or at `index`.
void appendResult(mlir::func::FuncOp main, mlir::Value value, const std::string &name,
                  std::optional<unsigned> index = std::nullopt);

/// Returns the location of a value that stands for `loc`'s tensor with a suffix: "fc.grad".
mlir::Location derivedName(mlir::Location loc, llvm::StringRef suffix);

} // namespace atc::train

#endif // OPENATC_PASSES_TRAIN_FUNCTIONS_H
