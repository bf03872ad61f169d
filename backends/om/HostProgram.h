//===-- HostProgram.h - the dynamic schedule of a model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_HOSTPROGRAM_H
#define OPENATC_BACKENDS_OM_HOSTPROGRAM_H

#include "backends/cpu/HostKernels.h"
#include "backends/om/OmWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace atc::om {

/// Returns the host kernels that @main calls, without duplicates, in the order in which their code
/// follows that of the module's kernels.
std::vector<cpu::HostKernel> hostKernelsOf(mlir::func::FuncOp main);

/// Returns the description of @main, whose static regions have been outlined. `addWeight` adds a
/// constant to the weights; `firstKernel` is the index of the first of hostKernelsOf; `kernelIndex`
/// has those of the module's kernel functions by name.
llvm::Expected<OmHostProgram>
describeHostProgram(mlir::func::FuncOp main, uint32_t firstKernel,
                    const llvm::DenseMap<mlir::StringAttr, uint32_t> &kernelIndex,
                    llvm::function_ref<llvm::Expected<OmBufferRef>(mlir::ElementsAttr)> addWeight);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_HOSTPROGRAM_H
