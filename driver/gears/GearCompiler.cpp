//===-- GearCompiler.cpp - one file of a static compilation per gear ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/gears/GearCompiler.h"

#include "driver/gears/GearRanges.h"

#include "llvm/ADT/STLExtras.h"

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

/// Returns the inputs or outputs of a compiled gear.
static std::vector<om::OmHostPort> portsOf(const om::OmModel &model, bool outputs) {
  if (model.host)
    return outputs ? model.host->outputs : model.host->inputs;
  std::vector<om::OmHostPort> ports;
  for (uint32_t index : outputs ? model.outputs : model.inputs) {
    om::OmHostPort &port = ports.emplace_back();
    port.name = model.tensors[index].name;
    port.dtype = model.tensors[index].dtype;
    port.dims = model.tensors[index].dims;
  }
  return ports;
}

/// Reports what a gear cannot have: inputs and outputs that are no tensors of known rank or that
/// other gears do not have.
bool GearCompiler::acceptsGear(const om::OmModel &model, size_t gear) {
  const unsigned before = diagnostics.numErrors();
  for (bool outputs : {false, true}) {
    const std::vector<om::OmHostPort> ports = portsOf(model, outputs);
    for (const om::OmHostPort &port : ports)
      if (port.kind != OM_KIND_TENSOR || port.unranked || port.optional)
        diagnostics.error("E10055", "gear " + request.nameOf(gear) + ": " +
                                        (outputs ? "output" : "input") + " '" + port.name +
                                        "' is no tensor of known rank, which gears cannot have; "
                                        "leave the dims -1 with --target=cpu and without gears");
    const std::vector<om::OmHostPort> first =
        portsOf(firstEmitted ? firstEmitted->description.model : model, outputs);
    if (ports.size() != first.size() ||
        !llvm::all_of(llvm::zip_equal(ports, first), [](const auto &pair) {
          const auto &[own, other] = pair;
          return own.name == other.name && own.dtype == other.dtype &&
                 own.dims.size() == other.dims.size();
        }))
      diagnostics.error("E10055", "gear " + request.nameOf(gear) + ": its " +
                                      (outputs ? "outputs" : "inputs") + " are not those of gear " +
                                      request.nameOf(0) +
                                      ", or have another rank or type; compile a file for each "
                                      "size");
  }
  return diagnostics.numErrors() == before;
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
  // Its inputs are not padded, and it need not be one for every size.
  if (request.kind == OM_GEARS_RANGE && model.host) {
    whyOpen = "the model has operators whose sizes are only known when it runs";
    return true;
  }
  if (!acceptsGear(model, gear))
    return false;
  addToSummary(compiler->summary(), gear);
  merger.add(model, request.gears[gear]);
  for (inputs.emplace_back(); const om::OmHostPort &port : portsOf(model, /*outputs=*/false))
    inputs.back().push_back({port.name, port.dims});
  if (gear == 0) {
    firstContext = std::move(context);
    firstCompiler = std::move(compiler);
    firstEmitted = std::move(emitted);
  }
  return true;
}

/// Returns what decides which gear is the largest: multiply-accumulates, then bytes.
static std::pair<uint64_t, uint64_t> workOf(const Placement &placement) {
  return {placement.npu.macs + placement.host.macs, placement.npu.bytes + placement.host.bytes};
}

void GearCompiler::addToSummary(const CompileSummary &own, size_t gear) {
  compileSummary.arenaLowerBound = std::max(compileSummary.arenaLowerBound, own.arenaLowerBound);
  compileSummary.intermediateBytes += own.intermediateBytes;
  std::optional<Placement> &largest = compileSummary.placement;
  if (!own.placement || (largest && workOf(*largest) >= workOf(*own.placement)))
    return;
  largest = own.placement;
  compileSummary.largestGear = request.nameOf(gear);
}

