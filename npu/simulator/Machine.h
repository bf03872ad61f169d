//===-- Machine.h - one launch as it runs ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a core does by itself is worked out as far as possible at once, in the
// order of its dependences. Only what cores share - pieces of moves to and from
// gm, signals - goes through one heap and is handled in order of time. So the
// number of events is that of the pieces, not that of the instructions.

#ifndef OPENATC_NPU_SIMULATOR_MACHINE_H
#define OPENATC_NPU_SIMULATOR_MACHINE_H

#include "npu/simulator/Costs.h"
#include "npu/simulator/Simulator.h"

#include <queue>

namespace atc::npu::machine {

constexpr uint64_t kPieceBytes = 4096;

struct Entry {
  uint32_t index = 0; ///< in the program
  double issued = 0;
  Frame frame;
};

/// A move to or from gm under way.
struct Transfer {
  Box box;
  int64_t at[3] = {}, within = 0;
  bool bypass = false;
  uint64_t address = 0, left = 0;
  double begun = 0, cyclesPerByte = 0, delayed = 0;
};

/// Times at which one flag was raised and not yet taken down. A queue that
/// raises it once more than there is room for waits.
class FlagTimes {
public:
  bool empty() const { return count == 0; }
  bool full() const { return count == 4; }
  double front() const { return times[head]; }
  void push(double time) { times[(head + count++) & 3] = time; }
  void pop() {
    head = (head + 1) & 3;
    --count;
  }

private:
  double times[4];
  uint8_t head = 0, count = 0;
};

struct QueueState {
  std::vector<Entry> ring;
  bool empty() const { return given == gone; }
  Entry &front() { return ring[gone % ring.size()]; }
  const Entry &front() const { return ring[gone % ring.size()]; }
  std::vector<double> left; ///< when the last `depth` instructions left the queue
  uint64_t given = 0, gone = 0;
  double free = 0, complete = 0, issued = 0;
  bool underWay = false; ///< its first entry waits for an event
  bool waiting = false;  ///< ... for a signal
  Transfer transfer;
  Cost cost;
};

struct Loop {
  uint32_t begin;
};

struct Core {
  QueueState queues[kQueues];
  FlagTimes flags[kQueues][kQueues][kFlagIds];
  std::vector<Loop> loops;
  Frame frame;
  uint32_t pc = 0;
  double time = 0; ///< of the scalar unit
};

struct Event {
  double time;
  uint32_t core;
  uint8_t queue;
  bool operator>(const Event &other) const {
    if (time != other.time)
      return time > other.time;
    return core != other.core ? core > other.core : queue > other.queue;
  }
};

class Machine {
public:
  Machine(const SocTable &soc, SharedMemory &memory, const Launch &launch, Simulator &simulator,
          Statistics &statistics)
      : soc(soc), memory(memory), launch(launch), code(launch.program->code), simulator(simulator),
        statistics(statistics), observer(simulator.observer), timed(simulator.timed),
        keepsSpans(simulator.timed && simulator.maxSpans) {}

  bool run(std::string &error);

  uint32_t launchNumber = 0;
  double origin = 0, end = 0;

private:
  void advance(unsigned number);
  bool scalarStep(unsigned number);
  bool queueStep(unsigned number, unsigned queue);
  void startTransfer(unsigned number, unsigned queue, double start);
  bool pieceOfTransfer(QueueState &state, double now, double &next);
  void event(const Event &event);
  void leave(QueueState &state, double when);
  void record(unsigned core, unsigned queue, const Instruction &instruction, double from, double to,
              Stall stall = Stall::None, unsigned other = 0, double delayed = 0);
  bool prepare(std::string &error);
  bool finish(std::string &error);
  void observe(unsigned core, const Instruction &instruction, const Frame &frame) {
    ++statistics.instructions;
    if (observer)
      observer->execute(core, instruction, frame);
  }
  double cycles(double count) const { return timed ? count : 0; }
  void describe(unsigned number, std::string &error) const;

  const SocTable &soc;
  SharedMemory &memory;
  const Launch &launch;
  const std::vector<Instruction> &code;
  Simulator &simulator;
  Statistics &statistics;
  Observer *observer;
  bool timed, keepsSpans;
  std::vector<Core> cores;
  std::vector<uint32_t> loopEnds;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  std::vector<double> signals[kEvents];
  std::vector<Event> waiters[kEvents];
};

} // namespace atc::npu::machine

#endif
