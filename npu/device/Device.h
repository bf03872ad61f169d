//===-- Device.h - the NPU as a device that runs launches -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs launches one after the other on buffers of the host's memory: what they
// compute, what time they take, or both. Results and times are the same in every
// run; results do not depend on the times.

#ifndef OPENATC_NPU_DEVICE_DEVICE_H
#define OPENATC_NPU_DEVICE_DEVICE_H

#include "npu/simulator/Execute.h"
#include "npu/simulator/Simulator.h"

#include <memory>
#include <set>

namespace atc::npu {

struct DeviceOptions {
  bool functional = true; ///< computes results
  bool timed = true;      ///< reckons with time; without, only the order is kept
  bool hazards = false;   ///< looks for accesses that nothing orders
  size_t maxSpans = 0;    ///< kept for timelines
  bool prefetch = true;   ///< the DMA brings what launches name
  unsigned threads = 0;   ///< of the host that compute, 0: as many as it has cores
};

struct DeviceLaunch {
  const Program *program = nullptr; ///< passed by `verify`
  std::string name;
  std::vector<uint8_t *> data;     ///< the gm arguments in the host's memory
  std::vector<uint64_t> addresses; ///< ... and where they lie on the device
  bool chained = false; ///< continues the task of the launch before it: cores meet, no task start
  std::vector<Prefetch> prefetch; ///< gm to L2 in the background from this launch on
};

class Device {
public:
  Device(const SocTable &soc, const DeviceOptions &options);
  ~Device();
  /// False with `error` (one line a fault) if the launch does not fit the device
  /// or cannot go on. Statistics are in `simulator()`.
  bool run(const DeviceLaunch &launch, std::string &error);

  /// The host worked so long between two launches. It is no part of the time;
  /// but the launch that follows begins a task.
  void hostTime(double microseconds);
  double hostMicroseconds() const { return host; }

  /// With option `hazards`: one line each, every program is looked at once.
  const std::vector<std::string> &hazards() const { return unordered; }

  /// Limits how many instructions and loop rounds all launches from here on may run;
  /// a launch that needs more fails. There is no limit before the first call.
  void allowInstructions(uint64_t count) { timing->stepsLeft = count; }

  /// Forgets what was run and what L2 holds.
  void reset();

  const SocTable &soc() const { return table; }
  const DeviceOptions &options() const { return chosen; }
  const Simulator &simulator() const { return *timing; }
  /// Of each launch so far.
  const std::vector<std::string> &launchNames() const { return names; }
  double microseconds() const { return table.microseconds(timing->total().cycles); }

private:
  class Executor;
  SocTable table;
  DeviceOptions chosen;
  std::unique_ptr<Simulator> timing;
  std::unique_ptr<Executor> executor;
  std::vector<std::string> names, unordered;
  std::set<const Program *> checked; ///< looked at for hazards
  double host = 0;
  bool taskEnded = true;
};

} // namespace atc::npu

#endif
