//===-- SimulatedNpu.cpp - the simulator as a session's device ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/device/SimulatedNpu.h"

#include "npu/isa/Codec.h"
#include "npu/isa/Footprint.h"
#include "npu/isa/Verify.h"
#include "npu/report/Text.h"
#include "npu/report/Trace.h"
#include "npu/simulator/Hazards.h"

#include <new>
#include <string_view>

using namespace atc::npu;

/// Fills the error; sentences are truncated where there is no room.
static om_status fail(om_error *error, om_status code, std::string_view sentence) {
  if (error) {
    error->code = code;
    atc::rt::copyPrintable(error->message, sizeof(error->message), sentence.data(),
                           sentence.size());
  }
  return code;
}

/// Calls `step`, which may run out of memory: the caller is a program in C, or a runtime without
/// exceptions.
template <typename Step> static om_status guarded(om_error *error, Step step) {
  try {
    return step();
  } catch (const std::bad_alloc &) {
    return fail(error, OM_ERROR_MEMORY, "there is no memory for what the simulated NPU does.");
  }
}

static std::string joined(const std::vector<std::string> &lines, const char *separator) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : separator) + line;
  return text;
}

om_npu::om_npu(const om_npu_options &given)
    : hazards(given.check_hazards),
      maxInstructions(given.max_instructions ? given.max_instructions
                                             : uint64_t(Limits::MaxRunInstructions)) {
  options.functional = given.functional;
  options.timed = given.timed;
  options.prefetch = given.prefetch;
  options.maxSpans = given.max_spans;
  options.threads = given.threads;
  interface = {};
  interface.struct_size = sizeof(om_device);
  interface.user = this;
  interface.open = [](void *user, const char *soc, const char *table, void **opened,
                      om_error *error) {
    *opened = user;
    return guarded(error, [&] { return static_cast<om_npu *>(user)->open(soc, table, *error); });
  };
  interface.load = [](void *opened, const om_device_model *model, om_error *error) {
    return guarded(error, [&] { return static_cast<om_npu *>(opened)->load(*model, *error); });
  };
  interface.begin = [](void *opened, om_error *error) {
    return guarded(error, [&] {
      static_cast<om_npu *>(opened)->begin();
      return OM_OK;
    });
  };
  interface.launch = [](void *opened, const om_device_launch *launch, om_error *error) {
    return guarded(error, [&] { return static_cast<om_npu *>(opened)->launch(*launch, *error); });
  };
  interface.host = [](void *opened, uint32_t) { static_cast<om_npu *>(opened)->host(); };
  interface.gear = [](void *opened, const om_device_sizes *sizes) {
    // Where memory for this is missing, only what the last run left in L2 is lost; the launches are
    // not affected.
    guarded(nullptr, [&] {
      static_cast<om_npu *>(opened)->selectGear(*sizes);
      return OM_OK;
    });
  };
  interface.close = [](void *opened) { static_cast<om_npu *>(opened)->close(); };
}

bool om_npu::readOwnTable(const std::string &path, std::string &errorLines) {
  ownTable = std::make_unique<SocTable>();
  errorLines = joined(readSocFile(path, *ownTable), "; ");
  return errorLines.empty();
}

