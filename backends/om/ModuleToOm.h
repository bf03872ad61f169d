//===-- ModuleToOm.h - describes a schedule as an .om file ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_MODULETOOM_H
#define OPENATC_BACKENDS_OM_MODULETOOM_H

#include "backends/cpu/KernelCompiler.h"
#include "backends/om/OmWriter.h"
#include "dialects/graph/ConstantData.h"
#include "mlir/IR/BuiltinOps.h"

#include <deque>

namespace atc::om {

/// The description of a file and the objects that own its constants. It borrows the weights from
/// the module and the code from the levels.
struct OmDescription {
  OmModel model;
  std::vector<graph::ConstantBytes> constants;
  std::deque<std::vector<char>> packed; ///< constants of types smaller than a byte
};

/// Returns the description of the schedule in @main, planned by om-plan-memory, with the code of
/// its kernels: everything but producer, command line and name.
llvm::Expected<OmDescription> moduleToOm(mlir::ModuleOp module,
                                         llvm::ArrayRef<cpu::CompiledLevel> levels);

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_MODULETOOM_H
