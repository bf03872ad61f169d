//===-- ReportParts.h - shared by the files of Report -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_REPORTPARTS_H
#define OPENATC_NPU_REPORT_REPORTPARTS_H

#include "npu/report/Report.h"

namespace atc::npu {

/// The totals of a run.
struct Figures {
  explicit Figures(const ReportInput &input);
  /// Returns the name of a launch, for tables.
  std::string nameOf(const ReportInput &input, size_t launch) const;
  /// Returns the name of its program; "" where it is not known.
  std::string programOf(const ReportInput &input, size_t launch) const;
  /// Returns the number of launches of the run, in which layers that became one launch count once.
  uint64_t launchCount() const { return launches.size() - first - joinedLayers; }
  double coresOf(unsigned queue) const; ///< number of cores that have this queue
  double stallOf(unsigned queue) const; ///< cycles in which it waited for other queues

  const SocTable &soc;
  const std::vector<Statistics> &launches;
  size_t first;
  Statistics run;
  double origin = 0, end = 0; ///< of the run, in cycles since the first launch
  uint64_t kernelMacs = 0;
  size_t joinedLayers = 0; ///< rows of `launches` beyond the first one of their launch
};

/// Returns a sentence about the work that the simulated time does not include.
std::string hostSentence(const ReportInput &input);

/// Returns the spans of a run as JSON, merged until no more than `max` are left: `{"quantum":
/// cycles, "kinds": [...], "rows": [{"name", "core", "items": [...]}]}` with five values per item:
/// begin after the previous item, length, kind, line, number of spans.
std::string timelineJson(const ReportInput &input, const Figures &figures, size_t max);

/// The page around the figures; `@NAME@` marks a placeholder.
extern const char *const kReportPage;

} // namespace atc::npu

#endif
