//===-- Compiler.cpp - from a model to an .om file ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Compiler.h"

#include "backends/om/FindStates.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/graph/HostCalls.h"
#include "driver/PhaseRunner.h"
#include "driver/Registration.h"
#include "driver/rules/FusionRules.h"
#include "frontends/MainFunction.h"
#include "passes/Choices.h"
#include "passes/om/Schedule.h"
#include "passes/train/Passes.h"
#include "support/ModelText.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>
#include <thread>

using namespace mlir;

namespace atc::driver {

std::unique_ptr<MLIRContext> makeCompilerContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  // Messages are for users, who have not written the op.
  context->printOpOnDiagnostic(false);
  return context;
}

OwningOpRef<ModuleOp> copyModule(ModuleOp module, MLIRContext &context) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return {};
  return parseSourceString<ModuleOp>(bytes, ParserConfig(&context), "module");
}

Compiler::Compiler(MLIRContext &context, CompilerOptions options, Diagnostics &diagnostics)
    : context(context), options(std::move(options)), diagnostics(diagnostics),
      messages(context, diagnostics) {
  assert(this->options.target && "a compilation has a target");
  enableRemarks(context, this->options.remarks);
  compileSummary.timer.onBegin = this->options.onStage;
}

Compiler::~Compiler() = default;

void Compiler::setModule(OwningOpRef<ModuleOp> imported) {
  assert(!reached && imported && imported.get()->getContext() == &context);
  current = std::move(imported);
  reached = Phase::Import;
}

bool Compiler::finish(bool done) {
  compileSummary.timer.end();
  if (done)
    return true;
  current = {};
  return messages.fail("the model could not be compiled");
}

bool Compiler::makeTempDir() {
  if (options.tempDir.empty())
    return true;
  std::error_code code = llvm::sys::fs::create_directories(options.tempDir);
  if (code)
    diagnostics.error("E13004", "the folder '" + options.tempDir +
                                    "' of --save_temps cannot be made: " + code.message());
  return !code;
}

bool Compiler::import(Phase last) {
  compileSummary.timer.begin("import");
  ModelSource source = options.source;
  // Scales are found and written in the graph of the whole model, and so it is for who stops
  // there.
  // Preprocessing, element types at the boundary and lists of nodes are applied to that graph too.
  source.tileDynamicDim = !options.quantizer && last >= Phase::Graph && options.aippFile.empty() &&
                          source.boundary.empty() && source.precision.empty() &&
                          source.placement.empty() &&
                          !llvm::is_contained(options.disabledPasses, "host-tile-dynamic-dim");
  source.roundsToBytes = !options.quantizer;
  source.disabledPasses.assign(options.disabledPasses.begin(), options.disabledPasses.end());
  current = importModel(source, *options.target, context, messages, diagnostics);
  return bool(current);
}

bool Compiler::quantize() {
  if (!options.quantizer)
    return true;
  compileSummary.timer.begin("calibration");
  return options.quantizer(*current, diagnostics) ||
         messages.fail("the model could not be quantized");
}

bool Compiler::insertPreprocessing() {
  if (options.aippFile.empty())
    return true;
  return insertAipp(*current, options.aippFile, options.imageLayout,
                    options.source.boundary.halfInputs, diagnostics) ||
         messages.fail("the preprocessing could not be inserted");
}

/// Applies what the user wants changed in the imported module.
bool Compiler::applyUserChanges() {
  if (!options.fusionRules.empty() && !applyFusionRules(*current, options.fusionRules, diagnostics))
    return false;
  return runInsertedPasses(options.insertedPasses, Phase::Import, *current, diagnostics) &&
         callHook(Phase::Import);
}

bool Compiler::callHook(Phase phase) {
  return !options.phaseHook || options.phaseHook(phase, *current, diagnostics);
}

/// Writes the table of choices, from which passes read.
void Compiler::setChoices() {
  Builder builder(&context);
  if (options.proposals > 0)
    (*current)->setAttr(kProposalsAttr, builder.getI64IntegerAttr(options.proposals));
  if (options.choices.empty())
    return;
  SmallVector<NamedAttribute> table;
  for (const auto &[key, choice] : options.choices)
    table.push_back(builder.getNamedAttr(key, builder.getStringAttr(choice)));
  (*current)->setAttr(kChoicesAttr, builder.getDictionaryAttr(table));
}

/// Returns the passes to leave out. A training step has only direct convolutions: where the exact
/// value is 0, as behind empty parts of images, Winograd's transforms leave rounding errors, which
/// optimizers that divide gradients by their magnitude make as large as any other step.
static std::vector<std::string> passesToDisable(const CompilerOptions &options, ModuleOp module) {
  std::vector<std::string> disabled = options.disabledPasses;
  if (!module || !module->hasAttr(train::kStatesAttr))
    return disabled;
  disabled.emplace_back("host-select-winograd");
  constexpr StringLiteral ofCpu = "cpu-select-winograd";
  if (llvm::is_contained(options.target->optionalPasses(), ofCpu))
    disabled.push_back(ofCpu.str());
  return disabled;
}

