//===-- CpuTarget.cpp - compiles for CPUs ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/targets/CpuTarget.h"

#include "backends/om/HostProgram.h"
#include "passes/cpu/ChoiceTargets.h"
#include "passes/cpu/Pipelines.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/GeneratedOps.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::driver {

bool CpuTarget::canGenerate(Operation *op) const {
  return kernel::canGenerate(op, /*widenFloats=*/true);
}

ArrayRef<StringLiteral> CpuTarget::optionalPasses() const { return cpu::optionalPasses(); }

std::vector<std::string> CpuTarget::choiceTargets() const {
  std::vector<std::string> targets;
  for (const cpu::CpuLevel &level : levels)
    targets.push_back(level.name);
  targets.push_back(cpu::kAllLevels.str());
  return targets;
}

bool CpuTarget::hasVectorsOf(int64_t lanes) const {
  return llvm::all_of(levels, [lanes](const cpu::CpuLevel &level) { return level.lanes >= lanes; });
}

bool CpuTarget::hasWideDot() const {
  return llvm::all_of(levels, [](const cpu::CpuLevel &level) { return level.hasWideDot(); });
}

bool CpuTarget::convertsHalfs() const {
  return llvm::all_of(levels, [](const cpu::CpuLevel &level) {
    return level.arch == "aarch64" || llvm::is_contained(level.required, "f16c");
  });
}

bool CpuTarget::computesHalves() const {
  return wantsHalves && !levels.empty() && llvm::all_of(levels, [](const cpu::CpuLevel &level) {
           return llvm::is_contained(level.required, "avx512fp16");
         });
}

PhasePipeline CpuTarget::schedulePipeline(std::vector<std::string> disabled) const {
  return {Phase::Schedule, "schedule", "4-schedule.mlir",
          [disabled = std::move(disabled)](OpPassManager &pm) {
            cpu::CpuPipelineOptions options;
            options.disable = disabled;
            cpu::buildCpuSchedulePipeline(pm, options);
          }};
}

PhasePipeline CpuTarget::callPipeline(std::vector<std::string> disabled) const {
  return {Phase::Schedule, "code of host calls", "4-calls.mlir",
          [disabled = std::move(disabled)](OpPassManager &pm) {
            cpu::CpuPipelineOptions options;
            options.disable = disabled;
            cpu::buildCpuCallPipeline(pm, options);
          }};
}

std::vector<PhasePipeline> CpuTarget::buildPipelines(func::FuncOp,
                                                     std::vector<std::string> disabled) const {
  const bool exactDot = !levels.empty() && llvm::all_of(levels, [](const cpu::CpuLevel &level) {
    return level.hasExactDot();
  });
  // Where weights do not keep their order, tile registers cannot multiply them.
  const bool tileRegisters = exactDot && llvm::any_of(levels, [](const cpu::CpuLevel &level) {
                               return level.hasTileRegisters();
                             });
  const bool byteTables =
      llvm::all_of(levels, [](const cpu::CpuLevel &level) { return level.permutesBytes(); });
  PhasePipeline kernels = {Phase::Kernels, "layout, buffers", "3-buffers.mlir",
                           [disabled, exactDot, tileRegisters, byteTables, storage = storage,
                            convertsHalfs = convertsHalfs(),
                            halfProducts = computesHalves()](OpPassManager &pm) {
                             cpu::CpuPipelineOptions options;
                             options.disable = disabled;
                             options.exactDot = exactDot;
                             options.tileRegisters = tileRegisters;
                             options.byteTables = byteTables;
                             options.storage = storage;
                             options.convertsHalfs = convertsHalfs;
                             options.halfProducts = halfProducts;
                             cpu::buildCpuBufferPipeline(pm, options);
                           }};
  return {makeGraphPipeline(disabled, {.integers = true,
                                       .widenFloats = true,
                                       .mergeProducts = true,
                                       .splitGroups = true,
                                       .keepPreprocessing = false,
                                       .maxCode = graph::kMaxCode}),
          std::move(kernels), schedulePipeline(disabled)};
}

llvm::Expected<EmittedModel> CpuTarget::emit(ModuleOp module, const EmitOptions &options) const {
  cpu::KernelCompilerOptions compiler;
  compiler.threads = options.threads;
  compiler.tempDir = options.tempDir;
  compiler.cache = options.cache;
  compiler.onStage = options.onStage;
  compiler.hostKernels = om::hostKernelsOf(om::findMain(module));
  EmittedModel emitted;
  // Where all launches are the NPU's there is no code to generate.
  if (!cpu::kernelsOf(module).empty() || !compiler.hostKernels.empty()) {
    if (levels.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "the target has no CPU level to generate code for");
    for (const cpu::CpuLevel &level : levels) {
      auto compiled = cpu::compileKernels(module, level, compiler);
      if (!compiled)
        return compiled.takeError();
      emitted.levels.push_back(std::move(*compiled));
    }
  }
  if (options.onStage)
    options.onStage("write file");
  auto description = om::moduleToOm(module, emitted.levels);
  if (!description)
    return description.takeError();
  emitted.description = std::move(*description);
  return emitted;
}

} // namespace atc::driver
