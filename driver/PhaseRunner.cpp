//===-- PhaseRunner.cpp - runs the phases that are passes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/PhaseRunner.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/DerivedConstants.h"
#include "dialects/graph/ops/HostOps.h"
#include "driver/StaticRegions.h"
#include "driver/targets/CpuTarget.h"
#include "passes/graph/PassNames.h"
#include "passes/graph/Passes.h"
#include "passes/host/Passes.h"
#include "passes/host/Pipelines.h"
#include "passes/om/Schedule.h"
#include "support/NearestName.h"

using namespace mlir;

namespace atc::driver {

bool PhaseRunner::fail(const std::string &text) {
  if (!diagnostics.hasErrors())
    diagnostics.errorLine(text);
  return false;
}

bool PhaseRunner::keep(ModuleOp module, StringRef file) {
  if (tempDir.empty() || file.empty())
    return true;
  llvm::Error error = cpu::writeModule(module, tempDir, file);
  return !error || fail(toString(std::move(error)));
}

bool PhaseRunner::runPipeline(ModuleOp module, const PhasePipeline &pipeline) {
  timer.begin(pipeline.title);
  PassManager pm(module.getContext());
  pipeline.build(pm);
  if (editor && !editor->apply(pm, diagnostics))
    return false;
  if (failed(pm.run(module)))
    return fail("the stage '" + pipeline.title.str() + "' failed");
  return keep(module, pipeline.file);
}

/// Reports whether @main holds kernel ops or launches, behind which graph passes have no
/// more to do.
static bool isLowered(func::FuncOp main) {
  return main
      .walk([](Operation *op) {
        return llvm::is_contained({"kernel", "cpu", "om"}, op->getName().getDialectNamespace())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether a call is a convolution or a pool over three dims.
static bool isOverVolume(graph::HostCallOp call) {
  auto type = call.getInputs().empty() ? RankedTensorType()
                                       : dyn_cast<RankedTensorType>(call.getInputs()[0].getType());
  return type && type.getRank() == 5 && host::expandsVolumesOf(call.getKernel());
}

/// Returns the passes that turn calls of host kernels into ops that a target computes; nothing
/// where `main` has no such call. They come first: what they leave may have static shapes only.
/// Without `isNpu` those calls stay for which the CPU has better code.
static std::optional<PhasePipeline> expandPipeline(func::FuncOp main, bool isNpu,
                                                   ArrayRef<std::string> disabled) {
  bool isAny = false;
  main.walk([&](graph::HostCallOp call) {
    isAny |= isNpu || isOverVolume(call) || host::isFusedProduct(call.getKernel());
  });
  if (!isAny)
    return std::nullopt;
  return PhasePipeline{Phase::Graph, "host kernels as ops of the target", "2-expanded.mlir",
                       [isNpu, disabled](OpPassManager &pm) {
                         OpPassManager &functions = pm.nest<func::FuncOp>();
                         // Exporters compute weights of constants: other orders of gates.
                         functions.addPass(graph::createGraphFoldConstants());
                         if (!llvm::is_contained(disabled, "host-expand-volumes"))
                           functions.addPass(host::createHostExpandVolumes());
                         if (!llvm::is_contained(disabled, "host-expand-fused"))
                           functions.addPass(
                               host::createHostExpandFused({/*onlyProducts=*/!isNpu}));
                         if (!isNpu)
                           return;
                         if (!llvm::is_contained(disabled, "host-expand-attention"))
                           functions.addPass(host::createHostExpandAttention());
                         if (!llvm::is_contained(disabled, "host-expand-weights"))
                           functions.addPass(host::createHostExpandWeights());
                         if (!llvm::is_contained(disabled, "host-expand-recurrent"))
                           functions.addPass(host::createHostExpandRecurrent());
                         if (!llvm::is_contained(disabled, "host-expand-top-k"))
                           functions.addPass(host::createHostExpandTopK());
                         if (!llvm::is_contained(disabled, "host-expand-grid-sample"))
                           functions.addPass(host::createHostExpandGridSample());
                         if (!llvm::is_contained(disabled, "host-expand-scatter"))
                           functions.addPass(host::createHostExpandScatter());
                       }};
}

bool PhaseRunner::runStatic(ModuleOp module, ArrayRef<PhasePipeline> pipelines, Phase last) {
  if (isLowered(om::findMain(module)))
    // Kernels that come from a file are the CPU's.
    return last < Phase::Schedule || runPipeline(module, target.cpu().schedulePipeline(disabled));
  return runPipelines(module, pipelines, last);
}

bool PhaseRunner::runPipelines(ModuleOp module, ArrayRef<PhasePipeline> pipelines, Phase last) {
  for (size_t i = 0; i < pipelines.size() && pipelines[i].phase <= last; ++i) {
    const PhasePipeline &pipeline = pipelines[i];
    if (!runPipeline(module, pipeline))
      return false;
    const bool ends = i + 1 == pipelines.size() || pipelines[i + 1].phase != pipeline.phase;
    if (ends && !runInsertedPasses(inserted, pipeline.phase, module, diagnostics))
      return fail("the passes of the user failed");
    if (ends && hook && *hook && !(*hook)(pipeline.phase, module, diagnostics))
      return fail("a hook failed");
    // Weights are packed now; what they were packed from is of no use any more.
    if (pipeline.phase == Phase::Kernels)
      graph::releaseUnusedConstants(module);
  }
  return true;
}

bool PhaseRunner::runRegions(ModuleOp module, Phase last) {
  const PhasePipeline outline = {Phase::Graph, "host program", "2-host.mlir",
                                 [&](OpPassManager &pm) {
                                   host::HostPipelineOptions options;
                                   options.disable = disabled;
                                   // Products stay on a target of static shapes.
                                   options.graphProducts = target.takesDynamicInputs();
                                   options.narrowGates = target.cpu().hasVectorsOf(8);
                                   options.byteGates = target.cpu().hasWideDot();
                                   // Of what has open dims, such a target computes rows.
                                   options.convsAsRows = hasOpenDims;
                                   options.widenFloats = target.takesDynamicInputs();
                                   options.storage = target.cpu().weightStorage();
                                   options.convertsHalfs = target.cpu().convertsHalfs();
                                   host::buildHostPipeline(pm, options);
                                 }};
  if (!runPipeline(module, outline))
    return false;
  // Ifs whose branches compute the same are gone, perhaps with all that the host runs.
  if (func::FuncOp main = om::findMain(module); !host::isHostProgram(main))
    return runStatic(module, target.buildPipelines(main, disabled), last);
  // Each is compiled on its own, which takes some milliseconds where all of them differ.
  constexpr size_t kMaxParts = 8'000;
  const SmallVector<func::FuncOp> parts = host::partsOf(module);
  if (parts.size() > kMaxParts) {
    diagnostics.error("E16006", "the operators of fixed shapes are divided into " +
                                    Twine(parts.size()) +
                                    " regions by branches, loops and operators that host kernels "
                                    "run, expected at most " +
                                    Twine(kMaxParts) + ": put fewer branches inside each other");
    return false;
  }
  // Tiles of several sizes have the same weights.
  const graph::DerivedConstantsScope scope(module.getContext());
  RegionMerger merger(module);
  for (func::FuncOp function : parts) {
    OwningOpRef<ModuleOp> region = copyRegion(function);
    // Targets that choose pipelines by the graph choose them for each region.
    if (!runStatic(*region, target.buildPipelines(om::findMain(*region), disabled), last))
      return false;
    merger.merge(function, *region);
  }
  if (last >= Phase::Schedule && (target.takesDynamicInputs() || hasOpenDims))
    return runPipeline(module, target.cpu().callPipeline(disabled));
  return true;
}

std::vector<std::string> PhaseRunner::optionalPassNames() const {
  std::vector<std::string> names = graph::listPassNames();
  for (ArrayRef<StringLiteral> list : {target.optionalPasses(), host::optionalPasses()})
    for (StringRef name : list)
      names.push_back(name.str());
  return names;
}

bool PhaseRunner::checkPassNames() {
  graph::GraphPipelineOptions graph;
  graph.disable = disabled;
  for (const std::string &name : graph::findUnknownPasses(graph))
    if (!llvm::is_contained(target.optionalPasses(), StringRef(name)) &&
        !llvm::is_contained(host::optionalPasses(), StringRef(name)))
      diagnostics.error("E10001", "the value \"" + name +
                                      "\" of --disable_passes is invalid: there is no such pass, "
                                      "or nothing compiles without it" +
                                      didYouMean(name, optionalPassNames()));
  return !diagnostics.hasErrors();
}

/// Reports inputs whose shapes only the CPU could leave open.
bool PhaseRunner::checkInputs(func::FuncOp main) {
  // The tiles of a loop are static.
  if (target.takesDynamicInputs() || hasOpenDims || host::isTiled(main))
    return true;
  bool good = true;
  for (BlockArgument input : main.getArguments()) {
    auto tensor = dyn_cast<TensorType>(input.getType());
    if (!tensor || tensor.hasStaticShape())
      continue;
    auto attr = main.getArgAttrOfType<StringAttr>(input.getArgNumber(), om::kNameAttr);
    const std::string name = attr ? attr.str() : "?";
    std::string dims, example;
    for (int64_t dim : tensor.hasRank() ? tensor.getShape() : ArrayRef<int64_t>()) {
      const bool isOpen = ShapedType::isDynamic(dim);
      dims += (dims.empty() ? "" : ",") + (isOpen ? "-1" : std::to_string(dim));
      example += (example.empty() ? ":" : ",") + std::to_string(isOpen ? 1 : dim);
    }
    // The options of several shapes name dims that --input_shape leaves open, as the vendor's do.
    diagnostics.error(
        "E10002",
        "input '" + name + "' has the shape [" + (tensor.hasRank() ? dims : "of any rank") +
            "], but an NPU needs every dim: give its shape with --input_shape" +
            (tensor.hasRank()
                 ? "=\"" + name + example + "\", several of them with --input_shape=\"" + name +
                       ":" + dims + "\" and"
                 : ", several of them with -1 in it and") +
            " --dynamic_batch_size, --dynamic_image_size or --dynamic_dims, or compile for the "
            "CPU with --target=cpu");
    good = false;
  }
  return good;
}

bool PhaseRunner::checkModule(ModuleOp module) {
  func::FuncOp main = om::findMain(module);
  if (main && !main.isExternal())
    return checkPassNames() && checkInputs(main);
  diagnostics.error("E16004", "the model has no graph");
  return false;
}

/// Turns calls of host kernels into ops that the target computes.
bool PhaseRunner::expand(ModuleOp module) {
  const bool isNpu = !target.takesDynamicInputs();
  // With the types of the model the cube computes no products of f32.
  if (isNpu && target.precisionBase() == PrecisionBase::Float32)
    return true;
  std::optional<PhasePipeline> pipeline = expandPipeline(om::findMain(module), isNpu, disabled);
  return !pipeline || runPipeline(module, *pipeline);
}

/// Checks a module that has been imported, and prepares it for the target.
bool PhaseRunner::begin(ModuleOp module) {
  if (!checkModule(module))
    return false;
  target.annotate(module);
  return expand(module);
}

bool PhaseRunner::run(ModuleOp module, Phase last) {
  if (!begin(module))
    return false;
  func::FuncOp main = om::findMain(module);
  return host::isHostProgram(main) ? runRegions(module, last)
                                   : runStatic(module, target.buildPipelines(main, disabled), last);
}

static bool readsChoices(const PhasePipeline &pipeline) { return pipeline.readsChoices; }

bool PhaseRunner::runToChoices(ModuleOp module) {
  if (!begin(module))
    return false;
  func::FuncOp main = om::findMain(module);
  if (host::isHostProgram(main) || isLowered(main))
    return false;
  const std::vector<PhasePipeline> pipelines = target.buildPipelines(main, disabled);
  auto first = llvm::find_if(pipelines, readsChoices);
  return first != pipelines.end() &&
         runPipelines(module, ArrayRef(pipelines).take_front(first - pipelines.begin()),
                      Phase::Programs);
}

bool PhaseRunner::runFromChoices(ModuleOp module, Phase last) {
  const std::vector<PhasePipeline> pipelines =
      target.buildPipelines(om::findMain(module), disabled);
  auto first = llvm::find_if(pipelines, readsChoices);
  return runPipelines(module, ArrayRef(pipelines).drop_front(first - pipelines.begin()), last);
}

} // namespace atc::driver