om_status om_npu::open(const char *soc, const char *table, om_error &error) {
  if (inUse)
    return fail(&error, OM_ERROR_ARGUMENT,
                "this simulated NPU is used by another session: each needs one of its own.");
  SocTable found;
  if (ownTable) {
    found = *ownTable;
  } else if (*table) {
    std::vector<std::string> errorLines = readSoc(table, "soc_table", found);
    if (!errorLines.empty())
      return fail(&error, OM_ERROR_CORRUPT,
                  "the file is damaged: its table of the NPU '" + std::string(soc) +
                      "' cannot be read: " + joined(errorLines, "; "));
  } else if (const SocTable *known = findSoc(soc)) {
    found = *known;
  } else {
    std::vector<std::string> names;
    for (const SocTable &other : allSocs())
      names.push_back(other.name);
    return fail(&error, OM_ERROR_UNSUPPORTED,
                "the model is compiled for the NPU '" + std::string(soc) +
                    "', which the simulator does not know (it knows " + joined(names, ", ") + ").");
  }
  device = std::make_unique<Device>(found, options);
  programs.clear();
  programNames.clear();
  ran.clear();
  codeBytes = 0;
  checked.clear();
  linesOfErrors.clear();
  hazardLines.clear();
  firstLaunch = timelineLaunches = 0;
  timelineFull = false;
  model = {};
  used.clear();
  residentWeights = 0;
  running = false;
  inUse = true;
  return OM_OK;
}

/// Returns a name for messages and reports; a file could make each as long as itself.
static std::string shortName(const char *name) {
  constexpr size_t kMaxName = 1024;
  return {name, strnlen(name, kMaxName)};
}

/// Finds instructions that write to arguments for which launches pass read-only memory: weights are
/// mapped from the file, inputs are the caller's.
static void findForbiddenWrites(const Program &program, const uint8_t *readOnly,
                                std::vector<std::string> &errors) {
  for (const Instruction &in : program.code) {
    if (errors.size() >= size_t(Limits::MaxErrors))
      return;
    Operand operands[4];
    for (unsigned i = 0, count = operandsOf(in, operands); i < count; ++i) {
      const Address &address = in.addresses[operands[i].address];
      if (operands[i].written && address.memory == Memory::GM && readOnly[address.argument])
        errors.push_back("instruction " + std::to_string(in.line) + " (" +
                         infoOf(in.opcode).mnemonic + "): writes to argument " +
                         std::to_string(address.argument) +
                         ", for which a launch gives weights or an input of the model");
    }
  }
}

/// Decodes one program and returns what is wrong with it.
std::vector<std::string> om_npu::check(const om_device_program &source, const uint8_t *readOnly,
                                       VerifyBudget &budget, Program &program) const {
  std::string errorText;
  if (!decode(static_cast<const uint8_t *>(source.code), source.code_bytes, program, errorText))
    return {errorText};
  // The description in the file was checked; the program must agree with it.
  if (program.arguments !=
      std::vector<uint64_t>(source.arguments, source.arguments + source.argument_count))
    return {"its buffers are not those that the file states"};
  std::vector<std::string> errors = verify(program, device->soc(), budget);
  if (errors.empty() && readOnly)
    findForbiddenWrites(program, readOnly, errors);
  return errors;
}

om_status om_npu::load(const om_device_model &given, om_error &error) {
  model = given;
  model.programs = nullptr; // these and the name are good during this call only
  model.read_only = nullptr;
  modelName = shortName(given.name);
  programs.resize(given.program_count);
  VerifyBudget budget;
  int64_t listed = 0;
  for (uint32_t i = 0; i < given.program_count; ++i) {
    const om_device_program &source = given.programs[i];
    programNames.push_back(shortName(source.name));
    codeBytes += source.code_bytes;
    if (listed == Limits::MaxErrors)
      continue;
    std::vector<std::string> errors =
        check(source, given.read_only ? given.read_only[i] : nullptr, budget, programs[i]);
    if (!errors.empty())
      programs[i] = Program(); // frees memory while the others are checked
    for (size_t e = 0; e < errors.size() && listed < Limits::MaxErrors; ++e, ++listed)
      linesOfErrors +=
          "program '" + printable(programNames[i]) + "': " + printable(errors[e]) + "\n";
  }
  if (linesOfErrors.empty())
    return OM_OK;
  std::string sentence =
      "the NPU programs cannot run on " + device->soc().name + ": " + linesOfErrors;
  sentence.pop_back();
  for (char &c : sentence)
    if (c == '\n')
      c = ';';
  return fail(&error, OM_ERROR_DEVICE, sentence);
}