/// Does what comes before graph passes, without keeping the imported module.
bool Compiler::lowerToGraph(Phase last) {
  bool done = true;
  // Samples of a calibration are what the model itself reads.
  if (!options.quantizer)
    done = insertPreprocessing();
  if (done && last >= Phase::Quantize)
    done = quantize() && (!options.quantizer || callHook(Phase::Quantize));
  if (done && options.quantizer && last >= Phase::Quantize)
    done = insertPreprocessing();
  return done;
}

bool Compiler::lower(Phase last) {
  assert(last < Phase::Emit && (!reached || *reached == Phase::Import));
  const unsigned before = diagnostics.numErrors();
  // A training step is never imported here: it comes as a module.
  const std::vector<std::string> disabled = passesToDisable(options, current.get());
  PhaseRunner runner(*options.target, disabled, options.tempDir, compileSummary.timer, diagnostics,
                     options.insertedPasses);
  if (options.hasOpenDims)
    runner.allowOpenDims();
  PassEditor editor(options.passEdits);
  runner.setHooks(&editor, &options.phaseHook);
  if (isPrepared) {
    setChoices();
    const bool done = runner.runFromChoices(*current, last);
    reached = last;
    return finish(done && diagnostics.numErrors() == before);
  }
  bool done = makeTempDir();
  if (done && !current)
    done = import(last) && applyUserChanges() && runner.keep(*current, "1-import.mlir");
  done = done && lowerToGraph(last);
  if (done)
    setChoices();
  if (done && last >= Phase::Graph)
    done = runner.run(*current, last);
  if (done && last == Phase::Programs)
    done = editor.checkAllFound(diagnostics);
  reached = last;
  return finish(done && diagnostics.numErrors() == before);
}

bool Compiler::prepare() {
  assert(!reached);
  if (!options.insertedPasses.empty() || !options.passEdits.empty() || options.phaseHook ||
      !options.tempDir.empty())
    return false;
  const unsigned before = diagnostics.numErrors();
  PhaseRunner runner(*options.target, options.disabledPasses, options.tempDir, compileSummary.timer,
                     diagnostics);
  const bool done = import(Phase::Programs) && applyUserChanges() &&
                    lowerToGraph(Phase::Programs) && runner.runToChoices(*current) &&
                    diagnostics.numErrors() == before;
  compileSummary.timer.end();
  if (done)
    graph::shareConstants(*current);
  else
    current = {};
  return done;
}

void Compiler::setPrepared(OwningOpRef<ModuleOp> clone) {
  setModule(std::move(clone));
  isPrepared = true;
}

bool Compiler::emit(om::OmSink &sink) {
  if (reached != Phase::Programs && !lower(Phase::Programs))
    return false;
  return finish(writeOm(sink));
}

bool Compiler::emitFile(const std::string &path) {
  om::OmFileSink sink(path);
  return emit(sink);
}

std::optional<::om::Buffer> Compiler::emitBytes() {
  om::OmMemorySink sink;
  if (!emit(sink))
    return std::nullopt;
  return sink.take();
}

/// Returns the states that the importer or a pass has given the module.
static std::vector<std::pair<std::string, std::string>> statesOf(ModuleOp module) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (StringRef name : {atc::kStatesAttr, train::kStatesAttr})
    if (auto list = module->getAttrOfType<ArrayAttr>(name))
      for (auto pair : list.getAsRange<ArrayAttr>())
        pairs.emplace_back(cast<StringAttr>(pair[0]).str(), cast<StringAttr>(pair[1]).str());
  return pairs;
}

/// Returns the first values of the states that an importer has given the module, but zeros.
static std::vector<om::InitialState> firstValuesOf(ModuleOp module) {
  std::vector<om::InitialState> values;
  if (auto list = module->getAttrOfType<ArrayAttr>(atc::kStatesAttr))
    for (auto state : list.getAsRange<ArrayAttr>()) {
      if (state.size() < 3)
        continue;
      auto value = graph::ConstantBytes::get(state[2]);
      if (failed(value))
        continue;
      const auto type = static_cast<om_dtype>(graph::dtypeOf(value->getType().getElementType()));
      const ArrayRef<char> bytes = value->expanded();
      values.push_back({cast<StringAttr>(state[0]).str(),
                        type,
                        value->getType().getNumElements(),
                        {bytes.begin(), bytes.end()}});
    }
  return values;
}

