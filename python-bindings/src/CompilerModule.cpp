//===-- CompilerModule.cpp - an MLIR module for Python --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/om/Names.h"
#include "dialects/graph/ConstantData.h"
#include "driver/Interpretation.h"
#include "driver/Registration.h"
#include "driver/gears/GearCompiler.h"
#include "driver/gears/GearRanges.h"
#include "driver/targets/MakeTarget.h"
#include "passes/om/Schedule.h"
#include "python-bindings/src/ModuleParts.h"
#include "support/TextDepth.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace atc::python {

driver::ModelSource sourceOf(const ModelRequest &model) {
  if (!model.bytes && !llvm::sys::fs::exists(model.path))
    throw ErrorLines{{"E10410: the model file '" + model.path + "' does not exist"}};
  driver::ModelSource source;
  source.path = model.path;
  source.bytes = model.bytes;
  source.format = model.bytes ? driver::ModelFormat::Onnx : driver::guessFormat(model.path);
  source.inputShapes = model.inputShapes;
  source.outNodes = model.outputs;
  source.signature = model.signature;
  if (!source.signature.empty() && source.format != driver::ModelFormat::TfLite &&
      (model.bytes || !llvm::sys::fs::is_directory(model.path)))
    throw ErrorLines{{"E10055: a signature ('" + source.signature +
                      "') is only supported for the folder of a SavedModel and for a .tflite "
                      "file, which '" +
                      model.path + "' is not"}};
  return source;
}

