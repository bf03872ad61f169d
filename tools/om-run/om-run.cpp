//===-- om-run.cpp - runs an .om file -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/ErrorCodes.h"
#include "support/Interruption.h"
#include "support/ModelText.h"
#include "support/Npy.h"
#include "support/RunErrors.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Inputs.h"
#include "tools/common/OptionTable.h"
#include "tools/om-run/Compare.h"
#include "tools/om-run/Npu.h"
#include "tools/om-run/Report.h"
#include "tools/om-run/Shapes.h"

#ifdef OPENATC_HAS_TRUST
#include "openatc/trust.h"
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

using namespace atc;
using namespace atc::tools;

namespace {
struct Options {
  std::string model, input, shape, output, dump, compare, cpuLevel;
  double tolerance = 1e-4;
  uint32_t loop = 0, warmup = 0, threads = 0;
  uint64_t maxMemory = 0, maxIterations = 0;
  double maxSeconds = 0;
  std::vector<std::string> trustedKeys;
  bool json = false, profile = false, verify = true, state = false;
  bool requireSignature = false, refuseNativeCode = false;
  NpuOptions npu;
};

int fail(const std::vector<std::string> &lines) {
  for (const std::string &line : lines)
    print(stderr, "%s\n", oneLine(line).c_str());
  return 1;
}

double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Returns the path of a tensor's file in `folder`; equal names get a numeric suffix.
std::string npyPath(const std::string &folder, const std::string &tensor,
                    std::set<std::string> &taken) {
  const std::string name = fileNameOf(tensor);
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return folder + "/" + unique + ".npy";
}

bool makeFolder(const std::string &folder, std::string &fault) {
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (std::filesystem::is_directory(folder))
    return true;
  fault = "E13004: cannot create the folder '" + folder + "'.";
  return false;
}

/// Runs a model with its session and its buffers.
class Runner {
public:
  explicit Runner(const Options &options) : options(options) {}
  int run();

private:
  bool load();
  bool readTrust(om_load_options &loading);
  bool readBuffers();
  bool readValues();
  void takeOutputs();
  bool runOnce();
  bool dumpTensors();
  bool prepareDump();
  bool writeOutputs();
  int compare();

