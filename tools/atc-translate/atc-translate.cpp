//===-- atc-translate.cpp - models in and out of the graph dialect --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <CLI/CLI.hpp>

#include "dialects/graph/GraphDialect.h"
#include "frontends/onnx/OnnxImport.h"
#include "frontends/tf/TfImport.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "support/OutputStream.h"
#include "tools/atc-translate/Interpret.h"
#include "tools/common/CommandLine.h"
#include "tools/common/FatalErrors.h"
#include "tools/common/PrintableDiagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace {

struct Options {
  std::string importPath, importTfPath, interpretPath, inputs, dump, inputShape, outNodes,
      inputNodes;
  std::string outputPath = "-";
  bool printSupport = false, printTfSupport = false, printErrorCodes = false;
  bool locations = false, weights = false, bytecode = false;
  atc::OnnxImportOptions import;
  atc::TfImportOptions importTf;
};

OwningOpRef<ModuleOp> importModel(const std::string &path, const Options &options,
                                  MLIRContext &context) {
  atc::Diagnostics diagnostics;
  bool isTf = StringRef(path).ends_with(".pb") || llvm::sys::fs::is_directory(path);
  auto module = isTf ? atc::importTf(path, options.importTf, context, diagnostics)
                     : atc::importOnnx(path, options.import, context, diagnostics);
  diagnostics.print(llvm::errs());
  return succeeded(module) ? std::move(*module) : OwningOpRef<ModuleOp>();
}

/// Reads a model, or a module of graph ops as text or bytecode.
OwningOpRef<ModuleOp> readModel(const std::string &path, const Options &options,
                                MLIRContext &context) {
  if (StringRef(path).ends_with(".mlir") || StringRef(path).ends_with(".mlirbc"))
    return parseSourceFile<ModuleOp>(path, &context);
  return importModel(path, options, context);
}

int printModule(ModuleOp module, const Options &options) {
  OpPrintingFlags flags;
  flags.enableDebugInfo(options.locations);
  if (!options.weights)
    flags.elideLargeElementsAttrs().elideLargeResourceString();
  auto print = [&](llvm::raw_ostream &os) {
    if (options.bytecode)
      return succeeded(writeBytecodeToFile(module, os));
    module.print(os, flags);
    return true;
  };
  if (options.outputPath == "-")
    return print(llvm::outs()) ? 0 : 1;
  std::string error;
  const bool done = atc::writeStream(options.outputPath, print, error);
  if (!done && !error.empty())
    atc::tools::print(stderr, "%s\n", atc::oneLine(error).c_str());
  return done ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("atc-translate");
  atc::tools::installFatalErrorHandlers(/*descriptor=*/2);
  Options options;
  CLI::App app{"Imports models as MLIR of the graph dialect, interprets them, and prints tables of "
               "supported operators and of error codes."};
  app.add_option("--import-onnx", options.importPath, "ONNX file to print as MLIR");
  app.add_option("--import-tf", options.importTfPath,
                 "TensorFlow GraphDef (.pb) or SavedModel folder to print as MLIR");
  app.add_option("--interpret", options.interpretPath,
                 "Model, .mlir or .mlirbc file to run in the reference interpreter");
  app.add_option("--input", options.inputs,
                 "\"a.npy,b.npy\" or \"name=file,...\"; values may stand for a file, \"x=[1,2]\"");
  app.add_option("--dump", options.dump, "Folder for every named tensor");
  app.add_flag("--onnx-support", options.printSupport, "Print the supported ONNX operators");
  app.add_flag("--tf-support", options.printTfSupport, "Print the supported TensorFlow operators");
  app.add_flag("--error-codes", options.printErrorCodes, "Print the table of error codes");
  app.add_option("--input_shape", options.inputShape, "Shapes of inputs: \"a:1,3,8,8;b:1\"");
  app.add_option("--out_nodes", options.outNodes, "Outputs: \"node:0;tensor\"");
  app.add_option("--input_nodes", options.inputNodes, "TensorFlow nodes that become inputs");
  app.add_flag("--locations", options.locations, "Print the names of tensors and nodes");
  app.add_flag("--weights", options.weights, "Print large constants");
  app.add_flag("--bytecode", options.bytecode, "Write MLIR bytecode, with all constants");
  app.add_option("-o", options.outputPath, "Where to write; '-' is the standard output");
  app.require_option(1, 0);
  if (std::optional<int> code = atc::tools::parseCommandLine(app, "atc-translate", argc, argv))
    return *code;

  if (options.printSupport) {
    atc::printOnnxSupport(llvm::outs());
    return atc::finishStandardOutput(0);
  }
  if (options.printTfSupport) {
    atc::printTfSupport(llvm::outs());
    return atc::finishStandardOutput(0);
  }
  if (options.printErrorCodes) {
    llvm::outs() << atc::errorCodeTable();
    return 0;
  }
  atc::Diagnostics diagnostics;
  options.import.inputShapes = atc::parseInputShapes(options.inputShape, diagnostics);
  options.import.outputs = atc::splitNames(options.outNodes);
  options.importTf = {options.import.inputShapes, options.import.outputs,
                      atc::splitNames(options.inputNodes)};
  diagnostics.print(llvm::errs());
  if (diagnostics.hasErrors())
    return 1;

  DialectRegistry registry;
  registry.insert<arith::ArithDialect, atc::graph::GraphDialect, func::FuncDialect,
                  math::MathDialect>();
  MLIRContext context(registry);
  atc::tools::makeDiagnosticsPrintable(context);
  if (!options.interpretPath.empty()) {
    OwningOpRef<ModuleOp> module = readModel(options.interpretPath, options, context);
    return module && atc::tools::interpretModule(*module, options.inputs, options.dump) ? 0 : 1;
  }
  const std::string &model = options.importPath.empty() ? options.importTfPath : options.importPath;
  if (!model.empty()) {
    OwningOpRef<ModuleOp> module = importModel(model, options, context);
    if (!module)
      return 1;
    return atc::finishStandardOutput(printModule(*module, options));
  }
  return 0;
}
