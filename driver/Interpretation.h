//===-- Interpretation.h - runs a module by the names of its tensors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_INTERPRETATION_H
#define OPENATC_DRIVER_INTERPRETATION_H

#include "dialects/graph/interpreter/Interpreter.h"
#include "openatc/om.hpp"

#include "mlir/IR/BuiltinOps.h"

namespace atc::driver {

/// Returns the runtime's name for an element type; OM_UNDEFINED for one that it lacks.
om_dtype dtypeOf(mlir::Type type);

/// Returns the runtime's description of a tensor of graph ops, whose shape must be static.
::om::Tensor describeTensor(const std::string &name, mlir::RankedTensorType type);

/// Returns @main if the interpreter can run it, for which it must have one block; else null.
mlir::func::FuncOp findInterpretable(mlir::ModuleOp module);

/// Return the names that users know: `om.name`, or "arg0" and "result0" where there is none.
std::string argumentName(mlir::func::FuncOp function, unsigned index);
std::string resultName(mlir::func::FuncOp function, unsigned index);

/// Runs a function in the reference interpreter and returns its results; fails with a diagnostic of
/// the context. `callback` receives every tensor that has a name and is not a constant when it is
/// computed for the first time, also in branches and loops, and at the end the results under the
/// names of the outputs, which may differ (an Identity).
mlir::FailureOr<llvm::SmallVector<graph::Tensor>>
interpretNamed(mlir::func::FuncOp function, llvm::ArrayRef<graph::Tensor> arguments,
               llvm::function_ref<void(const std::string &, const graph::Tensor &)> callback);

} // namespace atc::driver

#endif // OPENATC_DRIVER_INTERPRETATION_H
