//===-- Simulated.cpp - one file on the simulated NPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/npu-sim/Simulated.h"

#include "driver/simulate/ProgramSimulation.h"
#include "openatc/npu.h"
#include "openatc/om.h"
#include "support/InputText.h"
#include "support/OutputFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <memory>

namespace atc::tools {

namespace {

constexpr uint64_t maxSpans = 1000000;

struct Free {
  void operator()(om_model *model) const { om_model_free(model); }
  void operator()(om_npu *npu) const { om_npu_free(npu); }
  void operator()(om_session *session) const { om_session_free(session); }
  void operator()(void *memory) const { std::free(memory); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

/// Returns zeros of a size in bytes, aligned as a session wants it; null where there is no memory.
Owned<void> zeros(uint64_t bytes) {
  const uint64_t size = (bytes / OM_ALIGNMENT + 1) * OM_ALIGNMENT;
  void *memory = std::aligned_alloc(OM_ALIGNMENT, size);
  if (memory)
    std::memset(memory, 0, size);
  return Owned<void>(memory);
}

/// A compiled model on the simulated NPU.
class ModelRun {
public:
  ModelRun(const std::string &file, const SimOptions &options, Diagnostics &diagnostics)
      : file(file), options(options), diagnostics(diagnostics) {}

  std::optional<Simulated> run() {
    std::string table = options.socFile;
    if (!options.soc.empty() && table.empty() && !writeTable(table))
      return std::nullopt;
    const bool done = open(table) && runAll();
    if (table != options.socFile)
      (void)llvm::sys::fs::remove(table);
    if (!done)
      return std::nullopt;
    Simulated result;
    result.file = file;
    result.figures = nlohmann::ordered_json::parse(om_npu_text(npu.get(), OM_NPU_STATISTICS));
    if (!options.report.empty())
      result.html = om_npu_text(npu.get(), OM_NPU_REPORT);
    if (!options.timeline.empty())
      result.timeline = om_npu_text(npu.get(), OM_NPU_TIMELINE);
    llvm::StringRef rest = om_npu_text(npu.get(), OM_NPU_HAZARDS);
    while (!rest.empty()) {
      auto [line, others] = rest.split('\n');
      result.hazards.push_back(line.str());
      rest = others;
    }
    return result;
  }

private:
  bool fail(ErrorCode code) {
    diagnostics.error(code, "'" + file + "': " + error.message);
    return false;
  }

  /// Writes a table that is the named one, for the simulator, which reads files.
  bool writeTable(std::string &path) {
    llvm::SmallString<128> name;
    std::string reason;
    if (llvm::sys::fs::createTemporaryFile("npu-sim", "soc", name) ||
        !writeWholeFile(std::string(name), "base = " + options.soc + "\n", reason)) {
      diagnostics.error("E13004", "a temporary file for the table of the SoC cannot be written.");
      return false;
    }
    path = std::string(name);
    return true;
  }

  bool open(const std::string &table) {
    om_npu_options chosen = OM_NPU_OPTIONS_INIT;
    chosen.functional = 0;
    chosen.check_hazards = options.checkHazards;
    chosen.max_spans = options.report.empty() && options.timeline.empty() ? 0 : maxSpans;
    chosen.soc_file = table.empty() ? nullptr : table.c_str();
    om_model *loaded = nullptr;
    if (om_model_load_file(file.c_str(), nullptr, &loaded, &error) != OM_OK)
      return fail("E13005");
    model.reset(loaded);
    om_npu *made = nullptr;
    if (om_npu_simulator(&chosen, &made, &error) != OM_OK)
      return fail("E10001");
    npu.reset(made);
    om_model_info info = OM_MODEL_INFO_INIT;
    if (om_model_get_info(model.get(), &info) != OM_OK || !info.npu_bytes) {
      diagnostics.error("E10001", "'" + file +
                                      "' has no program of an NPU: compile it with "
                                      "--soc_version.");
      return false;
    }
    om_session_options with = OM_SESSION_OPTIONS_INIT;
    with.device = om_npu_device(npu.get());
    om_session *created = nullptr;
    if (om_session_create(model.get(), &with, &created, &error) != OM_OK)
      return fail("E14001");
    session.reset(created);
    return true;
  }

  bool runAll() {
    om_model_info info = OM_MODEL_INFO_INIT;
    if (om_model_get_info(model.get(), &info) != OM_OK)
      return fail("E13005");
    std::vector<Owned<void>> memory;
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    for (bool isInput : {true, false})
      for (uint32_t i = 0, count = isInput ? info.inputs : info.outputs; i < count; ++i) {
        om_tensor_info tensor = OM_TENSOR_INFO_INIT;
        if ((isInput ? om_model_get_input : om_model_get_output)(model.get(), i, &tensor) !=
                OM_OK ||
            !tensor.bytes) {
          diagnostics.error("E10001", "'" + file +
                                          "' has inputs or outputs of dynamic size: simulate it "
                                          "with om-run.");
          return false;
        }
        memory.push_back(zeros(tensor.bytes));
        if (!memory.back()) {
          diagnostics.error("E19001", "there is no memory for the tensors of '" + file + "'.");
          return false;
        }
        if (isInput)
          inputs.push_back(memory.back().get());
        else
          outputs.push_back(memory.back().get());
      }
    for (unsigned i = 0; i <= options.warmup; ++i)
      if (om_session_run(session.get(), inputs.data(), outputs.data(), &error) != OM_OK)
        return fail("E14001");
    return true;
  }

  const std::string &file;
  const SimOptions &options;
  Diagnostics &diagnostics;
  om_error error = {OM_OK, ""};
  Owned<om_model> model;
  Owned<om_npu> npu;
  Owned<om_session> session; // freed before its device
};

} // namespace

std::optional<Simulated> simulateFile(const std::string &file, const SimOptions &options,
                                      Diagnostics &diagnostics) {
  if (llvm::StringRef(file).ends_with_insensitive(".om"))
    return ModelRun(file, options, diagnostics).run();
  driver::SimulationRequest request;
  if (const std::string reason = readInputText(file, request.text); !reason.empty()) {
    diagnostics.error("E10410", "the file '" + file + "' cannot be read: " + reason + ".");
    return std::nullopt;
  }
  request.name = file;
  request.soc = options.soc;
  request.socFile = options.socFile;
  request.schedule = options.schedule;
  request.checkHazards = options.checkHazards;
  request.warmup = options.warmup;
  request.html = !options.report.empty();
  request.timeline = !options.timeline.empty();
  std::optional<driver::SimulationResult> result = driver::simulatePrograms(request, diagnostics);
  if (!result)
    return std::nullopt;
  return Simulated{file, nlohmann::ordered_json::parse(result->json), std::move(result->html),
                   std::move(result->timeline), std::move(result->hazards)};
}

} // namespace atc::tools
