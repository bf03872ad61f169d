//===-- Simulator.h - runs launches, with their time ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An event-driven simulation of all cores of a launch: the scalar unit walks the
// program and fills the queues, the queues run in order and beside each other,
// flags, barriers and signals are kept, and L2 and DDR are shared. Two runs give
// the same numbers. See docs/npu-simulator.md.

#ifndef OPENATC_NPU_SIMULATOR_SIMULATOR_H
#define OPENATC_NPU_SIMULATOR_SIMULATOR_H

#include "npu/isa/Isa.h"
#include "npu/simulator/SharedMemory.h"

#include <string>

namespace atc::npu {

/// One program with what it works on.
struct Launch {
  const Program *program = nullptr;
  std::string name;
  std::vector<uint64_t> addresses;     ///< of the gm arguments on the device, for L2
  std::vector<uint8_t> bypassL2;       ///< per argument, may be shorter
  bool chained = false;                ///< goes on with the task of the launch before it
  std::vector<Prefetch> prefetch = {}; ///< what the DMA is to bring from its beginning on
};

/// Sees each instruction that runs, in an order that all queues, flags, barriers
/// and signals allow: what executes programs and what looks at them hangs here.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void execute(unsigned core, const Instruction &instruction, const Frame &frame) = 0;
};

enum class Stall : uint8_t { None, Flag, Barrier, Signal, QueueFull };
constexpr unsigned kStalls = 5;

/// An instruction that runs or, with a `stall`, a queue that waits at one.
struct TimeSpan {
  uint32_t launch, line;
  uint16_t core;
  Queue queue;
  Opcode opcode;
  Stall stall;
  Queue other;       ///< who raises the flag, or whose queue is full
  double start, end; ///< cycles since the first launch
  double delayed;    ///< cycles lost to others' moves
};

/// Of one launch or, added up, of all. Cycles of queues are summed over cores.
struct Statistics {
  double cycles = 0;
  double startCycles = 0; ///< of them before the first instruction
  uint64_t instructions = 0, macs = 0, coreCount = 0;
  bool vectorCores = false, chained = false; ///< of one launch
  double cubeCycles = 0;                     ///< what the MACs take at the cube's rate
  double busy[kQueues] = {};
  double flagStall[kQueues][kQueues] = {}; ///< [from][to]: `to` had nothing else to do
  double barrierStall[kQueues] = {}, signalStall[kQueues] = {};
  double queueFull[kQueues] = {};            ///< the scalar unit waited for this queue
  double bandwidthStall = 0;                 ///< moves to and from gm waited for others' moves
  double tailStall = 0;                      ///< cores were done and waited for the last one
  uint64_t bytes[kMemories][kMemories] = {}; ///< [source][destination]
  uint64_t localBytes[kMemories] = {};       ///< how far up each local memory is used
  uint64_t l2Hit = 0, l2Missed = 0, l2Evicted = 0, bypassed = 0; ///< bytes
  uint64_t prefetched = 0, l2Read = 0, l2Written = 0, ddrRead = 0, ddrWritten = 0;
  void add(const Statistics &other);
};

class Simulator {
public:
  explicit Simulator(const SocTable &soc) : soc(soc), memory(soc) {}
  /// Runs a launch after those before it. False with `error` (one line a fault)
  /// if cores wait for each other or the launch does not fit the SoC.
  bool run(const Launch &launch, std::string &error);

  const std::vector<Statistics> &launches() const { return perLaunch; }
  const Statistics &total() const { return sum; }

  Observer *observer = nullptr;
  /// Without time: all takes no cycles, only the order is kept.
  bool timed = true;
  /// Keeps at most so many spans for timelines, and counts those left out.
  size_t maxSpans = 0;
  std::vector<TimeSpan> spans;
  uint64_t droppedSpans = 0;

private:
  SocTable soc;
  SharedMemory memory;
  std::vector<Statistics> perLaunch;
  Statistics sum;
};

const char *nameOf(Stall stall);

} // namespace atc::npu

#endif
