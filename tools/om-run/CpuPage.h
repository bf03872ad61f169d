//===-- CpuPage.h - files on where the time of a run on the CPU went ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_CPUPAGE_H
#define OPENATC_TOOLS_OMRUN_CPUPAGE_H

#include "tools/om-run/Report.h"

#include <string>
#include <vector>

namespace atc::tools {

/// The time of one launch in a run, in microseconds from the begin of the run.
struct LaunchSpan {
  std::string name, kernel;
  double begin, end;
};

/// Returns an HTML page with the latencies of `report` and a bar per launch of its profile.
std::string cpuReportPage(const Report &report, const om::Model &model);

/// Returns the launches of a run as JSON for chrome://tracing or ui.perfetto.dev.
std::string cpuTimelineJson(const std::vector<LaunchSpan> &spans);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_CPUPAGE_H
