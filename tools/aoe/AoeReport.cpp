//===-- AoeReport.cpp - what a tuning has gained --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/aoe/AoeReport.h"

#include "openatc/om.h"
#include "support/JsonText.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace atc::tools {

using Json = nlohmann::ordered_json;

double improvementPercent(const tuning::Search &search) {
  const double before = search.untuned().cycles;
  return before > 0 ? 100 * (before - search.best().cycles) / before : 0;
}

/// Returns the time of each operator, in microseconds, in the order of their first launches.
static std::vector<std::pair<std::string, double>> timesOf(const tuning::TrialResult &result) {
  std::vector<std::pair<std::string, double>> times;
  std::map<std::string, size_t> known;
  const double micros = result.cycles > 0 ? 1000 * result.milliseconds / result.cycles : 0;
  for (const tuning::LaunchTime &launch : result.launches) {
    auto [entry, isNew] = known.try_emplace(launch.name, times.size());
    if (isNew)
      times.emplace_back(launch.name, 0);
    times[entry->second].second += launch.cycles * micros;
  }
  return times;
}

/// Returns the number of launches, of which each may be several kernels.
static size_t launchCount(const tuning::TrialResult &result) {
  return size_t(std::count_if(result.launches.begin(), result.launches.end(),
                              [](const tuning::LaunchTime &launch) { return !launch.joined; }));
}

Json aoeReport(const AoeOptions &options, const tuning::Search &search) {
  const tuning::TrialResult &before = search.untuned(), &after = search.best();
  Json report = {{"model", options.compile.compiler.source.path},
                 {"soc_version", options.target},
                 {"job_type", options.budget.tuneGroups && options.budget.tuneTiles ? "1,2"
                              : options.budget.tuneTiles                            ? "2"
                                                                                    : "1"},
                 {"compiler", om_version()},
                 {"bank", options.bank},
                 {"output", options.compile.outputFile},
                 {"seed", options.budget.seed},
                 {"trials", search.trials()},
                 {"seconds", search.seconds()},
                 {"before_cycles", before.cycles},
                 {"after_cycles", after.cycles},
                 {"before_ms", before.milliseconds},
                 {"after_ms", after.milliseconds},
                 {"gain", after.cycles > 0 ? before.cycles / after.cycles : 1},
                 {"improvement_percent", improvementPercent(search)},
                 {"before_launches", launchCount(before)},
                 {"after_launches", launchCount(after)},
                 {"choices", Json::object()},
                 {"operators", Json::array()}};
  for (const auto &[key, choice] : search.tuned())
    report["choices"][key] = choice;
  std::map<std::string, double> tuned;
  for (const auto &[name, time] : timesOf(search.kernelTimes()))
    tuned[name] = time;
  for (const auto &[name, time] : timesOf(search.untunedKernelTimes())) {
    auto found = tuned.find(name);
    report["operators"].push_back(
        {{"name", name},
         {"before_us", time},
         {"after_us", found == tuned.end() ? Json() : Json(found->second)}});
  }
  return report;
}

std::string aoeCpuReport(const AoeOptions &options, const tuning::CpuTuning &tuning) {
  Json report = {{"model", options.compile.compiler.source.path},
                 {"target", options.target},
                 {"compiler", om_version()},
                 {"bank", options.bank},
                 {"output", options.compile.outputFile},
                 {"seed", options.budget.seed},
                 {"trials", tuning.trials},
                 {"seconds", tuning.seconds},
                 {"runs", tuning.runs},
                 {"before_ms", tuning.beforeMs},
                 {"after_ms", tuning.afterMs},
                 {"gain", tuning.gain()},
                 {"choices", Json::object()}};
  for (const auto &[key, kept] : tuning.kept)
    report["choices"][key] = {{"choice", kept.choice},
                              {"before_us", kept.before * 1e-3},
                              {"after_us", kept.after * 1e-3}};
  return jsonText(report);
}

} // namespace atc::tools