namespace {

/// Runs the user's function on a copy of the module in a context of its own, whose lifetime the
/// user decides, and takes back what was changed.
bool runHook(const CompileHooks &hooks, const std::string &phase, ModuleOp module,
             Diagnostics &diagnostics) {
  auto parts = std::make_unique<CompilerModule::Parts>();
  parts->module = driver::copyModule(module, *parts->context);
  if (!parts->module) {
    diagnostics.error("E10055", "a hook cannot see the module behind the phase " + phase +
                                    ", which cannot be copied");
    return false;
  }
  const ModuleOp shown = *parts->module;
  try {
    const std::shared_ptr<CompilerModule> result =
        hooks.run(phase, std::make_shared<CompilerModule>(std::move(parts)));
    CompilerModule::Parts &changed = result->access();
    std::lock_guard<std::mutex> guard(changed.lock);
    if (*changed.module == shown) // passes make a new one
      return true;
    OwningOpRef<ModuleOp> back = driver::copyModule(*changed.module, *module.getContext());
    if (!back || !om::findMain(*back)) {
      diagnostics.error("E10055", "the module of a hook behind the phase " + phase +
                                      " cannot be compiled: it cannot be copied, or has no @main");
      return false;
    }
    module.getBodyRegion().takeBody(back->getBodyRegion());
    module->setAttrs((*back)->getAttrDictionary());
    graph::releaseUnusedConstants(module);
    return true;
  } catch (const ErrorLines &errorLines) {
    for (const std::string &line : errorLines.lines)
      diagnostics.errorLine(line);
    return false;
  }
}

void addHooks(driver::CompilerOptions &options, const CompileHooks &hooks) {
  using Where = driver::PassEdit::Where;
  for (const PassChange &change : hooks.passes)
    options.passEdits.push_back({change.where == "before"  ? Where::Before
                                 : change.where == "after" ? Where::After
                                                           : Where::InPlace,
                                 change.pass, change.pipeline});
  if (hooks.onStage)
    options.onStage = [onStage = hooks.onStage](StringRef stage) { onStage(stage.str()); };
  if (!hooks.phases.empty())
    options.phaseHook = [hooks](driver::Phase phase, ModuleOp module, Diagnostics &diagnostics) {
      const std::string name(driver::phaseName(phase));
      return !llvm::is_contained(hooks.phases, name) || runHook(hooks, name, module, diagnostics);
    };
}

driver::CompilerOptions optionsOf(driver::ModelSource source, const CompileRequest &request,
                                  Diagnostics &diagnostics) {
  driver::CompilerOptions options;
  options.source = std::move(source);
  options.disabledPasses = request.disabledPasses;
  options.tempDir = request.tempDir;
  options.commandLine = "openatc.compile";
  if (auto target = driver::makeTarget(request.target, diagnostics))
    options.target = std::move(target);
  addHooks(options, request.hooks);
  throwErrors(diagnostics);
  return options;
}

driver::Phase phaseOf(const std::string &stopAfter) {
  const std::optional<driver::Phase> phase = driver::findPhase(stopAfter);
  if (!phase || *phase == driver::Phase::Emit)
    throw ErrorLines{{"E10001: the value \"" + stopAfter +
                      "\" of stop_after is invalid: it must be one of " +
                      driver::phaseNames(driver::Phase::Programs)}};
  return *phase;
}

/// Reads the model of `options` and runs the phases up to `last`.
std::shared_ptr<CompilerModule> lowerSource(driver::CompilerOptions options, driver::Phase last) {
  auto parts = std::make_unique<CompilerModule::Parts>();
  parts->source = options.source.path;
  Diagnostics diagnostics;
  {
    driver::Compiler compiler(*parts->context, std::move(options), diagnostics);
    compiler.lower(last);
    throwErrors(diagnostics);
    parts->module = compiler.releaseModule();
  }
  return std::make_shared<CompilerModule>(std::move(parts));
}

/// Returns the gears of a model: those that are given, or for an NPU what dynamic dims become.
std::optional<driver::GearRequest> gearsOf(const ModelRequest &model, const driver::Target &target,
                                           Diagnostics &diagnostics) {
  std::optional<driver::GearRequest> gears;
  const bool isDynamic = llvm::any_of(
      model.inputShapes, [](const auto &shape) { return llvm::is_contained(shape.second, -1); });
  if (!model.gears.empty()) {
    driver::GearFlags flags;
    flags.inputFormat = "ND";
    flags.dims.emplace();
    for (const std::vector<int64_t> &gear : model.gears) {
      *flags.dims += flags.dims->empty() ? "" : ";";
      llvm::ListSeparator comma(",");
      for (int64_t size : gear)
        *flags.dims += (StringRef(comma) + std::to_string(size)).str();
    }
    gears = driver::readGears(flags, model.inputShapes, diagnostics);
  } else if (isDynamic && !target.takesDynamicInputs()) {
    gears = driver::planRanges(driver::withRanges(model.inputShapes), /*hints=*/"", diagnostics);
  }
  throwErrors(diagnostics);
  return gears;
}

template <typename Compiler>
CompiledModel emit(Compiler &compiler, const std::string &output, const Diagnostics &diagnostics) {
  CompiledModel compiled;
  if (!output.empty())
    compiler.emitFile(output);
  else if (std::optional<::om::Buffer> file = compiler.emitBytes())
    compiled.file = std::move(*file);
  throwErrors(diagnostics);
  compiled.warnings = linesOf(diagnostics, /*errors=*/false);
  return compiled;
}

/// Unknown dims are -1 and make the size 0.
::om::Tensor describe(const std::string &name, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
    return driver::describeTensor(name, tensor);
  ::om::Tensor description = {name, OM_UNDEFINED, {}, 0, 0, OM_INPUT, 0};
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    description.dtype = driver::dtypeOf(shaped.getElementType());
    description.ranked = shaped.hasRank();
    if (shaped.hasRank())
      for (int64_t dim : shaped.getShape())
        description.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  }
  return description;
}

} // namespace

CompilerModule::CompilerModule(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}
CompilerModule::~CompilerModule() = default;

std::shared_ptr<CompilerModule> CompilerModule::load(const ModelRequest &model) {
  driver::CompilerOptions options;
  options.source = sourceOf(model);
  return lowerSource(std::move(options), driver::Phase::Import);
}

