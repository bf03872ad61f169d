//===-- MainFunction.h - the function that a model becomes ----------------===//
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

/// @main in a module of its own. Arguments and results have the names that users
/// know as `om.name`, the module has the graph's name as `graph.name`.
class MainFunction {
public:
  /// Leaves `builder` in the body of @main.
  MainFunction(mlir::OpBuilder &builder, llvm::StringRef graphName);

  /// `tensor` is what the model calls the input inside, `name` what users call it.
  mlir::Value addInput(llvm::StringRef name, llvm::StringRef tensor, mlir::Type type);

  /// Returns the module with `results`, each under its name, and without the ops
  /// that these do not need. Null where it is not valid.
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
