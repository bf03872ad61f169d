//===-- om-run.cpp - runs an .om file -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ErrorCodes.h"
#include "support/InputText.h"
#include "support/Interruption.h"
#include "support/ModelText.h"
#include "support/Npy.h"
#include "support/OutputFile.h"
#include "support/RunErrors.h"
#include "tools/common/CommandLine.h"
#include "tools/common/HelpText.h"
#include "tools/common/Inputs.h"
#include "tools/common/TypedValues.h"
#include "tools/om-run/Benchmark.h"
#include "tools/om-run/Compare.h"
#include "tools/om-run/CpuPage.h"
#include "tools/om-run/GearChoice.h"
#include "tools/om-run/LayerTensors.h"
#include "tools/om-run/MemoryShare.h"
#include "tools/om-run/Options.h"
#include "tools/om-run/Ranks.h"
#include "tools/om-run/Shapes.h"
#include "tools/om-run/Trust.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

using namespace atc;
using namespace atc::tools;

namespace {
int fail(const std::vector<std::string> &lines) {
  for (const std::string &line : lines)
    print(stderr, "%s\n", oneLine(line).c_str());
  return 1;
}

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Runs a model with its session and its buffers.
class Runner {
public:
  explicit Runner(const Options &options) : options(options), memory(options.maxMemory) {}
  int run();

private:
  bool load();
  bool openModel();
  om_session_options sessionOptions() const;
  bool refuseCombinations(); // options that would do nothing, or do not fit the model
  bool readBuffers();
  bool readValues();
  bool takeOutputs();
  bool openOthers(const om_session_options &running);
  bool readLabels();
  bool takeMemory(const std::vector<om::Tensor> &tensors);
  bool readPlain(size_t i, const std::string &file, void *memory, std::string &errorText);
  bool runOnce(uint32_t worker = 0);
  bool measureRuns();
  bool failedRun();
  bool writeCpuFiles();
  bool dumpTensors();
  bool prepareDump();
  bool writeOutputs();
  int compare();
  int checkRanges();

  bool failed(ErrorCode code, const std::string &sentence) {
    errorLines.push_back(codedLine(code, sentence));
    return false;
  }
  /// Returns whether the session keeps input `i` as a state.
  bool isState(size_t i) const {
    const std::vector<om_state_info> states =
        options.state ? model.states() : std::vector<om_state_info>();
    return std::any_of(states.begin(), states.end(),
                       [i](const om_state_info &state) { return state.input == i; });
  }

