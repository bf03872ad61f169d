//===-- CompilerModule.cpp - an MLIR module for Python --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Schedule.h"
#include "python-bindings/src/ModuleParts.h"
#include "tools/atc/ContextMessages.h"
#include "tools/common/AllPasses.h"
#include "tools/common/Interpretation.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace atc::python {

namespace {

tools::AtcOptions importOptions(const std::string &path, const CompilerModule::Shapes &inputShapes,
                                const std::vector<std::string> &outputs) {
  if (!llvm::sys::fs::exists(path))
    throw Faults{{"E10410: the model file '" + path + "' does not exist"}};
  tools::AtcOptions options;
  options.model = path;
  // ONNX, or a frozen graph or SavedModel of TensorFlow: as --framework says it.
  const bool isTensorFlow =
      llvm::sys::fs::is_directory(path) || llvm::StringRef(path).ends_with(".pb");
  options.framework = isTensorFlow ? "3" : "5";
  options.inputShapes = inputShapes;
  options.outNodes = outputs;
  return options;
}

/// What it adds to the diagnostics are errors, and warnings of flags that do nothing.
void addRequest(const CompileRequest &request, tools::AtcOptions &options,
                Diagnostics &diagnostics) {
  SmallVector<const char *> arguments;
  for (const std::string &flag : request.targetFlags)
    arguments.push_back(flag.c_str());
  const tools::FlagValues flags = tools::parseFlags(arguments, diagnostics);
  tools::readTarget(flags, options, diagnostics);
  options.outputFile = request.output;
  options.disabledPasses = request.disabledPasses;
  options.tempDir = request.tempDir;
  throwErrors(diagnostics);
}

/// Unknown dims are -1 and make the size 0.
::om::Tensor describe(const std::string &name, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
    return tools::describeTensor(name, tensor);
  ::om::Tensor description = {name, OM_UNDEFINED, {}, 0, 0, OM_INPUT, 0};
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    description.dtype = tools::dtypeOf(shaped.getElementType());
    if (shaped.hasRank())
      for (int64_t dim : shaped.getShape())
        description.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  }
  return description;
}

} // namespace

CompilerModule::CompilerModule(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}
CompilerModule::~CompilerModule() = default;

std::shared_ptr<CompilerModule> CompilerModule::load(const std::string &path,
                                                     const Shapes &inputShapes,
                                                     const std::vector<std::string> &outputs) {
  tools::AtcOptions options = importOptions(path, inputShapes, outputs);
  auto parts = std::make_unique<Parts>();
  Diagnostics diagnostics;
  parts->module = tools::importModel(options, *parts->context, diagnostics);
  parts->source = path;
  throwErrors(diagnostics);
  return std::shared_ptr<CompilerModule>(new CompilerModule(std::move(parts)));
}

std::shared_ptr<CompilerModule> CompilerModule::parse(const std::string &text) {
  // The parser takes it for the end.
  if (text.find('\0') != std::string::npos)
    throw Faults{{"E13005: the text has a NUL character"}};
  auto parts = std::make_unique<Parts>();
  Diagnostics diagnostics;
  {
    tools::ContextMessages messages(*parts->context, diagnostics);
    messages.setCode("E13005");
    parts->module = parseSourceString<ModuleOp>(text, ParserConfig(parts->context.get()), "text");
    if (!parts->module)
      messages.fail("the text is not a module");
  }
  throwErrors(diagnostics);
  return std::shared_ptr<CompilerModule>(new CompilerModule(std::move(parts)));
}

std::string CompilerModule::print(bool weights, bool locations) {
  std::lock_guard<std::mutex> guard(parts->lock);
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  if (!weights)
    flags.elideLargeElementsAttrs().elideLargeResourceString();
  std::string text;
  llvm::raw_string_ostream os(text);
  parts->module->print(os, flags);
  return text;
}

std::vector<::om::Tensor> CompilerModule::inputs() {
  std::lock_guard<std::mutex> guard(parts->lock);
  std::vector<::om::Tensor> tensors;
  if (func::FuncOp main = om::findMain(*parts->module))
    for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
      tensors.push_back(describe(tools::argumentName(main, index), type));
  return tensors;
}

std::vector<::om::Tensor> CompilerModule::outputs() {
  std::lock_guard<std::mutex> guard(parts->lock);
  std::vector<::om::Tensor> tensors;
  if (func::FuncOp main = om::findMain(*parts->module))
    for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
      tensors.push_back(describe(tools::resultName(main, index), type));
  return tensors;
}