std::optional<EmittedModel> Compiler::generate() {
  compileSummary.placement = readPlacement(*current);
  if (compileSummary.placement) {
    warnOfHostLayers(*compileSummary.placement, diagnostics);
    warnOfMisplacedNodes(*compileSummary.placement, diagnostics);
  }
  EmitOptions emitOptions;
  emitOptions.threads = options.limits.threads ? options.limits.threads
                                               : std::max(1u, std::thread::hardware_concurrency());
  emitOptions.tempDir = options.tempDir;
  emitOptions.cache = options.cache;
  emitOptions.onStage = [&](StringRef title) { compileSummary.timer.begin(title); };
  auto emitted = options.target->emit(*current, emitOptions);
  if (!emitted) {
    messages.fail(toString(emitted.takeError()));
    return std::nullopt;
  }
  stamp(emitted->description.model);
  std::string error;
  // The states of a training step are all that it has.
  const auto trained = (*current)->getAttrOfType<ArrayAttr>(train::kStatesAttr);
  firstValues = firstValuesOf(*current);
  // A value may belong to a state that findStates removes.
  if (!om::addStates(emitted->description.model, statesOf(*current), error) ||
      !om::setInitialStates(emitted->description.model, firstValues, error) ||
      ((!trained || trained.empty()) &&
       !om::findStates(emitted->description.model, options.states, error)) ||
      (options.initialStates &&
       !om::setInitialStates(emitted->description.model, *options.initialStates, error))) {
    messages.fail(error);
    return std::nullopt;
  }
  auto integer = [&](StringRef name) {
    auto value = (*current)->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  compileSummary.arenaLowerBound = integer(om::kArenaLowerBoundAttr);
  compileSummary.intermediateBytes = integer(om::kIntermediateBytesAttr);
  return std::move(*emitted);
}

std::optional<EmittedModel> Compiler::describe() {
  if (reached != Phase::Programs && !lower(Phase::Programs))
    return std::nullopt;
  std::optional<EmittedModel> emitted = generate();
  if (!finish(emitted.has_value()))
    return std::nullopt;
  return emitted;
}

void Compiler::stamp(om::OmModel &model) const {
  model.producer = std::string("OpenATC ") + om_version();
  model.commandLine = options.commandLine;
  model.name = llvm::sys::path::stem(options.source.path).str();
  if (auto facts = (*current)->getAttrOfType<DictionaryAttr>(om::kMetadataAttr))
    for (NamedAttribute fact : facts)
      if (auto text = dyn_cast<StringAttr>(fact.getValue()))
        model.metadata[fact.getName().str()] = text.str();
}

bool Compiler::writeOm(om::OmSink &sink) {
  std::optional<EmittedModel> emitted = generate();
  if (!emitted)
    return false;
  std::string error;
  if (!om::writeOm(emitted->description.model, sink, error))
    return messages.fail(error);
  compileSummary.describe(emitted->description.model, sink.size());
  return true;
}

/// Returns the bytes of the states that no program of the NPU reads or writes; 0 without programs.
static uint64_t findHostStateBytes(const om::OmModel &model) {
  std::set<std::pair<om_space, uint32_t>> used;
  for (const om::OmLaunch &launch : model.schedule)
    for (const om::OmBufferRef &ref : launch.args)
      if (launch.npu)
        used.insert({ref.space, ref.index});
  uint64_t bytes = 0;
  if (!used.empty() && !model.host && !model.gears)
    for (const om::OmState &state : model.states)
      if (!used.count({OM_INPUT, state.input}) && !used.count({OM_OUTPUT, state.output}))
        bytes += model.tensors[model.inputs[state.input]].place.size;
  return bytes;
}

/// Returns "image f32[batch,1,28,28]" for an input or output.
static std::string portText(const om::OmHostPort &port) {
  const std::string dtype =
      port.dtype == OM_UNDEFINED ? "any type" : std::string(om_dtype_name(port.dtype));
  return printable(port.name) + " " +
         (port.kind == OM_KIND_SEQUENCE ? "sequence of " + dtype
          : port.kind == OM_KIND_MAP    ? "map"
          : port.unranked               ? dtype + "[*]"
                                        : typeText(dtype, port.dims, port.dimNames));
}

void CompileSummary::describe(const om::OmModel &model, uint64_t bytes) {
  for (bool isOutput : {false, true}) {
    std::vector<std::string> &texts = isOutput ? outputs : inputs;
    const auto *ports = model.gears  ? &(isOutput ? model.gears->outputs : model.gears->inputs)
                        : model.host ? &(isOutput ? model.host->outputs : model.host->inputs)
                                     : nullptr;
    if (ports)
      for (const om::OmHostPort &port : *ports)
        texts.push_back(portText(port));
    else
      for (uint32_t index : isOutput ? model.outputs : model.inputs)
        texts.push_back(printable(model.tensors[index].name) + " " +
                        typeText(model.tensors[index].dtype, model.tensors[index].dims));
  }
  for (const om::OmImage &image : model.images)
    scratchBytes = std::max<uint64_t>(scratchBytes, image.scratchBytes);
  auto countCalls = [&](const om::OmHostProgram &program) {
    for (const std::vector<om::OmHostStep> &block : program.blocks)
      for (const om::OmHostStep &step : block)
        hostCalls += step.kind == om::OmHostStep::Kind::Call;
  };
  if (model.host)
    countCalls(*model.host);
  for (const om::OmImage &image : model.images)
    images.emplace_back(image.level, image.codeSize);
  hostStateBytes = findHostStateBytes(model);
  launches = model.schedule.size();
  kernels = model.kernels.size();
  arenaBytes = model.arenaSize;
  for (const auto *list : {&model.weights, &model.tables})
    for (const om::OmWeights &weights : *list)
      weightsBytes += weights.size;
  fileBytes = bytes;
}

} // namespace atc::driver
