//===-- CallFunctions.h - the functions that host calls call --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_CALLFUNCTIONS_H
#define OPENATC_PASSES_CPU_CALLS_CALLFUNCTIONS_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace atc::cpu {

/// Adds kernel functions with the generated code of host calls to a module; calls with equal code
/// share one.
class CallFunctions {
public:
  explicit CallFunctions(mlir::ModuleOp module) : module(module) {}

  /// Returns a kernel function that is in no module, with arguments of these types and the range of
  /// tasks. Its builder is to be placed at the start of its only block; `add` ends the function.
  mlir::func::FuncOp make(llvm::ArrayRef<mlir::Type> buffers);
  /// Adds `function`, which `make` returned, or erases it where there is an equal one, and makes it
  /// the code of `call`, which states what it is for (kernels::kGeneratedFor): the dims of a row,
  /// the element types, and `ranks`, those of the inputs by position and of the results; without
  /// them any. `stem` begins its name.
  void add(mlir::func::FuncOp function, llvm::StringRef stem, graph::HostCallOp call,
           int64_t rowDims = 1, llvm::ArrayRef<int64_t> ranks = {});

  /// Returns the number of functions added.
  unsigned size() const { return known.size(); }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::StringAttr> known; ///< names by text
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_CALLFUNCTIONS_H
