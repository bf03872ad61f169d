//===-- Report.h - where the time of a run went -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_REPORT_H
#define OPENATC_NPU_REPORT_REPORT_H

#include "npu/simulator/Simulator.h"

namespace atc::npu {

/// What the simulator does not know of a launch.
struct ReportLaunch {
  std::string name, program;
  uint64_t macs = 0; ///< that the layer asks for, without what tiles add
};

/// What the host did in a run.
struct HostShare {
  uint64_t kernels = 0;  ///< launches of the CPU and calls of host kernels
  uint64_t switches = 0; ///< from the NPU to the host or back
};

/// A run and what belongs to it. What is left at 0 is not shown.
struct ReportInput {
  std::string title; ///< the model's name
  const SocTable *soc = nullptr;
  const Simulator *simulator = nullptr;
  size_t firstLaunch = 0;             ///< the run goes from here to the last launch
  std::vector<ReportLaunch> launches; ///< of the run
  uint64_t modelMacs = 0;             ///< with those that the host computes
  uint64_t weightBytes = 0, inputBytes = 0, outputBytes = 0, arenaBytes = 0, codeBytes = 0;
  uint64_t hostLaunches = 0; ///< kernels of the model that are the host's
  HostShare host;            ///< of the run
};

/// No run can be faster than its products at the cube's rate, or than bringing
/// what comes from outside once.
struct Roofline {
  double cube = 0, ddr = 0; ///< microseconds
  double time = 0;          ///< that the run took
  double bound() const { return cube > ddr ? cube : ddr; }
  double times() const { return bound() > 0 ? time / bound() : 0; }
};
Roofline rooflineOf(const ReportInput &input);

/// One kind of resource and the share of the time that it was busy.
struct Use {
  const char *name;
  double share;
};
/// Of one launch or a run: the queues, and the channels of L2 and DDR.
std::vector<Use> usesOf(const SocTable &soc, const Statistics &statistics);
/// What a launch is bound by: the busiest resource, "start" where most of the
/// time is the launch itself, "waits" where nothing is busy half of the time.
const char *boundOf(const SocTable &soc, const Statistics &statistics);

/// The figures, for programs.
std::string reportJson(const ReportInput &input);
/// A page for people, which needs no network: roofline, use of queues, stalls,
/// timeline, layers, memories.
std::string htmlReport(const ReportInput &input);

} // namespace atc::npu

#endif
