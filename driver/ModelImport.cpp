//===-- ModelImport.cpp - reads models of any framework -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/ModelImport.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "frontends/air/AirImport.h"
#include "frontends/caffe/CaffeImport.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/tf/TfImport.h"
#include "frontends/tflite/TfLiteImport.h"
#include "passes/Remarks.h"
#include "passes/host/Passes.h"
#include "passes/train/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace atc::driver {

ModelFormat guessFormat(StringRef path) {
  if (path.ends_with(".mlir") || path.ends_with(".mlirbc"))
    return ModelFormat::Mlir;
  if (path.ends_with(".prototxt"))
    return ModelFormat::Caffe;
  if (path.ends_with(".tflite"))
    return ModelFormat::TfLite;
  if (path.ends_with(".air"))
    return ModelFormat::Air;
  if (path.ends_with(".pb") || llvm::sys::fs::is_directory(path))
    return ModelFormat::TensorFlow;
  return ModelFormat::Onnx;
}

/// Turns a model with a placeholder for its dynamic dim into a loop over static tiles. Returns
/// false where it cannot be one, or where `target` does not generate all of the tiles.
static bool makeTiles(ModuleOp module, const Target &target, ArrayRef<std::string> disabled) {
  // A tile of rows with more comparisons is slower than the host kernel.
  constexpr int64_t maxComparisons = 1 << 20;
  PassManager pm(module.getContext());
  pm.addPass(host::createHostTileDynamicDim());
  // Tiles have known sizes, and call no host kernels.
  auto add = [&](StringRef name, std::unique_ptr<Pass> pass) {
    if (!llvm::is_contained(disabled, name))
      pm.addNestedPass<func::FuncOp>(std::move(pass));
  };
  add("host-expand-volumes", host::createHostExpandVolumes());
  add("host-expand-attention", host::createHostExpandAttention());
  add("host-expand-top-k", host::createHostExpandTopK({maxComparisons}));
  add("host-expand-grid-sample", host::createHostExpandGridSample());
  if (failed(pm.run(module)) || module->hasAttr(graph::kDynamicDimSizeAttr))
    return false;
  for (func::FuncOp tile : host::partsOf(module))
    for (Operation &op : tile.front().without_terminator())
      if (auto call = dyn_cast<graph::HostCallOp>(op); call || !target.canGenerate(&op)) {
        remarkMissed("host-tile-dynamic-dim", op.getLoc(), "NotTiled")
            << remark::add("not tiled along the dynamic dim: the target generates no code for {0}",
                           call ? call.getKernel() : op.getName().getStringRef());
        return false;
      }
  return true;
}

static FailureOr<OwningOpRef<ModuleOp>> importForeign(const ModelSource &source,
                                                      const Target &target, MLIRContext &context,
                                                      Diagnostics &diagnostics) {
  auto canGenerate = [&](Operation *op) { return target.canGenerate(op); };
  std::function<bool(ModuleOp)> tiles;
  if (source.tileDynamicDim)
    tiles = [&](ModuleOp module) { return makeTiles(module, target, source.disabledPasses); };
  if (source.format == ModelFormat::TensorFlow)
    return importTf(source.path,
                    {source.inputShapes, source.outNodes, source.inputNodes, canGenerate, tiles,
                     source.signature},
                    context, diagnostics);
  OnnxImportOptions options = {source.inputShapes, source.outNodes, canGenerate};
  options.keepsEmptyDims = !target.takesDynamicInputs();
  if (source.format == ModelFormat::Caffe && source.weights.empty()) {
    diagnostics.error("E10008", "the Caffe model '" + source.path + "' needs its .caffemodel");
    return failure();
  }
  if (source.format == ModelFormat::Caffe)
    return importCaffe(source.path, source.weights, options, context, diagnostics);
  if (source.format == ModelFormat::Air)
    return importAir(source.path, options, context, diagnostics);
  options.makeTiles = tiles;
  options.roundsToBytes = source.roundsToBytes && target.roundsToBytes();
  if (source.format == ModelFormat::TfLite)
    return importTfLite(source.path, options, context, diagnostics, source.signature);
  if (source.bytes)
    return importOnnxBuffer(*source.bytes, source.path, /*folder=*/"", options, context,
                            diagnostics);
  return importOnnx(source.path, options, context, diagnostics);
}

static std::vector<ModelNode> listNodes(const ModelSource &source, ModuleOp module,
                                        Diagnostics &diagnostics) {
  switch (source.format) {
  case ModelFormat::Onnx:
    return listOnnxNodes(source.path, source.bytes, diagnostics);
  case ModelFormat::TensorFlow:
    return listTfNodes(source.path, source.signature, diagnostics);
  default:
    return listModuleNodes(module);
  }
}

/// Differentiates parts of an imported graph, where it asks for that. Returns false after an error.
static bool expandGradients(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(train::createTrainExpandGradient());
  return succeeded(pm.run(module));
}

/// Changes an imported module as far as the user asks for types and sides. Returns false after an
/// error.
static bool applyTypes(ModuleOp module, const ModelSource &source, const Target &target,
                       Diagnostics &diagnostics) {
  const PrecisionBase base = target.precisionBase();
  std::vector<PrecisionRule> precision = source.precision;
  std::vector<ModelNode> nodes;
  if (!precision.empty() || !source.placement.empty() || base == PrecisionBase::Mixed ||
      !source.boundary.outputTypes.empty())
    nodes = listNodes(source, module, diagnostics);
  if (!source.placement.empty()) {
    const PlacedNodes placed = findPlacedNodes(nodes, source.placement, diagnostics);
    markPlacedNodes(module, placed);
    // Where nothing is f16 anyway, a list of nodes in f32 would make the others f16.
    if (base != PrecisionBase::Float32)
      llvm::append_range(precision, hostPrecision(module, placed));
  }
  if (!precision.empty() || base == PrecisionBase::Mixed)
    if (!applyPrecisionRules(module, nodes, precision, base, target.hasHalf(), diagnostics))
      return false;
  ModelBoundary boundary = source.boundary;
  boundary.aliases = listAliases(nodes);
  return applyBoundary(module, boundary, source.outNodes, target, diagnostics) &&
         !diagnostics.hasErrors();
}

OwningOpRef<ModuleOp> importModel(const ModelSource &source, const Target &target,
                                  MLIRContext &context, ContextMessages &messages,
                                  Diagnostics &diagnostics) {
  if (source.format == ModelFormat::Mlir) {
    messages.setCode("E13005");
    auto module = parseSourceFile<ModuleOp>(source.path, ParserConfig(&context));
    messages.setCode("E19999");
    if (!module)
      messages.fail("the file '" + source.path + "' cannot be read");
    else if (!applyTypes(*module, source, target, diagnostics))
      return {};
    return module;
  }
  FailureOr<OwningOpRef<ModuleOp>> imported = importForeign(source, target, context, diagnostics);
  if (succeeded(imported) && !diagnostics.hasErrors() && expandGradients(**imported) &&
      applyTypes(**imported, source, target, diagnostics))
    return std::move(*imported);
  messages.fail("the model '" + source.path + "' cannot be read");
  return {};
}

} // namespace atc::driver
