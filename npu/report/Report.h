//===-- Report.h - explains the time of a run -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_REPORT_REPORT_H
#define OPENATC_NPU_REPORT_REPORT_H

#include "npu/simulator/Simulator.h"

namespace atc::npu {

/// Facts about a launch that the simulator does not have.
struct ReportLaunch {
  std::string name, program;
  uint64_t macs = 0; ///< of the layer, without the padding of tiles
};

/// The host's part of a run.
struct HostShare {
  uint64_t kernels = 0;  ///< launches of the CPU and calls of host kernels
  uint64_t switches = 0; ///< from the NPU to the host or back
};

/// A run with its facts. Values that are 0 are not shown.
struct ReportInput {
  std::string title; ///< the model's name
  const SocTable *soc = nullptr;
  const Simulator *simulator = nullptr;
  size_t firstLaunch = 0;             ///< the run extends from here to the last launch
  std::vector<ReportLaunch> launches; ///< of the run
  uint64_t modelMacs = 0;             ///< including those that the host computes
  uint64_t weightBytes = 0, inputBytes = 0, outputBytes = 0, arenaBytes = 0, codeBytes = 0;
  uint64_t residentWeightBytes = 0; ///< of `weightBytes`, those that L2 held when the run began
  uint64_t boundaryBytes = 0;       ///< of inputs and outputs, those that launches use
  uint64_t hostLaunches = 0;        ///< kernels of the model that are the host's
  HostShare host;                   ///< of the run
};

/// The lower bound of a run's time, which no program beats: the larger of its multiply-accumulates
/// at the cube's peak rate, and of passing all external data through DDR once: inputs and outputs,
/// and the weights that L2 did not hold from the run before.
struct Roofline {
  double cube = 0, ddr = 0; ///< microseconds
  double time = 0;          ///< time of the run in microseconds
  /// Returns the microseconds that the busier of both needs.
  double bound() const { return cube > ddr ? cube : ddr; }
  /// Returns the run's time over the bound.
  double times() const { return bound() > 0 ? time / bound() : 0; }
};
/// Computes the roofline of a run.
Roofline rooflineOf(const ReportInput &input);

/// A kind of resource and the share of the time in which it was busy.
struct Use {
  const char *name;
  double share;
};
/// Returns the utilization of the queues and of the channels of L2 and DDR, for a launch or a run.
std::vector<Use> usesOf(const SocTable &soc, const Statistics &statistics);
/// Returns what a launch is bound by: the busiest resource, "start" where most of the time is
/// launch overhead, "waits" where nothing is busy half of the time.
const char *boundOf(const SocTable &soc, const Statistics &statistics);

/// Returns the figures of a run as JSON.
std::string reportJson(const ReportInput &input);
/// Returns a self-contained HTML page: roofline, utilization of queues, stalls, timeline, layers,
/// memories.
std::string htmlReport(const ReportInput &input);

} // namespace atc::npu

#endif
