//===-- Npu.cpp - the simulated NPU of om-run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Npu.h"

#include "support/OutputFile.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <sstream>

namespace atc::tools {

namespace {
/// Enough for the longest timeline that a browser shows.
constexpr uint64_t timelineSpans = 1000000;

std::vector<std::string> linesOf(const char *text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}
} // namespace

void addNpuOptions(CLI::App &app, NpuOptions &options) {
  const char *group = "Simulated NPU";
  app.add_option("--timeline", options.timeline,
                 "write when each launch ran, on an NPU each instruction, for chrome://tracing or "
                 "ui.perfetto.dev")
      ->type_name("FILE");
  app.add_option("--report", options.report, "write an HTML page on where the time went")
      ->type_name("FILE");
  app.add_flag("--check-hazards,--check_hazards", options.checkHazards,
               "look for accesses to the same bytes that nothing orders; exit code 1 if there are "
               "any")
      ->group(group);
  app.add_flag("--check-ranges,--check_ranges", options.checkRanges,
               "run once and list the layers that leave the range of f16 with these inputs; exit "
               "code 1 if there are any")
      ->group(group);
  app.add_flag("!--no-functional,!--no_functional", options.functional,
               "simulate times only: NPU launches compute nothing, and outputs have no meaning")
      ->group(group);
  app.add_flag("!--no-time,!--no_time", options.timed,
               "compute outputs only: the NPU's times are 0")
      ->group(group);
  app.add_flag("!--no-prefetch,!--no_prefetch", options.prefetch,
               "do not bring weights into L2 ahead of their launch")
      ->group(group);
  app.add_option("--soc-file,--soc_file", options.socFile,
                 "simulate the NPU of this table (key = value lines) instead of the model's")
      ->type_name("FILE")
      ->group(group);
}

bool Npu::create(const NpuOptions &chosen, std::string &errorText) {
  om_npu_options options = OM_NPU_OPTIONS_INIT;
  options.functional = chosen.functional;
  options.timed = chosen.timed;
  options.check_hazards = chosen.checkHazards;
  options.prefetch = chosen.prefetch;
  options.max_spans = chosen.timeline.empty() && chosen.report.empty() ? 0 : timelineSpans;
  options.soc_file = chosen.socFile.empty() ? nullptr : chosen.socFile.c_str();
  om_npu *npu = nullptr;
  om_error error = {OM_OK, ""};
  if (om_npu_simulator(&options, &npu, &error) != OM_OK) {
    errorText = error.message;
    return false;
  }
  handle.reset(npu);
  makeClocked();
  return true;
}

/// Makes the device that the session uses: it forwards calls to the simulator and measures their
/// time.
void Npu::makeClocked() {
  static constexpr auto inner = [](const Npu &npu) { return om_npu_device(npu.handle.get()); };
  clocked = *inner(*this);
  clocked.user = this;
  clocked.open = [](void *user, const char *soc, const char *table, void **opened,
                    om_error *error) {
    auto *self = static_cast<Npu *>(user);
    *opened = self;
    return inner(*self)->open(inner(*self)->user, soc, table, &self->opened, error);
  };
  clocked.load = [](void *opened, const om_device_model *model, om_error *error) {
    auto *self = static_cast<Npu *>(opened);
    return inner(*self)->load(self->opened, model, error);
  };
  clocked.begin = [](void *opened, om_error *error) {
    auto *self = static_cast<Npu *>(opened);
    self->simulation = 0;
    return inner(*self)->begin(self->opened, error);
  };
  clocked.launch = [](void *opened, const om_device_launch *launch, om_error *error) {
    auto *self = static_cast<Npu *>(opened);
    const auto begin = std::chrono::steady_clock::now();
    const om_status status = inner(*self)->launch(self->opened, launch, error);
    self->simulation +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return status;
  };
  clocked.gear = [](void *opened, const om_device_sizes *sizes) {
    Npu *self = static_cast<Npu *>(opened);
    inner(*self)->gear(self->opened, sizes);
  };
  clocked.host = [](void *opened, uint32_t index) {
    auto *self = static_cast<Npu *>(opened);
    inner(*self)->host(self->opened, index);
  };
  clocked.close = [](void *opened) {
    auto *self = static_cast<Npu *>(opened);
    inner(*self)->close(self->opened);
  };
}

std::vector<std::string> Npu::errorLines() const {
  return linesOf(om_npu_text(handle.get(), OM_NPU_FAULTS));
}

std::vector<std::string> Npu::hazards() const {
  std::vector<std::string> lines = linesOf(om_npu_text(handle.get(), OM_NPU_HAZARDS));
  for (std::string &line : lines)
    line = "E19999: hazard in " + line;
  return lines;
}

bool Npu::writeFiles(const NpuOptions &options, std::vector<std::string> &errorLines) const {
  auto write = [&](const std::string &path, om_npu_text_kind kind) {
    if (path.empty())
      return;
    std::string errorText;
    if (!writeWholeFile(path, om_npu_text(handle.get(), kind), errorText))
      errorLines.push_back(errorText);
  };
  write(options.timeline, OM_NPU_TIMELINE);
  write(options.report, OM_NPU_REPORT);
  return errorLines.empty();
}

} // namespace atc::tools
