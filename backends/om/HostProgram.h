//===-- HostProgram.h - the host program of a model -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_HOSTPROGRAM_H
#define OPENATC_BACKENDS_OM_HOSTPROGRAM_H

#include "backends/om/OmWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace atc::om {

/// The names of the host kernels that @main calls, each once, in the order in which
/// their code stands behind that of the module's kernels.
std::vector<std::string> hostKernelsOf(mlir::func::FuncOp main);

/// Bit t: a value of @main has, or holds tensors with, elements of the type that ONNX
/// calls t.
uint64_t hostTypesOf(mlir::func::FuncOp main);

/// Describes @main, whose parts have been outlined. `addWeight` puts a constant into
/// the weights; `firstKernel` is the number of the first of hostKernelsOf.
llvm::Expected<OmHostProgram>
describeHostProgram(mlir::func::FuncOp main, uint32_t firstKernel,
                    llvm::function_ref<llvm::Expected<OmBufferRef>(mlir::ElementsAttr)> addWeight);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_HOSTPROGRAM_H
