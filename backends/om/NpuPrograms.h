//===-- NpuPrograms.h - the NPU's part of an .om file ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_NPUPROGRAMS_H
#define OPENATC_BACKENDS_OM_NPUPROGRAMS_H

#include "backends/om/OmWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace atc::om {

/// Encodes every npu.program of the module and verifies that the runtime will accept it; adds
/// programs, SoC, its table and the target to `model`. Each error is a diagnostic of its own
/// (E19999, with program and instruction). Does nothing for a module without programs.
llvm::Error addPrograms(mlir::ModuleOp module, OmModel &model);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_NPUPROGRAMS_H
