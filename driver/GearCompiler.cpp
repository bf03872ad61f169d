//===-- GearCompiler.cpp - one file of a static compilation per gear ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/GearCompiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace atc::driver {

GearCompiler::~GearCompiler() = default;

/// Passes the messages of a gear on: those that other gears have had are not repeated, and
/// errors name the gear.
void GearCompiler::report(const Diagnostics &messages, size_t gear) {
  for (const CodedMessage &message : messages.all()) {
    CodedMessage own = message;
    if (message.isError)
      own.text = "gear " + request.nameOf(gear) + ": " + message.text;
    else if (llvm::any_of(diagnostics.all(), [&](const CodedMessage &known) {
               return known.code == own.code && known.text == own.text;
             }))
      continue;
    diagnostics.add(own);
  }
}

/// Returns the names of the nodes that no static schedule holds, for a message.
static std::string hostNodes(const om::OmHostProgram &program,
                             const std::vector<std::string> &kernels) {
  constexpr size_t maxNames = 5;
  llvm::StringSet<> seen;
  std::string names;
  for (const std::vector<om::OmHostStep> &block : program.blocks)
    for (const om::OmHostStep &step : block)
      if (step.kind == om::OmHostStep::Kind::Call && seen.insert(step.name).second &&
          seen.size() <= maxNames)
        names += (names.empty() ? "'" : ", '") + step.name + "' (" + kernels[step.kernel] + ")";
  return seen.size() > maxNames ? names + ", ..." : names;
}

bool GearCompiler::acceptsGear(const om::OmModel &model, size_t gear) {
  if (model.host) {
    const std::string nodes = hostNodes(*model.host, model.kernels);
    diagnostics.error(
        "E10055", "gear " + request.nameOf(gear) + ": a gear must be static, but " +
                      (nodes.empty() ? "the model has control flow or values that are no tensors"
                                     : "these nodes are run by host kernels: " + nodes) +
                      "; cut them off with --out_nodes, or leave the dims -1 with "
                      "--target=cpu and without gears");
    return false;
  }
  auto names = [](const om::OmModel &of) {
    std::vector<std::string> list;
    for (uint32_t tensor : of.inputs)
      list.push_back(of.tensors[tensor].name);
    list.push_back("");
    for (uint32_t tensor : of.outputs)
      list.push_back(of.tensors[tensor].name + "/" +
                     std::to_string(of.tensors[tensor].dims.size()));
    return list;
  };
  if (gear == 0 || names(model) == names(firstEmitted->description.model))
    return true;
  diagnostics.error(
      "E10055", "gear " + request.nameOf(gear) + ": its inputs or outputs are not those of gear " +
                    request.nameOf(0) + ", or have another rank; compile a file for each size");
  return false;
}

bool GearCompiler::compileGear(size_t gear) {
  CompilerOptions own = options;
  own.source.inputShapes = request.shapesOf(gear);
  if (!own.tempDir.empty())
    own.tempDir += "/gear-" + request.nameOf(gear);
  Diagnostics messages;
  auto context = makeCompilerContext();
  auto compiler = std::make_unique<Compiler>(*context, std::move(own), messages);
  std::optional<EmittedModel> emitted = compiler->describe();
  report(messages, gear);
  if (!emitted)
    return false;
  const om::OmModel &model = emitted->description.model;
  if (!acceptsGear(model, gear))
    return false;
  addToSummary(compiler->summary());
  merger.add(model, request.gears[gear]);
  for (inputs.emplace_back(); uint32_t tensor : model.inputs)
    inputs.back().push_back({model.tensors[tensor].name, model.tensors[tensor].dims});
  if (gear == 0) {
    firstContext = std::move(context);
    firstCompiler = std::move(compiler);
    firstEmitted = std::move(emitted);
  }
  return true;
}

void GearCompiler::addToSummary(const CompileSummary &gear) {
  compileSummary.arenaLowerBound = std::max(compileSummary.arenaLowerBound, gear.arenaLowerBound);
  compileSummary.intermediateBytes += gear.intermediateBytes;
}

std::optional<om::OmGears> GearCompiler::describeGears() {
  auto axes =
      request.kind == OM_GEARS_RANGE ? provedAxes : findInputAxes(request, inputs, diagnostics);
  if (!axes)
    return std::nullopt;
  om::OmGears gears;
  gears.kind = request.kind;
  gears.min = request.min;
  gears.axes = std::move(*axes);
  return gears;
}

bool GearCompiler::emit(om::OmSink &sink) {
  const unsigned before = diagnostics.numErrors();
  if (request.kind == OM_GEARS_RANGE) {
    compileSummary.timer.begin("proof of padding");
    if (!(provedAxes = proveRanges(options, request, diagnostics)))
      return false;
  }
  for (size_t gear = 0; gear < request.gears.size(); ++gear) {
    compileSummary.timer.begin("gear " + request.nameOf(gear));
    if (!compileGear(gear)) {
      if (diagnostics.numErrors() == before)
        diagnostics.error("E19999", "gear " + request.nameOf(gear) + " could not be compiled");
      return false;
    }
  }
  std::optional<om::OmGears> gears = describeGears();
  if (!gears)
    return false;
  compileSummary.timer.begin("write file");
  om::OmModel model = merger.take(std::move(*gears));
  firstCompiler->stamp(model);
  std::string error;
  const bool done = om::writeOm(model, sink, error);
  if (!done)
    diagnostics.errorLine(error);
  compileSummary.timer.end();
  compileSummary.describe(model, sink.size());
  return done;
}

bool GearCompiler::emitFile(const std::string &path) {
  om::OmFileSink sink(path);
  return emit(sink);
}

std::optional<::om::Buffer> GearCompiler::emitBytes() {
  om::OmMemorySink sink;
  if (!emit(sink))
    return std::nullopt;
  return sink.take();
}

} // namespace atc::driver
