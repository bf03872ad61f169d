//===-- NpuTarget.cpp - compiles for a simulated NPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/targets/NpuTarget.h"

#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/GeneratedOps.h"
#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"
#include "passes/om/Schedule.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace atc::driver {

/// Returns the precision as the NPU's pipelines call it.
static std::string pipelinePrecision(Precision precision) {
  switch (precision) {
  case Precision::ForceFp16:
  case Precision::Mixed: // the module lists what is f32
    return "force_fp16";
  case Precision::KeepOrigin:
    return "origin";
  // The cube has no f32; everything else has.
  case Precision::AllowFp32ToFp16:
  case Precision::CubeFp16InFp32Out:
    return "cube_fp16";
  }
  return "force_fp16";
}

PrecisionBase NpuTarget::precisionBase() const {
  switch (precision) {
  case Precision::ForceFp16:
    return PrecisionBase::Float16;
  case Precision::KeepOrigin:
    return PrecisionBase::Float32;
  case Precision::AllowFp32ToFp16:
  case Precision::CubeFp16InFp32Out:
    return PrecisionBase::Contractions;
  case Precision::Mixed:
    return PrecisionBase::Mixed;
  }
  return PrecisionBase::Float16;
}

/// Programs of the vector queue cost little to generate, and constants have to be in the bodies of
/// maps: with a scale or a zero point as an operand the NPU does not recognize a quantization.
constexpr unsigned kMaxMapCode = 200'000;

/// Returns whether the cube is to contract the int8 tensors of a quantized network. It can, or not,
/// depending on what graph passes make of the code behind each contraction, so they run on a copy;
/// a network of which it cannot compute nearly all is computed in floats, and not on the CPU.
static bool contractsIntegers(func::FuncOp main, const std::vector<std::string> &disabled,
                              StringRef soc) {
  auto module = main->getParentOfType<ModuleOp>();
  if (!module || !npu::canSumIntegers(main))
    return false;
  MLIRContext *context = module.getContext();
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(context);
  graph::GraphPipelineOptions graph;
  graph.disable = disabled;
  graph.maxCode = kMaxMapCode;
  graph::buildGraphPipeline(manager, graph);
  npu::NpuSetSocOptions name;
  name.soc = soc.str();
  manager.addPass(npu::createNpuSetSoc(name));
  manager.addNestedPass<func::FuncOp>(npu::createNpuSelectInt8Contractions());
  {
    const SilentRemarks silentRemarks;
    if (failed(manager.run(*copy)))
      return true; // the compilation itself will say why
  }
  auto integers = copy->lookupSymbol<func::FuncOp>(main.getName());
  return integers && npu::sumsEnoughIntegers(integers);
}

bool NpuTarget::canGenerate(Operation *op) const {
  return kernel::canGenerate(op, /*widenFloats=*/false);
}

ArrayRef<StringLiteral> NpuTarget::optionalPasses() const { return npu::optionalPasses(); }

void NpuTarget::annotate(ModuleOp module) const {
  MLIRContext *context = module.getContext();
  module->setAttr(om::kNpuSocAttr, StringAttr::get(context, soc.name));
  if (hasOwnTable)
    module->setAttr(om::kSocTableAttr, StringAttr::get(context, npu::writeSoc(soc)));
}

std::vector<PhasePipeline> NpuTarget::buildPipelines(func::FuncOp main,
                                                     std::vector<std::string> disabled) const {
  using Build = void (*)(OpPassManager &, const npu::NpuPipelineOptions &);
  auto pipeline = [&](Phase phase, StringRef title, StringRef file, Build build,
                      bool readsChoices = true) -> PhasePipeline {
    return {phase, title, file,
            [build, disabled, soc = soc.name, precision = precision,
             clipsWeights = clipsWeights](OpPassManager &pm) {
              npu::NpuPipelineOptions options;
              options.soc = soc;
              options.precision = pipelinePrecision(precision);
              options.clipWeights = clipsWeights;
              options.disable = disabled;
              build(pm, options);
            },
            readsChoices};
  };
  const bool integers = contractsIntegers(main, disabled, soc.name);
  // Queries, keys and values as one product save launches: bert_base and vit_base16 are 7 % faster
  // where weights wait in a large L2. On other chips it was
  // from 4 % faster to 7 % slower, by network and batch.
  const bool mergesProducts = soc.l2Prefetch;
  return {
      makeGraphPipeline(
          disabled, {.integers = integers,
                     .widenFloats = false,
                     .mergeProducts = mergesProducts,
                     .splitGroups = false,
                     .keepPreprocessing = precision != Precision::KeepOrigin &&
                                          !llvm::is_contained(disabled, "npu-select-preprocessing"),
                     .maxCode = kMaxMapCode}),
      pipeline(Phase::Kernels, "precision, layout, buffers", "", npu::buildNpuBufferPipeline,
               /*readsChoices=*/false),
      pipeline(Phase::Kernels, "parts of the batch", "3-buffers.mlir", npu::buildNpuPartsPipeline),
      pipeline(Phase::Schedule, "schedule", "4-schedule.mlir", npu::buildNpuSchedulePipeline),
      pipeline(Phase::Programs, "NPU programs", "5-programs.mlir", npu::buildNpuKernelPipeline)};
}

std::vector<std::string> NpuTarget::choiceTargets() const {
  std::vector<std::string> targets = {soc.name};
  llvm::append_range(targets, host.choiceTargets());
  return targets;
}

llvm::Expected<EmittedModel> NpuTarget::emit(ModuleOp module, const EmitOptions &options) const {
  return host.emit(module, options);
}

} // namespace atc::driver