void CompilerModule::runPasses(const std::string &pipeline) {
  static std::once_flag once;
  std::call_once(once, [] { tools::registerAllPasses(); });

  std::lock_guard<std::mutex> guard(parts->lock);
  Diagnostics diagnostics;
  {
    tools::ContextMessages messages(*parts->context, diagnostics);
    PassManager pm(parts->context.get(), ModuleOp::getOperationName(),
                   OpPassManager::Nesting::Implicit);
    std::string fault;
    llvm::raw_string_ostream os(fault);
    if (failed(parsePassPipeline(pipeline, pm, os))) {
      diagnostics.error("E10001", "the pipeline \"" + pipeline + "\" is invalid: " + fault);
    } else {
      // Passes that fail leave half of their work behind: not in our module.
      OwningOpRef<ModuleOp> copy = parts->module->clone();
      if (failed(pm.run(*copy)))
        messages.fail("the pipeline \"" + pipeline + "\" failed");
      else
        parts->module = std::move(copy);
    }
  }
  throwErrors(diagnostics);
}

std::shared_ptr<CompilerModule> CompilerModule::copy() {
  auto copied = std::make_unique<Parts>();
  std::string bytes;
  {
    std::lock_guard<std::mutex> guard(parts->lock);
    copied->source = parts->source;
    llvm::raw_string_ostream os(bytes);
    if (failed(writeBytecodeToFile(*parts->module, os)))
      throw Faults{{"E19999: the module cannot be copied"}};
  }
  Diagnostics diagnostics;
  {
    tools::ContextMessages messages(*copied->context, diagnostics);
    copied->module =
        parseSourceString<ModuleOp>(bytes, ParserConfig(copied->context.get()), "module");
    if (!copied->module)
      messages.fail("the module cannot be copied");
  }
  throwErrors(diagnostics);
  return std::shared_ptr<CompilerModule>(new CompilerModule(std::move(copied)));
}

std::vector<std::string> CompilerModule::compile(const CompileRequest &request) {
  Diagnostics diagnostics;
  tools::AtcOptions options;
  addRequest(request, options, diagnostics);
  options.model = parts->source;
  // Compiling frees and makes constants, so it gets a context of its own.
  std::shared_ptr<CompilerModule> copied = copy();
  tools::CompileSummary summary;
  tools::compileModule(std::move(copied->parts->module), options, "openatc.compile", summary,
                       diagnostics);
  throwErrors(diagnostics);
  return linesOf(diagnostics, /*errors=*/false);
}

void CompilerModule::interpret(const std::vector<Bytes> &arguments, const NamedTensor &each,
                               const NamedTensor &result) {
  std::lock_guard<std::mutex> guard(parts->lock);
  func::FuncOp function = tools::findInterpretable(*parts->module);
  if (!function)
    throw Faults{{"E16004: the module has no function @main of one block"}};
  std::vector<graph::Tensor> tensors;
  for (auto [type, given] : llvm::zip(function.getArgumentTypes(), arguments)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      throw Faults{{"E16004: an argument of @main is no tensor: the module has gone through passes "
                    "that the interpreter cannot follow"}};
    auto exact = RankedTensorType::get(given.dims, tensor.getElementType());
    const size_t bytes = exact.getNumElements() * graph::getElementBytes(exact.getElementType());
    tensors.push_back(
        graph::Tensor::borrow(exact, ArrayRef(static_cast<const char *>(given.data), bytes)));
  }
  Diagnostics diagnostics;
  {
    tools::ContextMessages messages(*parts->context, diagnostics);
    auto pass = [](const NamedTensor &to, const std::string &name, const graph::Tensor &tensor) {
      to(name, tools::describeTensor(name, tensor.getType()), tensor.bytes().data());
    };
    auto results = tools::interpretNamed(function, tensors,
                                         [&](const std::string &name, const graph::Tensor &tensor) {
                                           if (each)
                                             pass(each, name, tensor);
                                         });
    if (failed(results))
      messages.fail("the module cannot be interpreted");
    else
      for (auto [index, tensor] : llvm::enumerate(*results))
        pass(result, tools::resultName(function, index), tensor);
  }
  throwErrors(diagnostics);
}

std::vector<std::string> compileFile(const std::string &path,
                                     const CompilerModule::Shapes &inputShapes,
                                     const std::vector<std::string> &outputs,
                                     const CompileRequest &request) {
  tools::AtcOptions options = importOptions(path, inputShapes, outputs);
  Diagnostics diagnostics;
  addRequest(request, options, diagnostics);
  tools::CompileSummary summary;
  tools::compileModel(options, "openatc.compile", summary, diagnostics);
  throwErrors(diagnostics);
  return linesOf(diagnostics, /*errors=*/false);
}

} // namespace atc::python
