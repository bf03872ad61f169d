//===-- ModelImport.cpp - reads models of any framework -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/ModelImport.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "frontends/caffe/CaffeImport.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/tf/TfImport.h"
#include "passes/host/Passes.h"

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
  if (path.ends_with(".pb") || llvm::sys::fs::is_directory(path))
    return ModelFormat::TensorFlow;
  return ModelFormat::Onnx;
}

/// Reads an ONNX model as a loop over static tiles of its dynamic dim; null, and nothing
/// reported, where it cannot be one.
static OwningOpRef<ModuleOp> importTiled(const ModelSource &source, OnnxImportOptions options,
                                         MLIRContext &context) {
  options.usePlaceholder = true;
  // The target is asked about the tiles, whose sizes it will see.
  const std::function<bool(Operation *)> canGenerate = std::exchange(options.canGenerate, {});
  Diagnostics trial;
  // What is in the way of tiles is no error of the model.
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
  FailureOr<OwningOpRef<ModuleOp>> imported =
      source.bytes
          ? importOnnxBuffer(*source.bytes, source.path, /*folder=*/"", options, context, trial)
          : importOnnx(source.path, options, context, trial);
  if (failed(imported) || trial.hasErrors())
    return {};
  ModuleOp module = **imported;
  PassManager pm(&context);
  pm.addPass(host::createHostTileDynamicDim());
  bool isTiled = succeeded(pm.run(module)) && !module->hasAttr(graph::kDynamicDimSizeAttr);
  for (func::FuncOp tile : host::partsOf(module))
    for (Operation &op : tile.front().without_terminator())
      isTiled = isTiled && canGenerate(&op);
  if (isTiled)
    return std::move(*imported);
  // The constants are read once more for the dynamic graph.
  module.getBody()->clear();
  graph::releaseUnusedConstants(module);
  return {};
}

static FailureOr<OwningOpRef<ModuleOp>> importForeign(const ModelSource &source,
                                                      const Target &target, MLIRContext &context,
                                                      Diagnostics &diagnostics) {
  auto canGenerate = [&](Operation *op) { return target.canGenerate(op); };
  if (source.format == ModelFormat::TensorFlow)
    return importTf(source.path,
                    {source.inputShapes, source.outNodes, source.inputNodes, canGenerate}, context,
                    diagnostics);
  const OnnxImportOptions options = {source.inputShapes, source.outNodes, canGenerate};
  if (source.format == ModelFormat::Caffe && source.weights.empty()) {
    diagnostics.error("E10008", "the Caffe model '" + source.path + "' needs its .caffemodel");
    return failure();
  }
  if (source.format == ModelFormat::Caffe)
    return importCaffe(source.path, source.weights, options, context, diagnostics);
  if (source.tileDynamicDim)
    if (OwningOpRef<ModuleOp> tiled = importTiled(source, options, context))
      return tiled;
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
    return listTfNodes(source.path, diagnostics);
  default:
    return listModuleNodes(module);
  }
}

/// Changes an imported module as far as the user asks for types. Returns false after an error.
static bool applyTypes(ModuleOp module, const ModelSource &source, const Target &target,
                       Diagnostics &diagnostics) {
  const PrecisionBase base = target.precisionBase();
  if (!source.precision.empty() || base == PrecisionBase::Mixed)
    if (!applyPrecisionRules(module, listNodes(source, module, diagnostics), source.precision, base,
                             target.hasHalf(), diagnostics))
      return false;
  return applyBoundary(module, source.boundary, source.outNodes, target, diagnostics) &&
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
  if (succeeded(imported) && !diagnostics.hasErrors() &&
      applyTypes(**imported, source, target, diagnostics))
    return std::move(*imported);
  messages.fail("the model '" + source.path + "' cannot be read");
  return {};
}

} // namespace atc::driver