/// The report is one of the runs of the gear that was used last.
void om_npu::selectGear(const om_device_sizes &sizes) {
  endRun();
  model.input_bytes = sizes.input_bytes;
  model.output_bytes = sizes.output_bytes;
  model.arena_bytes = sizes.arena_bytes;
  model.macs = sizes.macs;
  model.host_launches = sizes.host_launches;
  used.clear();
}

uint64_t om_npu::boundary() const {
  return OM_DEVICE_BASE + model.weights_bytes + model.arena_bytes;
}

void om_npu::endRun() {
  if (running)
    device->endRun(boundary());
  running = false;
}

void om_npu::begin() {
  endRun();
  // A timeline covers all runs as long as it has room for spans. Nothing else looks back further
  // than one run, so that many runs take no more memory than one.
  if (!timelineFull) {
    timelineLaunches = options.maxSpans ? ran.size() : 0;
    timelineFull = device->simulator().droppedSpans > 0;
  }
  device->forgetLaunches(timelineLaunches, kMaxRunLaunches);
  ran.resize(timelineLaunches);
  firstLaunch = ran.size();
  hostShare = {};
  residentWeights = device->residentBytes(OM_DEVICE_BASE, OM_DEVICE_BASE + model.weights_bytes);
  running = true;
  device->beginRun();
  device->allowInstructions(maxInstructions);
}

void om_npu::host() {
  device->endTask();
  hostShare.switches += ran.size() > firstLaunch && !hostRanLast;
  ++hostShare.kernels;
  hostRanLast = true;
}

/// From the launch `first` to the last one.
ReportInput om_npu::report(size_t first) const {
  ReportInput input;
  input.title = modelName;
  input.soc = &device->soc();
  input.simulator = &device->simulator();
  input.firstLaunch = first;
  input.launches.assign(ran.begin() + long(first), ran.end());
  input.modelMacs = model.macs;
  input.weightBytes = bytesUsed(OM_DEVICE_BASE, OM_DEVICE_BASE + model.weights_bytes);
  input.residentWeightBytes = std::min(residentWeights, input.weightBytes);
  input.boundaryBytes = bytesUsed(boundary(), UINT64_MAX);
  input.inputBytes = model.input_bytes;
  input.outputBytes = model.output_bytes;
  input.arenaBytes = model.arena_bytes;
  input.codeBytes = codeBytes;
  input.hostLaunches = model.host_launches;
  input.host = hostShare;
  return input;
}

om_status om_npu::launch(const om_device_launch &given, om_error &error) {
  hostShare.switches += hostShare.kernels > 0 && hostRanLast;
  hostRanLast = false;
  DeviceLaunch launch;
  launch.program = &programs[given.program];
  launch.name = shortName(given.name);
  launch.chained = given.chained;
  for (uint32_t i = 0; i < given.argument_count; ++i) {
    launch.data.push_back(static_cast<uint8_t *>(given.data[i]));
    launch.addresses.push_back(given.addresses[i]);
  }
  for (uint32_t i = 0; i < given.prefetch_count; ++i)
    launch.prefetch.push_back({given.prefetch[i].address, given.prefetch[i].bytes});
  if (hazards && checked.insert(given.index).second)
    checkHazards(launch, given.index);
  std::string errorText;
  if (!device->run(launch, errorText)) {
    while (!errorText.empty() && errorText.back() == '\n')
      errorText.pop_back();
    for (char &c : errorText)
      if (c == '\n')
        c = ';';
    return fail(&error, OM_ERROR_DEVICE, errorText);
  }
  noteUse(launch);
  for (const Layer &layer : launch.program->layers)
    noteRan({layer.name, layer.kernel, layer.macs});
  if (launch.program->layers.empty())
    noteRan({launch.name, programNames[given.program], given.macs});
  return OM_OK;
}

