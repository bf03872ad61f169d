//===-- InsertedPasses.h - a user's passes behind a phase -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_INSERTEDPASSES_H
#define OPENATC_DRIVER_INSERTEDPASSES_H

#include "driver/Phase.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <vector>

namespace atc::driver {

/// A pipeline of registered passes that runs on the module when a phase is done.
struct InsertedPasses {
  Phase after;          ///< Import, Graph, Kernels, Schedule or Programs
  std::string pipeline; ///< as atc-opt takes it: "my-pass{option=1},canonicalize"
};

/// Is called with the module behind a phase, of a dynamic model behind Graph and later with that of
/// each static region; it may change the module. Returns false after an error in the diagnostics.
using PhaseHook = std::function<bool(Phase, mlir::ModuleOp, Diagnostics &)>;

/// Loads shared libraries with passes (mlirGetPassPluginInfo) into the process, where they stay,
/// and registers the project's passes too, once per process. Returns false after an error.
bool loadPassPlugins(llvm::ArrayRef<std::string> files, Diagnostics &diagnostics);

/// Reads "phase:pipeline;phase:pipeline", after loadPassPlugins. Unknown phases and passes are
/// errors.
std::vector<InsertedPasses> readInsertedPasses(llvm::StringRef text, Diagnostics &diagnostics);

/// Runs the pipelines that `passes` has behind `phase`, in their order. A list of passes
/// on functions is nested. Returns false after an error, which was reported to the context or is in
/// `diagnostics`.
bool runInsertedPasses(llvm::ArrayRef<InsertedPasses> passes, Phase phase, mlir::ModuleOp module,
                       Diagnostics &diagnostics);

} // namespace atc::driver

#endif // OPENATC_DRIVER_INSERTEDPASSES_H