std::shared_ptr<CompilerModule> CompilerModule::parse(const std::string &text) {
  // The parser takes it for the end.
  if (text.find('\0') != std::string::npos)
    throw ErrorLines{{"E13005: the text has a NUL character"}};
  if (isBytecode(llvm::MemoryBufferRef(text, "text")))
    throw ErrorLines{{"E13005: the text is MLIR bytecode, whose reader trusts what it reads"}};
  if (isMlirTooDeep(text))
    throw ErrorLines{{"E13005: the text " + depthReason(kMaxMlirDepth)}};
  auto parts = std::make_unique<Parts>();
  Diagnostics diagnostics;
  {
    driver::ContextMessages messages(*parts->context, diagnostics);
    messages.setCode("E13005");
    parts->module = parseSourceString<ModuleOp>(text, ParserConfig(parts->context.get()), "text");
    if (!parts->module)
      messages.fail("the text is not a module");
  }
  throwErrors(diagnostics);
  return std::make_shared<CompilerModule>(std::move(parts));
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
    for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
      tensors.push_back(describe(driver::argumentName(main, index), type));
      tensors.back().dimNames =
          om::dimNamesOf(main.getArgAttrOfType<ArrayAttr>(index, om::kDimNamesAttr));
    }
  return tensors;
}

std::vector<::om::Tensor> CompilerModule::outputs() {
  std::lock_guard<std::mutex> guard(parts->lock);
  std::vector<::om::Tensor> tensors;
  if (func::FuncOp main = om::findMain(*parts->module))
    for (auto [index, type] : llvm::enumerate(main.getResultTypes())) {
      tensors.push_back(describe(driver::resultName(main, index), type));
      tensors.back().dimNames =
          om::dimNamesOf(main.getResultAttrOfType<ArrayAttr>(index, om::kDimNamesAttr));
    }
  return tensors;
}

/// Returns an attribute as text, the elements of a large one left out.
static std::string attributeText(Attribute attribute) {
  constexpr int64_t maxElements = 16;
  std::string text;
  llvm::raw_string_ostream os(text);
  auto elements = dyn_cast<ElementsAttr>(attribute);
  if (elements && elements.getNumElements() > maxElements)
    os << "dense<...> : " << elements.getShapedType();
  else
    os << attribute;
  return text;
}

std::vector<OperationText> CompilerModule::operations() {
  std::lock_guard<std::mutex> guard(parts->lock);
  std::vector<OperationText> list;
  auto typesOf = [](TypeRange types) {
    std::vector<std::string> texts;
    for (Type type : types)
      llvm::raw_string_ostream(texts.emplace_back()) << type;
    return texts;
  };
  parts->module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == parts->module->getOperation())
      return;
    OperationText &text = list.emplace_back();
    text.name = op->getName().getStringRef().str();
    const om::Names names = om::namesOf(op->getLoc());
    text.location = names.node.empty() ? names.tensor : names.node;
    text.depth = 0;
    for (Operation *parent = op->getParentOp(); parent != parts->module->getOperation();
         parent = parent->getParentOp())
      ++text.depth;
    text.operands = typesOf(op->getOperandTypes());
    text.results = typesOf(op->getResultTypes());
    for (NamedAttribute attribute : op->getAttrDictionary())
      text.attributes.emplace_back(attribute.getName().str(), attributeText(attribute.getValue()));
  });
  return list;
}