void om_npu::noteRan(ReportLaunch launch) {
  if (ran.size() < device->launchNames().size())
    ran.push_back(std::move(launch));
  else
    ran.back() = {kOtherLaunches, "", ran.back().macs + launch.macs};
}

/// Returns whether a program reads an argument only where indices say so: how much of it a run
/// needs depends on its data.
static bool isOnlyGathered(const Program &program, size_t argument) {
  bool isGathered = false;
  for (const Instruction &in : program.code) {
    Operand operands[4];
    for (unsigned i = 0, count = operandsOf(in, operands); i < count; ++i) {
      const Address &address = in.addresses[operands[i].address];
      if (address.memory != Memory::GM || address.argument != argument)
        continue;
      if (in.opcode != Opcode::GatherRows)
        return false;
      isGathered = true;
    }
  }
  return isGathered;
}

void om_npu::noteUse(const DeviceLaunch &launch) {
  for (size_t i = 0; i < launch.addresses.size(); ++i) {
    if (isOnlyGathered(*launch.program, i))
      continue;
    uint64_t begin = launch.addresses[i];
    uint64_t &end = used[begin];
    end = std::max(end, begin + launch.program->arguments[i]);
  }
}

/// Memory that only the host uses is no work of the NPU: a table from which it gathers rows, an
/// input that it reads.
uint64_t om_npu::bytesUsed(uint64_t begin, uint64_t end) const {
  uint64_t sum = 0;
  for (auto [usedFrom, usedTo] : used) {
    uint64_t first = std::max(usedFrom, begin), last = std::min(usedTo, end);
    sum += last > first ? last - first : 0;
    begin = std::max(begin, last);
  }
  return sum;
}

void om_npu::checkHazards(const DeviceLaunch &launch, uint32_t index) {
  Launch timed;
  timed.program = launch.program;
  timed.name = launch.name;
  timed.addresses = launch.addresses;
  for (const Hazard &hazard : HazardChecker(device->soc()).check(timed))
    hazardLines += "launch " + std::to_string(index) + " ('" + printable(launch.name) +
                   "'): " + hazard.text + "\n";
}

const char *om_npu::text(om_npu_text_kind kind) {
  std::string &result = answer[kind];
  if (device)
    endRun();
  switch (kind) {
  case OM_NPU_STATISTICS:
    result = device ? reportJson(report(firstLaunch)) : "{}";
    break;
  case OM_NPU_TIMELINE:
    result = device ? chromeTrace(device->soc(), device->simulator(), device->launchNames()) : "";
    break;
  case OM_NPU_REPORT:
    result = device ? htmlReport(report(firstLaunch)) : "";
    break;
  case OM_NPU_FAULTS:
    result = linesOfErrors;
    break;
  case OM_NPU_HAZARDS:
    result = hazardLines;
    break;
  }
  return result.c_str();
}

om_status om_npu_simulator(const om_npu_options *given, om_npu **npu, om_error *error) {
  if (!npu)
    return fail(error, OM_ERROR_ARGUMENT, "there is no place for the simulated NPU (null).");
  *npu = nullptr;
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  if (given)
    std::memcpy(&options, given, std::min(given->struct_size, sizeof(options)));
  return guarded(error, [&] {
    auto made = std::make_unique<om_npu>(options);
    std::string errorLines;
    if (options.soc_file && !made->readOwnTable(options.soc_file, errorLines))
      return fail(error, OM_ERROR_ARGUMENT, errorLines);
    *npu = made.release();
    return OM_OK;
  });
}

void om_npu_free(om_npu *npu) { delete npu; }

const om_device *om_npu_device(om_npu *npu) { return npu ? &npu->interface : nullptr; }

const char *om_npu_text(om_npu *npu, om_npu_text_kind kind) {
  const char *text = "";
  guarded(nullptr, [&] {
    text = npu && kind <= OM_NPU_HAZARDS ? npu->text(kind) : "";
    return OM_OK;
  });
  return text;
}
