//===-- ReportParts.h - what the files of Report share ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_REPORTPARTS_H
#define OPENATC_NPU_REPORT_REPORTPARTS_H

#include "npu/report/Report.h"

namespace atc::npu {

/// A run added up.
struct Figures {
  explicit Figures(const ReportInput &input);
  std::string nameOf(const ReportInput &input, size_t launch) const;
  double coresOf(unsigned queue) const; ///< cores of the part that have this queue
  double stallOf(unsigned queue) const; ///< cycles in which it waited for others

  const SocTable &soc;
  const std::vector<Statistics> &launches;
  size_t first;
  Statistics run;
  double origin = 0, end = 0; ///< of the run, in cycles since the first launch
  double vectorCycles = 0;    ///< of launches on vector cores
  uint64_t kernelMacs = 0;
};

/// What the times do not hold.
std::string hostSentence(const ReportInput &input);

/// The spans of a run, put together until no more than `most` are left:
/// `{"quantum": cycles, "kinds": [...], "rows": [{"name", "core", "items": [...]}]}`
/// with five numbers an item: begin after the item before, length, kind, line,
/// number of spans.
std::string timelineJson(const ReportInput &input, const Figures &figures, size_t most);

/// The page around the figures; `@NAME@` stands where something is put in.
extern const char *const kReportPage;

} // namespace atc::npu

#endif