  const Options &options;
  MemoryShare memory;
  om::Error error;
  om::Model model;
  Npu npu; // outlives the session that uses it
  om::Session session;
  std::vector<om_public_key> keys;
  std::vector<om::Buffer> inputs, outputs;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  /// Used instead where an input or output has no known size.
  bool onValues = false;
  om::Gears gears;
  std::vector<bool> isGiven;    ///< per input: whether it has a file
  std::vector<om::Tensor> ends; ///< the inputs, with the dims of --shape
  std::vector<om::Value> inputValues, outputValues;
  /// A further session of --sessions, which shares the inputs.
  struct Other {
    om::Session session;
    om::Error error;
    std::vector<om::Buffer> outputs;
    std::vector<void *> pointers;
  };
  std::vector<Other> others;
  Report report;
  std::vector<std::string> errorLines;
};

bool Runner::openModel() {
  om_load_options loading = OM_LOAD_OPTIONS_INIT;
  loading.verify_weights = options.verify;
  loading.threads = options.threads;
  loading.cpu_level = options.cpuLevel.empty() ? nullptr : options.cpuLevel.c_str();
  if (!readTrust(options, keys, loading, errorLines))
    return false;
  model = om::Model::loadFile(options.model, error, loading);
  if (std::error_code status; !model && !std::filesystem::exists(options.model, status))
    return failed("E10410", "the model file '" + options.model + "' does not exist.");
  if (!model)
    return failed("E10041", "'" + options.model + "' cannot be loaded: " + error.message());
  return true;
}

om_session_options Runner::sessionOptions() const {
  om_session_options running = OM_SESSION_OPTIONS_INIT;
  running.threads = options.threads;
  if (!options.threads && options.sessions > 1)
    running.threads = std::max(1u, std::thread::hardware_concurrency() / options.sessions);
  running.max_memory = options.maxMemory;
  running.max_iterations = options.maxIterations;
  // A time beyond the range of the clock is no limit.
  running.max_run_us = options.maxSeconds < 1e12
                           ? static_cast<uint64_t>(std::ceil(options.maxSeconds * 1e6))
                           : OM_NO_LIMIT;
  return running;
}

bool Runner::refuseCombinations() {
  if (options.state && options.sessions > 1)
    return failed("E10057", "--state does not go together with --sessions.");
  if (!npu && onValues && gears.all.empty() && !options.npu.timeline.empty())
    return failed("E10057", "--timeline is only for models whose inputs and outputs have shapes "
                            "that are known: --profile shows the launches of '" +
                                options.model + "'.");
  if (options.npu.checkRanges && onValues && gears.all.empty())
    return failed("E10057",
                  "--check-ranges is only for models whose inputs and outputs have shapes "
                  "that are known: compile the model with --input_shape.");
  if (!gears.all.empty() && !options.compare.empty())
    return failed("E10057", "--compare is not for models with gears: compile the model for the "
                            "size of one gear with --input_shape, and compare that.");
  if (onValues && gears.all.empty() && !options.dump.empty())
    return failed("E10057", "--dump is only for models whose inputs and outputs have shapes that "
                            "are known: those of '" +
                                options.model + "' have not; --compare compares their outputs.");
  return true;
}

bool Runner::load() {
  om_session_options running = sessionOptions();
  const auto begin = std::chrono::steady_clock::now();
  if (!openModel())
    return false;
  if (model.info().npu_launches) {
    std::string errorText;
    if (!npu.create(options.npu, errorText))
      return failed("E10001", errorText);
    running.device = npu.device();
    if (options.sessions > 1)
      return failed("E10057", "--sessions is only for models that run on the CPU alone.");
  } else if (options.npu.anyOfSimulator()) {
    return failed("E10057", "the options of the simulated NPU go only together with a model for "
                            "one: '" +
                                options.model + "' runs on the CPU alone.");
  }
  session = om::Session(model, error, running);
  if (!session && !npu.errorLines().empty()) {
    for (const std::string &line : npu.errorLines())
      failed("E10041", "'" + options.model + "' cannot be run: " + line);
    return false;
  }
  if (!session)
    return failed(codeOf(error.code(), "E10041"),
                  "'" + options.model + "' cannot be run: " + error.message());
  report.loadMs = millisecondsSince(begin);
  report.path = options.model;
  report.threads = om_session_threads(session.get());
  report.sessions = options.sessions;

  for (const auto &list : {model.inputs(), model.outputs()})
    onValues |= !std::all_of(list.begin(), list.end(), [](auto &end) { return end.fixed(); });
  gears = model.gears();
  ends = model.inputs();
  isGiven.resize(ends.size());
  std::string errorText;
  if (!applyShapes(options.shape, ends, errorText)) {
    errorLines.push_back(errorText);
    return false;
  }
  if (options.state && !(options.dump.empty() && options.compare.empty()))
    return failed("E10057", "--state does not go together with --dump and --compare.");
  if (options.state && !session.keepState(true, error))
    return failed("E10057",
                  std::string("--state is only for models with a state: ") + error.message());
  onValues |= options.state;
  if (!refuseCombinations() || !readLabels() || !openOthers(running))
    return false;
  return onValues ? readValues() : readBuffers();
}

bool Runner::takeMemory(const std::vector<om::Tensor> &tensors) {
  std::string errorText;
  if (!memory.take(tensors, errorText))
    errorLines.push_back(errorText);
  return errorText.empty();
}

bool Runner::readBuffers() {
  if (!takeMemory(model.inputs()) || !takeMemory(model.outputs()))
    return false;
  for (const om::Tensor &tensor : model.inputs())
    inputs.emplace_back(tensor.bytes);
  for (const om::Tensor &tensor : model.outputs())
    outputs.emplace_back(tensor.bytes);
  for (const om::Buffer &buffer : inputs)
    inputPointers.push_back(buffer.data());
  for (const om::Buffer &buffer : outputs)
    outputPointers.push_back(buffer.data());
  for (const auto *list : {&inputs, &outputs})
    for (const om::Buffer &buffer : *list)
      if (!buffer)
        return failed("E10041", "'" + options.model + "' has no memory for inputs and outputs.");
  errorLines =
      readInputs(options.input, ends, [&](size_t i, const std::string &file, auto &errorText) {
        return readPlain(i, file, inputs[i].data(), errorText);
      });
  for (size_t i = 0; i < inputs.size() && errorLines.empty(); ++i)
    if (!isGiven[i] && !readFirstValue(model, session, i, ends[i].bytes, inputs[i].data()) &&
        options.random)
      fillRandom(ends[i], options.seed + i, inputs[i].data());
  return errorLines.empty();
}

/// Reads an input of known dims: typed values, or a file: an image, .npy or raw bytes.
bool Runner::readPlain(size_t i, const std::string &file, void *memory, std::string &errorText) {
  isGiven[i] = true;
  if (isTyped(file))
    return readTyped(file, ends[i], memory, errorText);
  return isImage(file) ? readImage(file, ends[i], options.images, memory, errorText)
                       : readTensor(file, ends[i], memory, errorText);
}

/// Makes the further sessions of --sessions.
bool Runner::openOthers(const om_session_options &running) {
  others.resize(options.sessions - 1);
  for (Other &other : others) {
    other.session = om::Session(model, error, running);
    if (!other.session)
      return failed(codeOf(error.code(), "E10041"),
                    "'" + options.model +
                        "' cannot be run in so many sessions: " + error.message());
    if (!onValues && !takeMemory(model.outputs()))
      return false;
    for (const om::Tensor &tensor : model.outputs()) {
      if (onValues)
        break;
      other.outputs.emplace_back(tensor.bytes);
      if (!other.outputs.back())
        return failed("E10041", "there is no memory for the outputs of so many sessions.");
      other.pointers.push_back(other.outputs.back().data());
    }
  }
  return true;
}

bool Runner::readLabels() {
  if (options.labels.empty())
    return true;
  std::string text;
  std::string reason = readInputText(options.labels, text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    report.labels.push_back(line.substr(0, line.find_last_not_of('\r') + 1));
  if (reason.empty() && report.labels.empty())
    reason = "it is empty";
  if (!reason.empty())
    return failed("E13001",
                  "the file '" + options.labels + "' of --labels cannot be read: " + reason + ".");
  return true;
}

/// Reads the inputs; one without a file is zeros where its shape is known, a state its first value,
/// an optional one none.
bool Runner::readValues() {
  std::vector<std::vector<om::Value>> items(ends.size());
  inputValues.resize(ends.size());
  errorLines =
      readInputs(options.input, ends, [&](size_t i, const std::string &file, auto &errorText) {
        om::Value value;
        isGiven[i] = true;
        if (isImage(file) && ends[i].fixed()) {
          if (!memory.take({ends[i]}, errorText))
            return false;
          om::Buffer pixels(ends[i].bytes);
          if (!pixels || !readImage(file, ends[i], options.images, pixels.data(), errorText))
            return false;
          value = om::Value::tensor(ends[i].dtype, ends[i].dims, pixels.data(), error);
        } else if (isImage(file)) {
          errorText =
              "E10014: input '" + printable(ends[i].name) +
              "' has no shape that is known before the run: give the shape that the image '" +
              file + "' gets with --shape.";
          return false;
        } else if (!readValue(file, ends[i], memory, value, errorText)) {
          return false;
        }
        items[i].push_back(value);
        return true;
      });
  for (size_t i = 0; i < ends.size() && errorLines.empty(); ++i) {
    if (ends[i].kind == OM_KIND_SEQUENCE && !(items[i].empty() && ends[i].optional))
      inputValues[i] = om::Value::sequence(ends[i].dtype, items[i], error);
    else if (!items[i].empty())
      inputValues[i] = items[i][0];
    else if (i == gears.shapeInput || isState(i))
      continue; // the shapes of the others choose the gear; the session has the state
    else if (ends[i].fixed() && takeMemory({ends[i]}))
      inputValues[i] =
          makeFirstValue(model, session, i, ends[i], options.random, options.seed + i, error);
    else if (!errorLines.empty())
      break;
    else if (!ends[i].optional)
      failed("E10014", missingValue(ends[i]));
  }
  if (errorLines.empty() && options.state && !setStates(model, session, inputValues, error))
    return failed("E10014", error.message());
  return errorLines.empty();
}

/// Takes the outputs of the last run for printing and writing. Returns false where --labels has
/// labels for none of them.
bool Runner::takeOutputs() {
  const std::vector<om::Tensor> ends = model.outputs();
  if (!onValues)
    for (size_t i = 0; i < ends.size(); ++i)
      outputValues.push_back(
          om::Value::borrow(ends[i].dtype, ends[i].dims, outputs[i].data(), error));
  const std::vector<om_state_info> states =
      options.state ? model.states() : std::vector<om_state_info>();
  for (uint32_t i = 0; i < states.size(); ++i)
    outputValues[states[i].output] = session.readState(i, error);
  report.outputs = tensorsOf(ends, outputValues);
  if (!report.labels.empty() &&
      std::none_of(report.outputs.begin(), report.outputs.end(),
                   [&](const NamedTensor &output) { return isLabelled(output, report.labels); }))
    return failed("E10014", "'" + options.labels + "' has " + std::to_string(report.labels.size()) +
                                " labels, but no output has so many values.");
  return true;
}

/// Reports why a run of the first session has failed. Returns false.
bool Runner::failedRun() {
  const bool argument = onValues && error.code() == OM_ERROR_ARGUMENT;
  return failed(codeOf(error.code(), argument ? ErrorCode("E10014") : ErrorCode("E19999")),
                error.message());
}

bool Runner::runOnce(uint32_t worker) {
  Other *other = worker ? &others[worker - 1] : nullptr;
  om::Session &used = other ? other->session : session;
  om::Error &problem = other ? other->error : error;
  if (!onValues)
    return used.run(inputPointers.data(), other ? other->pointers.data() : outputPointers.data(),
                    problem);
  std::vector<om::Value> made = used.run(inputValues, problem);
  if (!other)
    outputValues = std::move(made);
  return !problem;
}

/// Measures runs of all sessions, or of the first run where there is nothing to measure.
bool Runner::measureRuns() {
  const uint32_t runs = options.sessions > 1 ? std::max(options.loop, 1u) : options.loop;
  const Measurement measurement = measure({options.sessions, runs, options.duration},
                                          [&](uint32_t worker) { return runOnce(worker); });
  for (const Other &other : others)
    if (other.error && !error)
      return failed(codeOf(other.error.code(), "E19999"), other.error.message());
  report.latenciesMs = measurement.latenciesMs;
  if (report.latenciesMs.size() > 1)
    report.runsPerSecond = report.latenciesMs.size() * 1000.0 / measurement.wallMs;
  report.isFirstRun = report.latenciesMs.empty() && !options.warmup;
  if (report.latenciesMs.empty())
    report.latenciesMs.push_back(report.firstRunMs);
  return measurement.succeeded || failedRun();
}

/// Makes a run of the chosen gear one on plain memory, which can be observed.
bool Runner::prepareDump() {
  if (gears.all.empty())
    return true;
  if (!session.setGear(chosenGear(model, inputValues), error))
    return failed("E10014", error.message());
  for (const om::Value &value : inputValues)
    inputPointers.push_back(value ? value.data() : nullptr);
  for (uint32_t i = 0; i < model.info().outputs; ++i) {
    outputs.emplace_back(model.gearOutput(session.gear(), i).bytes);
    outputPointers.push_back(outputs.back().data());
    if (!outputs.back())
      return failed("E10041", "there is no memory for the outputs of '" + options.model + "'.");
  }
  return true;
}

/// Writes every tensor as soon as the launch that makes it has run, for its
/// memory is used again later.
bool Runner::dumpTensors() {
  std::string errorText;
  if (!makeFolder(options.dump, errorText)) {
    errorLines.push_back(errorText);
    return false;
  }
  if (!prepareDump())
    return false;
  std::set<std::string> taken;
  std::vector<std::string> paths(model.info().tensors);
  auto dump = [&](const WrittenTensor &written) {
    if (paths[written.index].empty())
      paths[written.index] = npyPath(options.dump, written.tensor.name, taken);
    if (!writeNpy(paths[written.index], written.tensor, written.data, errorText))
      errorLines.push_back(errorText);
  };
  return visitTensors(model, session, inputPointers, outputPointers, dump, errorLines) &&
         errorLines.empty();
}

/// Writes the files of --report and --timeline for a model without NPU launches.
bool Runner::writeCpuFiles() {
  std::string errorText;
  if (!options.npu.report.empty() &&
      !writeWholeFile(options.npu.report, cpuReportPage(report, model), errorText))
    errorLines.push_back(errorText);
  if (options.npu.timeline.empty() || !errorLines.empty())
    return errorLines.empty();
  if (inputPointers.empty() && !prepareDump())
    return false;
  std::vector<LaunchSpan> spans;
  const auto begin = std::chrono::steady_clock::now();
  auto finished = [&](uint32_t index) {
    const om::Launch launch = model.launch(index);
    spans.push_back({launch.name, launch.kernel, spans.empty() ? 0 : spans.back().end,
                     1000 * millisecondsSince(begin)});
  };
  if (!session.run(inputPointers.data(), outputPointers.data(), finished, error))
    return failedRun();
  if (!writeWholeFile(options.npu.timeline, cpuTimelineJson(spans), errorText))
    errorLines.push_back(errorText);
  return errorLines.empty();
}

bool Runner::writeOutputs() {
  std::string errorText;
  if (!makeFolder(options.output, errorText)) {
    errorLines.push_back(errorText);
    return false;
  }
  std::set<std::string> taken;
  for (const NamedTensor &output : report.outputs)
    if (!writeValue(npyPath(options.output, output.tensor.name, taken), output, errorText))
      errorLines.push_back(errorText);
  return errorLines.empty();
}

int Runner::compare() {
  Reference reference;
  std::string errorText;
  // The reference gets the dims of this run.
  for (size_t i = 0; i < inputValues.size(); ++i)
    if (inputValues[i].kind() == OM_KIND_TENSOR)
      ends[i].dims = inputValues[i].dims();
  if (!reference.open(options.compare, options.input, options.random, ends, errorText))
    return errorText.empty() ? 1 : fail({errorText});
  bool isDynamic = onValues;
  for (uint32_t i = 0; i < model.info().launches; ++i)
    isDynamic |= model.launch(i).host;
  for (size_t i = 0; i < inputs.size() && isDynamic; ++i)
    inputValues.push_back(om::Value::tensor(ends[i].dtype, ends[i].dims, inputs[i].data(), error));
  const Comparison comparison =
      isDynamic ? compareDynamic(reference, options.tolerance, model, session, inputValues)
                : compareWith(reference, options.tolerance, model, session, inputPointers,
                              outputPointers);
  if (!comparison.errorLines.empty())
    return fail(comparison.errorLines);
  if (options.json)
    printComparisonJson(comparison, model, options.compare);
  else
    printComparison(comparison);
  return comparison.firstBad() ? 1 : 0;
}

int Runner::checkRanges() {
  std::vector<Overflow> found;
  if (!prepareDump() ||
      !findOverflows(model, session, inputPointers, outputPointers, found, errorLines))
    return fail(errorLines);
  return printOverflows(found, options.json) ? 0 : 1;
}

int Runner::run() {
  if (!load())
    return fail(errorLines);
  if (options.npu.checkRanges)
    return checkRanges();
  if (!options.compare.empty())
    return compare();
  const auto begin = std::chrono::steady_clock::now();
  bool succeeded = runOnce();
  report.firstRunMs = millisecondsSince(begin);
  for (uint32_t i = 0; i < options.warmup && succeeded; ++i)
    succeeded = runOnce();
  if (!succeeded)
    failedRun();
  if (!succeeded || !measureRuns())
    return fail(errorLines);
  report.hostMs = std::max(0.0, report.latenciesMs.back() - npu.simulationMs());

  const std::string statistics = npu ? npu.statistics() : "";

  // The per-launch clock costs a little, so it has runs of its own.
  if (options.profile || (!npu && !options.npu.report.empty())) {
    om_session_set_profile(session.get(), 1);
    for (uint32_t i = 0; i < std::max(options.loop, 1u); ++i)
      if (!runOnce()) {
        failedRun();
        return fail(errorLines);
      }
    report.profile = readProfile(model, session, gears);
    om_session_set_profile(session.get(), 0);
  }
  if (!options.dump.empty() && !dumpTensors())
    return fail(errorLines);
  if (!takeOutputs())
    return fail(errorLines);
  if (session.gear() != OM_NO_GEAR)
    report.gear = gears.all[session.gear()].values;
  if (!options.output.empty() && !writeOutputs())
    return fail(errorLines);
  if (npu && !npu.writeFiles(options.npu, errorLines))
    return fail(errorLines);
  if (!npu && !writeCpuFiles())
    return fail(errorLines);
  if (options.json)
    printJson(report, model, statistics);
  else
    printTables(report, model, statistics);
  errorLines = npu.hazards();
  if (errorLines.empty() && options.npu.checkHazards && !options.json)
    print(stdout, "%-16s %10s      every access to the same bytes is ordered\n", "hazards", "none");
  return errorLines.empty() ? 0 : fail(errorLines);
}
} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("om-run");
  Options options;
  CLI::App app("Runs an .om file on this machine: fills the inputs, runs once, then measures, and "
               "shows or writes the outputs.");
  app.formatter(std::make_shared<HelpText>());
  app.set_version_flag("--version", std::string("om-run ") + om_version());
  addOptions(app, options);
  app.footer(
      "Exit code: 0 when everything went well, 1 otherwise, with one coded line per error;\n"
      "--compare gives 1 also when a tensor is bad, --check-hazards when there is a hazard,\n"
      "--check-ranges when a tensor leaves the range of f16.\n"
      "SIGINT ends it at once; files that were there stay as they are.\n"
      "Example: om-run resnet50.om --input cat.jpg --mean_chn=123.7,116.3,103.5 "
      "--std_chn=58.4,57.1,57.4 --labels imagenet.txt\n"
      "Example: om-run resnet50.om --random --duration 10 --sessions 4");
  if (std::optional<int> code = parseCommandLine(app, "om-run", argc, argv))
    return *code;
  if (const std::string manifest = findManifest(options.model); !manifest.empty())
    return finishOutput(runRanks(options, manifest));
  return finishOutput(Runner(options).run());
}
