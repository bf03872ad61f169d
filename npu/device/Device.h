//===-- Device.h - the NPU as a device that runs launches -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs launches one after the other on buffers of the host's memory: computes their results,
// simulates their time, or both. Results and times are the same in every run; results do not depend
// on the times.

#ifndef OPENATC_NPU_DEVICE_DEVICE_H
#define OPENATC_NPU_DEVICE_DEVICE_H

#include "npu/simulator/Execute.h"
#include "npu/simulator/Simulator.h"

#include <memory>
#include <set>

namespace atc::npu {

/// Options of a Device.
struct DeviceOptions {
  bool functional = true; ///< computes results
  bool timed = true;      ///< simulates time; otherwise only the order of instructions is kept
  bool hazards = false;   ///< finds accesses without an order between them
  size_t maxSpans = 0;    ///< maximum number of spans kept for timelines
  bool prefetch = true;   ///< the system DMA performs the prefetches of launches
  unsigned threads = 0;   ///< host threads that compute; 0: one per processor
};

/// A launch of a program with its buffers, which belong to the caller.
struct DeviceLaunch {
  const Program *program = nullptr; ///< has passed `verify`
  std::string name;
  std::vector<uint8_t *> data;     ///< host addresses of the gm arguments
  std::vector<uint64_t> addresses; ///< their addresses on the device
  bool chained = false; ///< continues the task of the launch before it: cores meet, no task start
  std::vector<Prefetch> prefetch; ///< gm to L2 in the background from this launch on
};

/// The name of the launch that stands for all those beyond the number that is kept.
inline constexpr const char *kOtherLaunches = "(other launches)";

/// A simulated NPU with its statistics.
class Device {
public:
  /// Makes a device of the SoC `soc`, with empty memories.
  Device(const SocTable &soc, const DeviceOptions &options);
  ~Device();
  /// Runs a launch. Returns false and sets `error` (one line per error) if the launch does not fit
  /// the device or cannot continue. Statistics are in `simulator()`.
  bool run(const DeviceLaunch &launch, std::string &error);

  /// Ends a task, as the host works before the next launch, which begins a task of its own. The
  /// host's time is not part of the simulated time.
  void endTask() { taskEnded = true; }

  /// Begins a run: its first launch also takes the time of the call that runs a model. The use of
  /// cores is that of the last run.
  void beginRun() {
    runBegins = true;
    timing->clearCores();
  }
  /// Ends a run whose inputs and outputs lie at device addresses from `boundary` on: the outputs
  /// are written back to DDR, and the inputs of the next run are not in L2.
  void endRun(uint64_t boundary) { timing->endRun(boundary); }
  /// Returns the bytes of the device addresses [address, end) that L2 holds, in whole lines.
  uint64_t residentBytes(uint64_t address, uint64_t end) {
    return timing->residentBytes(address, end);
  }

  /// Returns the hazards, one line each; with option `hazards` only. Each program is checked once.
  const std::vector<std::string> &hazards() const { return unordered; }

  /// Limits the number of instructions and loop iterations of all launches from here on; a launch
  /// that needs more fails. There is no limit before the first call.
  void allowInstructions(uint64_t count) { timing->stepsLeft = count; }

  /// Drops the statistics and names of all launches but the first `kept`, and keeps at most `more`
  /// (at least 1) of those that follow: the others are added to the last one.
  void forgetLaunches(size_t kept, size_t more);

  /// Clears the statistics and the contents of L2.
  void reset();

  const SocTable &soc() const { return table; }
  const DeviceOptions &options() const { return chosen; }
  /// Returns the simulator, which the device owns.
  const Simulator &simulator() const { return *timing; }
  /// Returns the names of the launches that are kept, of layers in the place of a launch that has
  /// them: one for each entry of simulator().launches().
  const std::vector<std::string> &launchNames() const { return names; }
  /// Returns the simulated time of all launches so far.
  double microseconds() const { return table.microseconds(timing->total().cycles); }

private:
  /// Names a launch or layer that the simulator has added.
  void addName(const std::string &name);
  class Executor;
  SocTable table;
  DeviceOptions chosen;
  std::unique_ptr<Simulator> timing;
  std::unique_ptr<Executor> executor;
  std::vector<std::string> names, unordered;
  std::set<const Program *> checked; ///< looked at for hazards
  bool taskEnded = true, runBegins = false;
};

} // namespace atc::npu

#endif
