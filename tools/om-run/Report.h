//===-- Report.h - prints measurements as tables or JSON ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_REPORT_H
#define OPENATC_TOOLS_OMRUN_REPORT_H

#include "tools/om-run/ValueFiles.h"

#include <string>
#include <vector>

namespace atc::tools {

/// The mean of one launch over the profiled runs.
struct ProfileRow {
  std::string name, kernel;
  double microseconds, share, gflops;
};

/// The measurements of om-run.
struct Report {
  std::string path;
  uint32_t threads = 0;
  double loadMs = 0, firstRunMs = 0;
  double hostMs = 0; ///< of the run that the figures of the NPU are about, without the simulation
  std::vector<double> latenciesMs;
  bool isFirstRun = false;  ///< they are of the first run alone
  double runsPerSecond = 0; ///< of all sessions together; 0 where only one run was measured
  uint32_t sessions = 1;
  std::vector<std::string> labels = {}; ///< of --labels; empty without
  std::vector<ProfileRow> profile;
  std::vector<NamedTensor> outputs; ///< of the last run
  std::vector<int64_t> gear = {};   ///< values of the gear of the last run; empty: no gears
};

/// Returns whether an output has a value per label, of a type whose values can be read.
bool isLabelled(const NamedTensor &output, const std::vector<std::string> &labels);

/// Returns the mean times of the launches of a profiled session; in a model with gears, of the
/// session's gear.
std::vector<ProfileRow> readProfile(const om::Model &model, const om::Session &session,
                                    const om::Gears &gears);

/// Prints a line about an output: its type, its range, its largest elements; and those with their
/// labels where it has a label per element.
void printOutput(const NamedTensor &output, const std::vector<std::string> &labels = {});

/// Print a report; `npu` is the JSON of om_npu_text, "" without an NPU. The host's time is the time
/// of a run on this machine without the simulation.
void printJson(const Report &report, const om::Model &model, const std::string &npu);
void printTables(const Report &report, const om::Model &model, const std::string &npu);

} // namespace atc::tools

#endif