std::optional<om::OmGears> GearCompiler::describeGears() {
  auto axes = provedAxes ? provedAxes : findInputAxes(request, inputs, diagnostics);
  if (!axes)
    return std::nullopt;
  om::OmGears gears;
  gears.kind = request.kind;
  gears.min = request.min;
  gears.axes = std::move(*axes);
  return gears;
}

/// Proves that inputs may be padded to the gears of ranges; where they may not, every size becomes
/// a gear, if those are not too many; else `whyOpen` is set. Returns false after an error.
bool GearCompiler::planPadding() {
  compileSummary.timer.begin("proof of padding");
  std::string whyNot;
  provedAxes = proveRanges(options, request, whyNot, diagnostics);
  if (provedAxes)
    announcement =
        "dynamic dims become gears, inputs are padded to the next one: " + request.announcement +
        "; --input_hint_shape chooses other sizes";
  if (provedAxes || whyNot.empty())
    return provedAxes.has_value();
  std::optional<GearRequest> all = withAllSizes(request);
  if (!all) {
    whyOpen = whyNot + (request.hasOpenEnd ? ", and -1 has no largest size, as 1~64 has, to "
                                             "compile each of its sizes"
                                           : ", and more than 100 sizes are too many to compile "
                                             "each");
    return true;
  }
  announcement = "inputs are not padded: " + whyNot + "; each of the " +
                 std::to_string(all->gears.size()) + " sizes becomes a gear";
  request = std::move(*all);
  return true;
}

/// Compiles the model once with dims of any size. An NPU has no programs for those: of what depends
/// on them it computes tiles of rows, and the host the rest, which warnings say. A model that would
/// leave the NPU altogether is refused.
bool GearCompiler::emitOpen(om::OmSink &sink) {
  const std::string noGears = "dims of -1 and a~b in --input_shape cannot become gears: " + whyOpen;
  const std::string sizes = exampleOfSizes(request);
  if (!options.aippFile.empty()) {
    diagnostics.error("E10055", noGears +
                                    "; and --insert_op_conf needs the size of the image. Give the "
                                    "sizes, for example " +
                                    sizes);
    return false;
  }
  CompilerOptions own = options;
  own.source.inputShapes = request.shapes;
  own.hasOpenDims = true;
  auto context = makeCompilerContext();
  Compiler compiler(*context, std::move(own), diagnostics);
  if (!compiler.lower(Phase::Programs))
    return false;
  const std::optional<Placement> placement = readPlacement(compiler.module());
  if (placement && !placement->npu.kernels) {
    diagnostics.error("E10055",
                      noGears +
                          ". While they are open, an NPU computes products with constant matrices "
                          "or filters of 4096 elements or more and what does not depend on these "
                          "dims, of which the model has nothing: all of it would run on the CPU. "
                          "Give the sizes, for example " +
                          sizes + ", or compile for the CPU with --target=cpu");
    return false;
  }
  diagnostics.warning("W11010", "dims of -1 and a~b in --input_shape stay open, and what the NPU "
                                "cannot compute in tiles of fixed sizes runs on the CPU. They "
                                "cannot become gears: " +
                                    whyOpen +
                                    ". To run all sizes on the NPU, give them, for "
                                    "example " +
                                    sizes);
  const bool done = compiler.emit(sink);
  compileSummary = compiler.summary();
  return done;
}

bool GearCompiler::emit(om::OmSink &sink) {
  const unsigned before = diagnostics.numErrors();
  if (request.kind == OM_GEARS_RANGE && !planPadding())
    return false;
  for (size_t gear = 0; whyOpen.empty() && gear < request.gears.size(); ++gear) {
    compileSummary.timer.begin("gear " + request.nameOf(gear));
    if (!compileGear(gear)) {
      if (diagnostics.numErrors() == before)
        diagnostics.error("E19999", "gear " + request.nameOf(gear) + " could not be compiled");
      return false;
    }
  }
  if (!whyOpen.empty())
    return emitOpen(sink);
  // Only now is it known that each gear has become one.
  if (!announcement.empty())
    diagnostics.warning("W11001", announcement);
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
