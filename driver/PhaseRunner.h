//===-- PhaseRunner.h - runs the phases that are passes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_PHASERUNNER_H
#define OPENATC_DRIVER_PHASERUNNER_H

#include "driver/InsertedPasses.h"
#include "driver/PassEdits.h"
#include "driver/StageTimer.h"
#include "driver/targets/Target.h"
#include "support/Diagnostics.h"

namespace atc::driver {

/// Runs the phases Graph to Programs. The static regions of a dynamic model go through them one by
/// one, each as a module of its own, and come back as functions.
class PhaseRunner {
public:
  /// `disabled` has the names of passes to leave out; `tempDir` is the folder of --save_temps or
  /// empty; `inserted` has passes to run behind the phases. All arguments must outlive the runner.
  PhaseRunner(const Target &target, const std::vector<std::string> &disabled,
              const std::string &tempDir, StageTimer &timer, Diagnostics &diagnostics,
              llvm::ArrayRef<InsertedPasses> inserted = {})
      : target(target), disabled(disabled), tempDir(tempDir), timer(timer),
        diagnostics(diagnostics), inserted(inserted) {}

  /// Sets what else the user wants: edits of the pipelines, and a function that is called behind
  /// each phase. Both must outlive the runner.
  void setHooks(PassEditor *passEditor, const PhaseHook *phaseHook) {
    editor = passEditor;
    hook = phaseHook;
  }

  /// Accepts inputs of dynamic shape for a target of static shapes.
  void allowOpenDims() { hasOpenDims = true; }

  /// Runs the phases up to `last` on a module that has been imported. The module must be
  /// the only one in its context, whose constants are freed on the way. Graph passes are
  /// skipped where @main holds kernel ops or launches already. Returns false after an error,
  /// which is in the diagnostics or was reported to the context.
  bool run(mlir::ModuleOp module, Phase last);

  /// Runs the phases as far as no pass reads choices, on a module as run() takes it. Returns false
  /// after an error, and where there is no such place: in dynamic models, and for targets without
  /// choices between the phases.
  bool runToChoices(mlir::ModuleOp module);

  /// Runs the other phases up to `last` on a module that runToChoices() has left.
  bool runFromChoices(mlir::ModuleOp module, Phase last);

  /// Writes a module into the folder of --save_temps, where there is one. Returns false after
  /// an error.
  bool keep(mlir::ModuleOp module, llvm::StringRef file);

private:
  bool checkPassNames();
  bool checkInputs(mlir::func::FuncOp main);
  /// Returns the names that `disabled` may have.
  std::vector<std::string> optionalPassNames() const;
  bool checkModule(mlir::ModuleOp module);
  bool begin(mlir::ModuleOp module);
  bool expand(mlir::ModuleOp module);
  bool runPipeline(mlir::ModuleOp module, const PhasePipeline &pipeline);
  bool runPipelines(mlir::ModuleOp module, llvm::ArrayRef<PhasePipeline> pipelines, Phase last);
  bool runStatic(mlir::ModuleOp module, llvm::ArrayRef<PhasePipeline> pipelines, Phase last);
  bool runRegions(mlir::ModuleOp module, Phase last);
  bool fail(const std::string &text);

  const Target &target;
  const std::vector<std::string> &disabled;
  const std::string &tempDir;
  StageTimer &timer;
  Diagnostics &diagnostics;
  llvm::ArrayRef<InsertedPasses> inserted;
  PassEditor *editor = nullptr;
  const PhaseHook *hook = nullptr;
  bool hasOpenDims = false;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_PHASERUNNER_H