void CompilerModule::runPasses(const std::string &pipeline) {
  static std::once_flag once;
  std::call_once(once, [] { driver::registerAllPasses(); });

  std::lock_guard<std::mutex> guard(parts->lock);
  Diagnostics diagnostics;
  {
    driver::ContextMessages messages(*parts->context, diagnostics);
    PassManager pm(parts->context.get(), ModuleOp::getOperationName(),
                   OpPassManager::Nesting::Implicit);
    std::string errorText;
    llvm::raw_string_ostream os(errorText);
    if (isMlirTooDeep(pipeline)) {
      diagnostics.error("E10001", "the pipeline " + depthReason(kMaxMlirDepth));
    } else if (failed(parsePassPipeline(pipeline, pm, os))) {
      SmallVector<StringRef> reasons;
      StringRef(errorText).split(reasons, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      diagnostics.error("E10001", "the pipeline \"" + pipeline +
                                      "\" is invalid: " + llvm::join(reasons, "; "));
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
  Diagnostics diagnostics;
  {
    std::lock_guard<std::mutex> guard(parts->lock);
    driver::ContextMessages messages(*copied->context, diagnostics);
    // A module in a form that no verifier accepts can only be read.
    messages.setCode("E10055");
    copied->source = parts->source;
    copied->module = driver::copyModule(*parts->module, *copied->context);
    if (!copied->module)
      messages.fail("the module cannot be copied");
  }
  throwErrors(diagnostics);
  return std::make_shared<CompilerModule>(std::move(copied));
}

CompiledModel CompilerModule::compile(const CompileRequest &request, const std::string &output) {
  Diagnostics diagnostics;
  driver::CompilerOptions options = optionsOf({.path = parts->source}, request, diagnostics);
  std::shared_ptr<CompilerModule> copied = copy();
  driver::Compiler compiler(*copied->parts->context, std::move(options), diagnostics);
  compiler.setModule(std::move(copied->parts->module));
  return emit(compiler, output, diagnostics);
}

std::shared_ptr<CompilerModule> CompilerModule::lower(const CompileRequest &request,
                                                      const std::string &stopAfter) {
  const driver::Phase last = phaseOf(stopAfter);
  Diagnostics diagnostics;
  driver::CompilerOptions options = optionsOf({.path = parts->source}, request, diagnostics);
  std::shared_ptr<CompilerModule> copied = copy();
  driver::Compiler compiler(*copied->parts->context, std::move(options), diagnostics);
  compiler.setModule(std::move(copied->parts->module));
  compiler.lower(last);
  throwErrors(diagnostics);
  copied->parts->module = compiler.releaseModule();
  return copied;
}

void CompilerModule::interpret(const std::vector<Bytes> &arguments, const NamedTensor &each,
                               const NamedTensor &result) {
  std::lock_guard<std::mutex> guard(parts->lock);
  func::FuncOp function = driver::findInterpretable(*parts->module);
  if (!function)
    throw ErrorLines{{"E16004: the module has no function @main of one block"}};
  std::vector<graph::Tensor> tensors;
  for (auto [type, given] : llvm::zip(function.getArgumentTypes(), arguments)) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      throw ErrorLines{
          {"E16004: an argument of @main is no tensor: the module has gone through passes "
           "that the interpreter cannot follow"}};
    auto exact = RankedTensorType::get(given.dims, tensor.getElementType());
    const size_t bytes = exact.getNumElements() * graph::getElementBytes(exact.getElementType());
    tensors.push_back(
        graph::Tensor::borrow(exact, ArrayRef(static_cast<const char *>(given.data), bytes)));
  }
  Diagnostics diagnostics;
  {
    driver::ContextMessages messages(*parts->context, diagnostics);
    messages.setCode("E14001");
    auto pass = [](const NamedTensor &to, const std::string &name, const graph::Tensor &tensor) {
      to(name, driver::describeTensor(name, tensor.getType()), tensor.bytes().data());
    };
    auto results = driver::interpretNamed(
        function, tensors, [&](const std::string &name, const graph::Tensor &tensor) {
          if (each)
            pass(each, name, tensor);
        });
    if (failed(results))
      messages.fail("the module cannot be interpreted");
    else
      for (auto [index, tensor] : llvm::enumerate(*results))
        pass(result, driver::resultName(function, index), tensor);
  }
  throwErrors(diagnostics);
}

CompiledModel compileModel(const ModelRequest &model, const CompileRequest &request,
                           const std::string &output) {
  Diagnostics diagnostics;
  driver::CompilerOptions options = optionsOf(sourceOf(model), request, diagnostics);
  if (auto gears = gearsOf(model, *options.target, diagnostics)) {
    driver::GearCompiler compiler(std::move(options), std::move(*gears), diagnostics);
    return emit(compiler, output, diagnostics);
  }
  auto context = driver::makeCompilerContext();
  driver::Compiler compiler(*context, std::move(options), diagnostics);
  return emit(compiler, output, diagnostics);
}

std::shared_ptr<CompilerModule> lowerModel(const ModelRequest &model, const CompileRequest &request,
                                           const std::string &stopAfter) {
  const driver::Phase last = phaseOf(stopAfter);
  Diagnostics diagnostics;
  return lowerSource(optionsOf(sourceOf(model), request, diagnostics), last);
}

} // namespace atc::python
