//===-- Trace.h - a run as a timeline ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_TRACE_H
#define OPENATC_NPU_REPORT_TRACE_H

#include "npu/simulator/Simulator.h"

namespace atc::npu {

/// Returns a run in Chrome's trace format (also Perfetto's): a process per core, a row per queue,
/// and the launches in a row on top. Says if spans were left out.
std::string chromeTrace(const SocTable &soc, const Simulator &simulator,
                        const std::vector<std::string> &launchNames);

} // namespace atc::npu

#endif
