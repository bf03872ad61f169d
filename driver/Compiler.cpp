//===-- Compiler.cpp - from a model to an .om file ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Compiler.h"

#include "driver/PhaseRunner.h"
#include "driver/Registration.h"
#include "passes/om/Schedule.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

bool Compiler::import() {
  compileSummary.timer.begin("import");
  current = importModel(options.source, *options.target, context, messages, diagnostics);
  return bool(current);
}

bool Compiler::quantize() {
  if (!options.quantizer)
    return true;
  compileSummary.timer.begin("calibration");
  return options.quantizer(*current, diagnostics) ||
         messages.fail("the model could not be quantized");
}

bool Compiler::lower(Phase last) {
  assert(last < Phase::Emit && (!reached || *reached == Phase::Import));
  const unsigned before = diagnostics.numErrors();
  PhaseRunner runner(*options.target, options.disabledPasses, options.tempDir, compileSummary.timer,
                     diagnostics);
  bool done = makeTempDir();
  if (done && !current)
    done = import() && runner.keep(*current, "1-import.mlir");
  if (done && last >= Phase::Quantize)
    done = quantize();
  if (done && last >= Phase::Graph)
    done = runner.run(*current, last);
  reached = last;
  return finish(done && diagnostics.numErrors() == before);
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

bool Compiler::writeOm(om::OmSink &sink) {
  compileSummary.placement = readPlacement(*current);
  if (compileSummary.placement)
    warnOfHostLayers(*compileSummary.placement, diagnostics);
  EmitOptions emitOptions;
  emitOptions.threads = options.limits.threads ? options.limits.threads
                                               : std::max(1u, std::thread::hardware_concurrency());
  emitOptions.tempDir = options.tempDir;
  emitOptions.onStage = [&](StringRef title) { compileSummary.timer.begin(title); };
  auto emitted = options.target->emit(*current, emitOptions);
  if (!emitted)
    return messages.fail(toString(emitted.takeError()));
  om::OmModel &model = emitted->description.model;
  model.producer = std::string("OpenATC ") + om_version();
  model.commandLine = options.commandLine;
  model.name = llvm::sys::path::stem(options.source.path).str();
  std::string error;
  if (!om::writeOm(model, sink, error))
    return messages.fail(error);
  summarize(*emitted, sink.size());
  return true;
}

void Compiler::summarize(const EmittedModel &emitted, uint64_t fileBytes) {
  const om::OmModel &model = emitted.description.model;
  CompileSummary &summary = compileSummary;
  for (const cpu::CompiledLevel &level : emitted.levels)
    summary.images.emplace_back(level.level.name, level.image.size());
  summary.launches = model.schedule.size();
  summary.kernels = model.kernels.size();
  summary.arenaBytes = model.arenaSize;
  auto integer = [&](StringRef name) {
    auto value = (*current)->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  summary.arenaLowerBound = integer(om::kArenaLowerBoundAttr);
  summary.intermediateBytes = integer(om::kIntermediateBytesAttr);
  for (const auto *list : {&model.weights, &model.tables})
    for (const om::OmWeights &weights : *list)
      summary.weightsBytes += weights.size;
  summary.fileBytes = fileBytes;
}

} // namespace atc::driver
