//===-- CompilePass.cpp - the phases of a compilation in atc-opt ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/CompilePass.h"

#include "dialects/graph/ConstantData.h"
#include "driver/PhaseRunner.h"
#include "driver/Registration.h"
#include "driver/targets/MakeTarget.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace atc::driver {

namespace {

class CompilePass : public PassWrapper<CompilePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CompilePass)
  CompilePass() = default;
  CompilePass(const CompilePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "compile"; }
  StringRef getDescription() const override {
    return "Runs the phases from graph to stop-after for a target, as atc does";
  }
  // The phases load what they need; under a pass manager that is too late.
  void getDependentDialects(DialectRegistry &registry) const override {
    registerAllDialects(registry);
  }
  void runOnOperation() override;

private:
  bool run(Diagnostics &diagnostics);

  Option<std::string> stopAfter{*this, "stop-after",
                                llvm::cl::desc("graph, kernels, schedule or programs"),
                                llvm::cl::init("programs")};
  Option<std::string> targetCpu{*this, "target-cpu", llvm::cl::desc("CPU levels"),
                                llvm::cl::init("x86-64-v3")};
  Option<std::string> soc{*this, "soc", llvm::cl::desc("The NPU; empty for a CPU alone"),
                          llvm::cl::init("")};
  Option<std::string> precision{*this, "precision",
                                llvm::cl::desc("--precision_mode of atc, for an NPU"),
                                llvm::cl::init("force_fp16")};
  ListOption<std::string> disable{*this, "disable", llvm::cl::desc("Passes to leave out, by name")};
};

bool CompilePass::run(Diagnostics &diagnostics) {
  const std::optional<Phase> last = findPhase(stopAfter.getValue());
  if (!last || *last < Phase::Graph || *last > Phase::Programs) {
    diagnostics.error("E10001", "the value \"" + stopAfter +
                                    "\" of stop-after is invalid: it must be graph, kernels, "
                                    "schedule or programs");
    return false;
  }
  TargetRequest request;
  request.cpuLevels = targetCpu;
  request.target = soc.empty() ? "cpu" : "npu";
  if (!soc.empty()) {
    request.soc = soc;
    request.precision = precision;
  }
  std::shared_ptr<const Target> target = makeTarget(request, diagnostics);
  if (!target)
    return false;
  StageTimer timer;
  const std::vector<std::string> disabled(disable.begin(), disable.end());
  const std::string tempDir;
  ModuleOp module = getOperation();
  // Other modules of the context may use the constants.
  const bool wasShared = module->hasAttr(graph::kSharedConstantsAttr);
  module->setAttr(graph::kSharedConstantsAttr, UnitAttr::get(&getContext()));
  const bool done = PhaseRunner(*target, disabled, tempDir, timer, diagnostics).run(module, *last);
  if (!wasShared)
    module->removeAttr(graph::kSharedConstantsAttr);
  return done;
}

void CompilePass::runOnOperation() {
  Diagnostics diagnostics;
  const bool done = run(diagnostics);
  for (const CodedMessage &message : diagnostics.all())
    message.isError ? getOperation().emitError(message.line())
                    : getOperation().emitWarning(message.line());
  if (!done)
    signalPassFailure();
}

} // namespace

void registerCompilePass() { PassRegistration<CompilePass>(); }

} // namespace atc::driver
