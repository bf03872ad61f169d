//===-- MainFunction.h - builds the function of a model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_MAINFUNCTION_H
#define OPENATC_FRONTENDS_MAINFUNCTION_H

#include <string>
#include <utility>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "support/Diagnostics.h"

namespace atc {

/// The attribute of a module with states: the names of an input and of the output that is its value
/// in the next run, and its value in the first run where that is not zeros.
inline constexpr llvm::StringLiteral kStatesAttr = "graph.states";

/// Builds @main in a module of its own. Arguments and results have the names that users know as
/// `om.name`, the module has the graph's name as `graph.name`.
class MainFunction {
public:
  /// Creates the function and moves `builder` into its body.
  MainFunction(mlir::OpBuilder &builder, llvm::StringRef graphName);

  /// Adds an argument. `tensor` is the model's internal name of the input, `name` the one for
  /// users.
  mlir::Value addInput(llvm::StringRef name, llvm::StringRef tensor, mlir::Type type);

  /// Returns the module with `results`, each under its name, and without the ops that they do not
  /// need. Returns null, after an error, where it is not valid.
  mlir::OwningOpRef<mlir::ModuleOp>
  finish(llvm::ArrayRef<std::pair<std::string, mlir::Value>> results, Diagnostics &diagnostics);

private:
  mlir::OpBuilder &builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block *body;
  std::vector<std::string> inputNames;
};

} // namespace atc

#endif // OPENATC_FRONTENDS_MAINFUNCTION_H
