//===-- atc-translate.cpp - models in and out of the graph dialect --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <CLI/CLI.hpp>

#include "frontends/onnx/OnnxImport.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace {

struct Options {
  std::string importPath, inputShape, outNodes;
  bool printSupport = false, locations = false;
  atc::OnnxImportOptions import;
};

OwningOpRef<ModuleOp> importModel(const std::string &path, const Options &options,
                                  MLIRContext &context) {
  atc::Diagnostics diagnostics;
  auto module = atc::importOnnx(path, options.import, context, diagnostics);
  diagnostics.print(llvm::errs());
  return succeeded(module) ? std::move(*module) : OwningOpRef<ModuleOp>();
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app{"Translates models to the graph dialect"};
  app.add_option("--import-onnx", options.importPath, "ONNX file to print as MLIR");
  app.add_flag("--onnx-support", options.printSupport, "Print the supported ONNX operators");
  app.add_option("--input_shape", options.inputShape, "Shapes of inputs: \"a:1,3,8,8;b:1\"");
  app.add_option("--out_nodes", options.outNodes, "Outputs: \"node:0;tensor\"");
  app.add_flag("--locations", options.locations, "Print the names of tensors and nodes");
  app.require_option(1, 0);
  CLI11_PARSE(app, argc, argv);

  if (options.printSupport) {
    atc::printOnnxSupport(llvm::outs());
    return 0;
  }
  atc::Diagnostics diagnostics;
  atc::parseInputShapes(options.inputShape, options.import.inputShapes, diagnostics);
  options.import.outputs = atc::parseOutNodes(options.outNodes);
  diagnostics.print(llvm::errs());
  if (diagnostics.hasErrors())
    return 1;

  MLIRContext context;
  if (!options.importPath.empty()) {
    OwningOpRef<ModuleOp> module = importModel(options.importPath, options, context);
    if (!module)
      return 1;
    OpPrintingFlags flags;
    flags.enableDebugInfo(options.locations);
    flags.elideLargeElementsAttrs(64).elideLargeResourceString(0);
    module->print(llvm::outs(), flags);
  }
  return 0;
}