  bool failed(ErrorCode code, const std::string &sentence) {
    faults.push_back(codedLine(code, sentence));
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
  std::vector<om::Tensor> ends; ///< the inputs, with the dims of --shape
  std::vector<om::Value> inputValues, outputValues;
  Report report;
  std::vector<std::string> faults;
};

/// Keys and cryptography; options that would do nothing are refused.
bool Runner::readTrust(om_load_options &loading) {
  loading.refuse_native_code = options.refuseNativeCode;
  loading.require_signature = options.requireSignature;
  if (options.requireSignature == options.trustedKeys.empty())
    return failed("E10057", "--require_signature and --trusted_key go only together.");
  if (!options.requireSignature)
    return true;
#ifdef OPENATC_HAS_TRUST
  for (const std::string &path : options.trustedKeys)
    if (om_trust_read_key(path.c_str(), &keys.emplace_back(), &error.c) != OM_OK)
      failed(error.code() == OM_ERROR_IO ? ErrorCode("E13001") : ErrorCode("E13005"),
             error.message());
  loading.trusted_keys = keys.data();
  loading.trusted_key_count = keys.size();
  loading.crypto = om_trust_crypto();
  return faults.empty();
#else
  return failed("E10055", "--require_signature is not supported: this om-run was built without "
                          "libsodium.");
#endif
}

bool Runner::load() {
  om_load_options loading = OM_LOAD_OPTIONS_INIT;
  loading.verify_weights = options.verify;
  loading.cpu_level = options.cpuLevel.empty() ? nullptr : options.cpuLevel.c_str();
  if (!readTrust(loading))
    return false;
  om_session_options running = OM_SESSION_OPTIONS_INIT;
  running.threads = options.threads;
  running.max_memory = options.maxMemory;
  running.max_iterations = options.maxIterations;
  // A time beyond the range of the clock is no limit.
  running.max_run_us = options.maxSeconds < 1e12
                           ? static_cast<uint64_t>(std::ceil(options.maxSeconds * 1e6))
                           : OM_NO_LIMIT;

  const auto begin = std::chrono::steady_clock::now();
  model = om::Model::loadFile(options.model, error, loading);
  if (!model && error.code() == OM_ERROR_IO && !std::filesystem::exists(options.model))
    return failed("E10410", "the model file '" + options.model + "' does not exist.");
  if (!model)
    return failed("E10041", "'" + options.model + "' cannot be loaded: " + error.message());
  if (model.info().npu_launches) {
    std::string fault;
    if (!npu.create(options.npu, fault))
      return failed("E10001", fault);
    running.device = npu.device();
  } else if (options.npu.any()) {
    return failed("E10057", "the options of the simulated NPU go only together with a model for "
                            "one: '" +
                                options.model + "' runs on the CPU alone.");
  }
  session = om::Session(model, error, running);
  if (!session && !npu.faults().empty()) {
    for (const std::string &line : npu.faults())
      failed("E10041", "'" + options.model + "' cannot be run: " + line);
    return false;
  }
  if (!session)
    return failed(codeOf(error.code(), "E10041"),
                  "'" + options.model + "' cannot be run: " + error.message());
  report.loadMs = millisecondsSince(begin);
  report.path = options.model;
  report.threads = om_session_threads(session.get());

  for (const auto &list : {model.inputs(), model.outputs()})
    onValues |= !std::all_of(list.begin(), list.end(), [](auto &end) { return end.fixed(); });
  gears = model.gears();
  ends = model.inputs();
  std::string fault;
  if (!applyShapes(options.shape, ends, fault)) {
    faults.push_back(fault);
    return false;
  }
  if (options.state && !(options.dump.empty() && options.compare.empty()))
    return failed("E10057", "--state does not go together with --dump and --compare.");
  if (options.state && !session.keepState(true, error))
    return failed("E10057",
                  std::string("--state is only for models with a state: ") + error.message());
  onValues |= options.state;
  if (!gears.all.empty() && !options.compare.empty())
    return failed("E10057", "--compare is not for models with gears: compile the model for the "
                            "size of one gear with --input_shape, and compare that.");
  if (onValues && gears.all.empty() && !(options.dump.empty() && options.compare.empty()))
    return failed("E10057", "--dump and --compare are only for models whose inputs and outputs "
                            "have shapes that are known: those of '" +
                                options.model + "' have not.");
  return onValues ? readValues() : readBuffers();
}

bool Runner::readBuffers() {
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
        return failed("E10041", "'" + options.model +
                                    "' cannot be run: there is no memory for its inputs and "
                                    "outputs.");
  faults = readInputs(options.input, ends, [&](size_t i, const std::string &file, auto &fault) {
    return readTensor(file, ends[i], inputs[i].data(), fault);
  });
  return faults.empty();
}

/// Reads the inputs; one without a file is zeros where its shape is known, an optional one none.
bool Runner::readValues() {
  std::vector<std::vector<om::Value>> items(ends.size());
  inputValues.resize(ends.size());
  faults = readInputs(options.input, ends, [&](size_t i, const std::string &file, auto &fault) {
    om::Value value;
    if (!readValue(file, ends[i], value, fault))
      return false;
    items[i].push_back(value);
    return true;
  });
  for (size_t i = 0; i < ends.size() && faults.empty(); ++i) {
    if (ends[i].kind == OM_KIND_SEQUENCE && !(items[i].empty() && ends[i].optional))
      inputValues[i] = om::Value::sequence(ends[i].dtype, items[i], error);
    else if (!items[i].empty())
      inputValues[i] = items[i][0];
    else if (i == gears.shapeInput || isState(i))
      continue; // the shapes of the others choose the gear; the session has the state
    else if (ends[i].fixed())
      inputValues[i] = om::Value::tensor(ends[i].dtype, ends[i].dims, nullptr, error);
    else if (!ends[i].optional)
      failed("E10014", "input '" + printable(ends[i].name) +
                           "' has no shape that is known before the run: give its file with "
                           "--input, or its shape with --shape.");
  }
  return faults.empty();
}

/// The outputs of the last run, for printing and writing.
void Runner::takeOutputs() {
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
}

bool Runner::runOnce() {
  if (onValues) {
    outputValues = session.run(inputValues, error);
    const bool argument = error.code() == OM_ERROR_ARGUMENT;
    return !error ||
           failed(codeOf(error.code(), argument ? ErrorCode("E10014") : ErrorCode("E19999")),
                  error.message());
  }
  return session.run(inputPointers.data(), outputPointers.data(), error) ||
         failed(codeOf(error.code(), "E19999"), error.message());
}

/// Makes a run of the chosen gear one on plain memory, which can be observed.
bool Runner::prepareDump() {
  if (gears.all.empty())
    return true;
  std::vector<int64_t> values(gears.all[0].values.size());
  for (const om_gear_axis &axis : gears.axes)
    if (!axis.output)
      values[axis.value] = inputValues[axis.index].dims()[axis.dim];
  if (!session.setGear(values, error))
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
  std::string fault;
  if (!makeFolder(options.dump, fault)) {
    faults.push_back(fault);
    return false;
  }
  if (!prepareDump())
    return false;
  std::set<std::string> taken;
  std::vector<std::string> paths(model.info().tensors);
  auto dumpWritten = [&](uint32_t launch) {
    for (uint32_t index : model.launch(launch).writes) {
      const om::Tensor tensor = model.tensor(index);
      if (paths[index].empty())
        paths[index] = npyPath(options.dump, tensor.name, taken);
      om::Buffer copy(tensor.bytes);
      om::Error problem;
      if (!copy || om_session_read_tensor(session.get(), index, copy.data(), tensor.bytes,
                                          &problem.c) != OM_OK)
        failed("E19999", problem.message());
      else if (!writeNpy(paths[index], tensor, copy.data(), fault))
        faults.push_back(fault);
    }
  };
  if (!session.run(inputPointers.data(), outputPointers.data(), dumpWritten, error))
    return failed(codeOf(error.code(), "E19999"), error.message());
  return faults.empty();
}

bool Runner::writeOutputs() {
  std::string fault;
  if (!makeFolder(options.output, fault)) {
    faults.push_back(fault);
    return false;
  }
  std::set<std::string> taken;
  for (const NamedTensor &output : report.outputs)
    if (!writeValue(npyPath(options.output, output.tensor.name, taken), output, fault))
      faults.push_back(fault);
  return faults.empty();
}

int Runner::compare() {
  Reference reference;
  std::string fault;
  if (!reference.open(options.compare, options.input, model.inputs(), fault))
    return fault.empty() ? 1 : fail({fault});
  const Comparison comparison =
      compareWith(reference, options.tolerance, model, session, inputPointers, outputPointers);
  if (!comparison.faults.empty())
    return fail(comparison.faults);
  if (options.json)
    printComparisonJson(comparison, model, options.compare);
  else
    printComparison(comparison);
  return comparison.firstBad() ? 1 : 0;
}

int Runner::run() {
  if (!load())
    return fail(faults);
  if (!options.compare.empty())
    return compare();
  auto timed = [&](double &milliseconds) {
    const auto begin = std::chrono::steady_clock::now();
    const bool done = runOnce();
    milliseconds = millisecondsSince(begin);
    report.hostMs = std::max(0.0, milliseconds - npu.simulationMs());
    return done;
  };
  if (!timed(report.firstRunMs))
    return fail(faults);
  for (uint32_t i = 0; i < options.warmup; ++i)
    if (!runOnce())
      return fail(faults);
  report.latenciesMs.resize(options.loop);
  for (double &milliseconds : report.latenciesMs)
    if (!timed(milliseconds))
      return fail(faults);
  if (report.latenciesMs.empty())
    report.latenciesMs.push_back(report.firstRunMs);

  const std::string statistics = npu ? npu.statistics() : "";

  // The per-launch clock costs a little, so it has runs of its own.
  if (options.profile) {
    om_session_set_profile(session.get(), 1);
    for (uint32_t i = 0; i < std::max(options.loop, 1u); ++i)
      if (!runOnce())
        return fail(faults);
    report.profile = readProfile(model, session, gears);
    om_session_set_profile(session.get(), 0);
  }
  if (!options.dump.empty() && !dumpTensors())
    return fail(faults);
  takeOutputs();
  if (session.gear() != OM_NO_GEAR)
    report.gear = gears.all[session.gear()].values;
  if (!options.output.empty() && !writeOutputs())
    return fail(faults);
  if (npu && !npu.writeFiles(options.npu, faults))
    return fail(faults);
  if (options.json)
    printJson(report, model, statistics);
  else
    printTables(report, model, statistics);
  faults = npu.hazards();
  return faults.empty() ? 0 : fail(faults);
}
} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("om-run");
  Options options;
  CLI::App app("Runs an .om file on this machine: fills the inputs, runs once, then measures, and "
               "shows or writes the outputs.");
  app.set_version_flag("--version", std::string("om-run ") + om_version());
  app.add_option("model", options.model, "the .om file")->required();
  app.add_option(
         "-i,--input", options.input,
         "input files: a.npy,b.bin in the model's order, or name=file,...; a .npy file must "
         "have the input's type and shape, any other file its raw bytes; an input without a "
         "file is zeros; several files of one name are the items of a sequence")
      ->type_name("FILES");
  app.add_option("--shape", options.shape,
                 "dims of inputs that the model leaves open, \"name:1,3,416,416;other:1,4\": for "
                 "inputs without a file or with one of raw bytes; with gears the shapes of the "
                 "inputs choose the gear")
      ->type_name("SHAPES");
  app.add_option("-o,--output", options.output, "write each output as <name>.npy into this folder")
      ->type_name("DIR");
  app.add_option("--loop", options.loop, "measure this many runs after the first")->type_name("N");
  app.add_option("--warmup", options.warmup, "runs between the first and the measured ones")
      ->type_name("N");
  app.add_option("--threads", options.threads, "threads to use (default: one for each processor)")
      ->type_name("T")
      ->check(CLI::Range(1, 1024));
  app.add_option("--max_memory,--max-memory", options.maxMemory,
                 "bytes that the session may hold at once, with a unit or without: 512MB, 2GB "
                 "(default: three quarters of the machine's memory)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  app.add_option("--max_iterations,--max-iterations", options.maxIterations,
                 "iterations of all loops in a run (default: no limit)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--max_time,--max-time", options.maxSeconds,
                 "seconds that a run may take (default: no limit)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_flag("--state", options.state,
               "keep the model's state from run to run, all of which have the same inputs: "
               "with --loop=N the state of the last run is that after N + 1 of them; "
               "outputs that are states show what they are at the end");
  app.add_flag("--json", options.json, "print one JSON object instead of tables");
  app.add_flag("--profile", options.profile, "measure each launch");
  app.add_option("--dump", options.dump,
                 "write every tensor that a launch makes as <name>.npy into this folder")
      ->type_name("DIR");
  app.add_option("--compare", options.compare,
                 "run once and compare every tensor that a launch makes with the reference: the "
                 "model the .om was compiled from (interpreted by atc-translate), or a folder of "
                 "<name>.npy; names the first bad layer")
      ->type_name("MODEL|DIR");
  app.add_option("--tolerance", options.tolerance,
                 "largest error that --compare accepts, as a part of the reference's range "
                 "(default 1e-4)")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber);
  app.add_flag(
      "--verify,!--no-verify", options.verify,
      "check the weights' hash when loading, which reads the whole file (default: yes); header, "
      "code and tables are checked always");
  app.add_flag("--require-signature,--require_signature", options.requireSignature,
               "run only a model that is signed with a trusted key");
  app.add_option("--trusted-key,--trusted_key", options.trustedKeys,
                 "a public key file of om-sign; may be given more than once")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--refuse-native-code,--refuse_native_code", options.refuseNativeCode,
               "refuse a model that holds native code");
  app.add_option("--cpu-level,--cpu_level", options.cpuLevel,
                 "use the code for this CPU level (default: the best that fits)")
      ->type_name("NAME");
  addNpuOptions(app, options.npu);
  app.footer(
      "Exit code: 0 when everything went well, 1 otherwise, with one coded line per error;\n"
      "--compare gives 1 also when a tensor is bad, --check-hazards when there is a hazard.\n"
      "SIGINT ends it at once; files that were there stay as they are.\n"
      "Example: om-run resnet50.om --input cat.npy --output out --loop 100 --threads 2");
  if (printOptionTable(app, "om-run", argc, argv))
    return finishOutput(0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &outcome) {
    return finishParsing(app, outcome);
  }
  return finishOutput(Runner(options).run());
}
