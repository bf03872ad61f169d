//===-- Simulator.h - simulates launches and their time ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event-driven simulation of all cores of a launch: the scalar unit walks the program and fills
// the queues, queues run in order and in parallel, flags, barriers and signals are respected, and
// L2 and DDR are shared. Results are deterministic. See docs/npu-simulator.md.

#ifndef OPENATC_NPU_SIMULATOR_SIMULATOR_H
#define OPENATC_NPU_SIMULATOR_SIMULATOR_H

#include "npu/isa/Isa.h"
#include "npu/simulator/SharedMemory.h"

#include <algorithm>
#include <string>

namespace atc::npu {

namespace machine {
class Machine;
}

/// A program with its arguments.
struct Launch {
  const Program *program = nullptr;
  std::string name;
  std::vector<uint64_t> addresses;     ///< device addresses of the gm arguments, for L2
  std::vector<uint8_t> bypassL2;       ///< per argument, may be shorter
  bool chained = false;                ///< continues the task of the launch before it
  std::vector<Prefetch> prefetch = {}; ///< prefetches that start with the launch
  bool beginsRun = false;              ///< the first launch after the call that runs a model
};

/// Is called with each instruction that runs, in an order that all queues, flags, barriers and
/// signals allow.
class Observer {
public:
  virtual ~Observer() = default;
  /// Handles the next instruction of `core`, whose loop indices are in `frame`.
  virtual void execute(unsigned core, const Instruction &instruction, const Frame &frame) = 0;
};

/// The reasons for which a queue waits.
enum class Stall : uint8_t { None, Flag, Barrier, Signal, QueueFull };
constexpr unsigned kStalls = 5;

/// An interval in which an instruction runs or, with a `stall`, a queue waits for one.
struct TimeSpan {
  uint32_t launch, line; ///< the index in launches(), and in the program
  uint16_t core;         ///< among those of its kind
  Queue queue;
  Opcode opcode;
  Stall stall;
  Queue other;               ///< the queue that sets the flag, or whose queue is full
  double start, end;         ///< cycles since the first launch
  double delayed;            ///< cycles lost to moves of others
  bool onVectorCore = false; ///< the core is a vector core of a SoC that has them apart
};

/// The statistics of one launch or, summed up, of several. Cycles of queues are summed over cores.
struct Statistics {
  double cycles = 0;
  double startCycles = 0; ///< of `cycles`, before the first instruction
  /// `cycles`, but that layers of one launch that run at the same time share those cycles in
  /// `cycles`, while here each has them all.
  double activeCycles = 0;
  uint64_t instructions = 0, macs = 0, coreCount = 0;
  uint64_t cubeCores = 0, vectorCores = 0; ///< of coreCount; vector cores where they are apart
  bool chained = false;                    ///< of one launch
  bool joined = false;                     ///< a layer of the launch before it in the list
  double cubeCycles = 0;                   ///< of the MACs at the cube's peak rate
  double busy[kQueues] = {};
  double flagStall[kQueues][kQueues] = {}; ///< [from][to]: `to` had nothing else to do
  double barrierStall[kQueues] = {}, signalStall[kQueues] = {};
  double queueFull[kQueues] = {};            ///< the scalar unit waited for this queue
  double bandwidthStall = 0;                 ///< moves to and from gm waited for moves of others
  double tailStall = 0;                      ///< cores waited for the last one at the end
  uint64_t bytes[kMemories][kMemories] = {}; ///< [source][destination]
  uint64_t localBytes[kMemories] = {};       ///< highest address used in each local memory
  uint64_t l2Hit = 0, l2Missed = 0, l2Evicted = 0, bypassed = 0; ///< bytes
  uint64_t prefetched = 0, l2Read = 0, l2Written = 0, ddrRead = 0, ddrWritten = 0;
  /// Adds the counts and cycles of another run.
  void add(const Statistics &other);
};

/// The use of one core in all launches since clearCores(), in cycles.
struct CoreStatistics {
  uint64_t instructions = 0;
  double busy[kQueues] = {};
  double waits[kQueues] = {}; ///< for flags, barriers and signals
};

/// Simulates launches one after the other on one SoC.
class Simulator {
public:
  explicit Simulator(const SocTable &soc) : soc(soc), memory(soc) {}
  /// Runs a launch, whose program has passed `verify`, after the previous ones. A program with
  /// layers adds the statistics of each of them to launches(), as if it were a launch of its own.
  /// Returns false with `error` (one line per error) if cores wait for each other, or if the launch
  /// does not fit the SoC or needs more than `stepsLeft` or `bytesLeft`; other launches can still
  /// be run afterwards.
  bool run(const Launch &launch, std::string &error);

  /// Ends a run: the results in gm of addresses from `boundary` on are written back from L2 to DDR,
  /// which the last launch is charged with, and L2 forgets all memory from there on, since the host
  /// uses it next.
  void endRun(uint64_t boundary);
  /// Returns the bytes of gm in [address, end) that L2 holds, in whole lines.
  uint64_t residentBytes(uint64_t address, uint64_t end) {
    return memory.residentBytes(address, end);
  }

  /// Returns the statistics of the launches that are kept, in their order; those of a launch with
  /// layers are one after the other.
  const std::vector<Statistics> &launches() const { return perLaunch; }
  /// Returns the sum over all launches, whether they are kept or not.
  const Statistics &total() const { return sum; }

  /// Returns the use of each core that a launch ran on: the cube cores, and from
  /// `soc.cubeCores` on the vector cores of a SoC that has them apart.
  const std::vector<CoreStatistics> &cores() const { return perCore; }
  /// Forgets the use of the cores.
  void clearCores() { perCore.clear(); }

  /// Drops the statistics of all launches but the first `kept`. The sum, the clock and the contents
  /// of L2 stay.
  void forgetLaunches(size_t kept) { perLaunch.resize(std::min(kept, perLaunch.size())); }
  /// The maximum number of launches to keep, at least 1: those beyond it are added to the last one.
  size_t maxLaunches = SIZE_MAX;

  /// The number of instructions and loop iterations of all cores that may still run; a launch that
  /// needs more ends with an error.
  uint64_t stepsLeft = UINT64_MAX;
  /// The number of bytes of gm that moves and prefetches may still touch; a launch that needs as
  /// many or more ends with an error. A run of bytes counts as a line of L2 at least: that is what
  /// simulating it takes.
  uint64_t bytesLeft = UINT64_MAX;

  /// Receives all instructions; may be null.
  Observer *observer = nullptr;
  /// False: everything takes no cycles, and only the order is kept.
  bool timed = true;
  /// The maximum number of spans to keep for timelines; the rest is counted.
  size_t maxSpans = 0;
  std::vector<TimeSpan> spans;
  uint64_t droppedSpans = 0;

private:
  friend class machine::Machine;
  SocTable soc;
  SharedMemory memory;
  /// Adds the statistics of a launch or layer to those that are kept.
  void keep(const Statistics &statistics);

  std::vector<CoreStatistics> perCore;
  std::vector<Statistics> perLaunch;
  Statistics sum;
};

/// Returns the name that reports use; a literal.
const char *nameOf(Stall stall);

} // namespace atc::npu

#endif
