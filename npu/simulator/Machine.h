//===-- Machine.h - simulates the time of one launch ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that a core does by itself is computed as far as possible at once, in the order of its
// dependences. Only what cores share (chunks of moves to and from gm, and signals) goes through one
// heap and is handled in the order of time. So the number of events is that of the chunks, not of
// the instructions.

#ifndef OPENATC_NPU_SIMULATOR_MACHINE_H
#define OPENATC_NPU_SIMULATOR_MACHINE_H

#include "npu/simulator/Costs.h"
#include "npu/simulator/Simulator.h"

#include <limits>
#include <queue>

namespace atc::npu::machine {

/// The size of the chunks in which moves to and from gm are served.
constexpr uint64_t kPieceBytes = 4096;

/// An instruction in a queue.
struct Entry {
  uint32_t index = 0; ///< in the program
  double issued = 0;
  Frame frame;
};

/// A move to or from gm in progress. Times are in cycles.
struct Transfer {
  Box box;
  int64_t at[3] = {}, within = 0;
  bool bypass = false;
  uint64_t address = 0, left = 0;
  double begun = 0, cyclesPerByte = 0, delayed = 0;
  double again = 0; ///< bytes that pass L2 once more, per byte
};

/// The times at which one flag was set and not yet cleared. A queue that sets it when all four
/// entries are taken waits.
class FlagTimes {
public:
  /// Access the queue of at most four times in cycles. `front` and `pop` need one that is not
  /// empty, `push` one that is not full.
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

/// A result of the vector queue, and the time at which it is there.
struct Written {
  Memory memory = Memory::UB;
  int64_t begin = 0, end = 0;
  double complete = 0;
};

/// The state of a queue. Times are in cycles since the launch.
struct QueueState {
  std::vector<Entry> ring;
  /// Returns whether all entries have been taken.
  bool empty() const { return given == gone; }
  /// Returns the oldest entry, which must exist; valid until the next change.
  Entry &front() { return ring[gone % ring.size()]; }
  const Entry &front() const { return ring[gone % ring.size()]; }
  std::vector<double> left; ///< times at which the last `depth` instructions left the queue
  uint64_t given = 0, gone = 0;
  double free = 0, complete = 0, issued = 0;
  bool underWay = false; ///< its first entry waits for an event
  bool waiting = false;  ///< ... for a signal
  Transfer transfer;
  Cost cost;
  /// The results that later instructions of the queue may have to wait for: those of the last ones,
  /// since a result is complete `vectorLatency` cycles after its instruction.
  Written written[8];
  unsigned writtenNext = 0;
};

/// A loop that is entered; `begin` is the index of its first instruction.
struct Loop {
  uint32_t begin;
};

/// The state of a core.
struct Core {
  QueueState queues[kQueues];
  FlagTimes flags[kQueues][kQueues][kFlagIds];
  std::vector<Loop> loops;
  Frame frame;
  uint32_t pc = 0, end = 0; ///< the next instruction, and the end of what the core runs
  double time = 0;          ///< of the scalar unit, in cycles
};

/// The times at which the signals of an event have arrived, for cube cores and for vector cores:
/// the first n of them at time n - 1.
struct SignalTimes {
  std::vector<double> arrivals[2];
};

/// Continues a queue at a time; ordered by time, core and queue.
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

/// When the instructions of a layer run, in cycles since the launch.
struct LayerTimes {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
};

/// Simulates one launch.
class Machine {
public:
  /// `layers` are those of the program, at least one; run() adds to them.
  Machine(const SocTable &soc, SharedMemory &memory, const Launch &launch, Simulator &simulator,
          std::vector<Statistics> &layers)
      : soc(soc), memory(memory), launch(launch), code(launch.program->code), simulator(simulator),
        layers(layers), layerOf(launch.program->layerOfInstructions()), times(layers.size()),
        observer(simulator.observer), timed(simulator.timed),
        keepsSpans(simulator.timed && simulator.maxSpans) {}

  /// Runs the launch to its end. Returns false and sets `error` (one line per error) where cores
  /// wait for each other or a limit is exceeded.
  bool run(std::string &error);

  uint32_t launchNumber = 0;
  double origin = 0, end = 0;

private:
  /// Runs a core until it has to wait for other cores or for time.
  void advance(unsigned number);
  /// Issues the next instruction of the scalar unit. Returns false where it cannot.
  bool scalarStep(unsigned number);
  /// Executes the first instruction of a queue. Returns false where it cannot.
  bool queueStep(unsigned number, unsigned queue);
  void computeOrMove(unsigned number, unsigned queue, double ready);
  /// Returns when an instruction of the vector queue that could begin at `ready` may begin: its
  /// data may be results that are not complete yet.
  double dependencesOf(const QueueState &state, const Box *boxes, unsigned count,
                       double ready) const;
  void noteWritten(QueueState &state, const Box *boxes, unsigned count) const;
  void startTransfer(unsigned number, unsigned queue, double start);
  /// Serves the next chunk of a move and sets `next` to the time of the following one. Returns
  /// false after the last chunk.
  bool pieceOfTransfer(QueueState &state, double now, double &next);
  void event(const Event &event);
  /// Removes the first instruction of a queue at time `when`.
  void leave(QueueState &state, double when);
  void record(unsigned core, unsigned queue, const Instruction &instruction, double from, double to,
              Stall stall = Stall::None, unsigned other = 0, double delayed = 0);
  bool prepare(std::string &error);
  /// Adds the cores of a section, which begin at `start`.
  void addCores(const Section &section, double start);
  bool finish(std::string &error);
  /// Sets which cores the layers run on.
  void setCores(const std::vector<Section> &sections);
  /// Divides the cycles of the launch among its layers.
  void divideCycles();
  /// Returns the position of an instruction of the program; its line may be that of a source.
  size_t indexOf(const Instruction &instruction) const {
    return size_t(&instruction - code.data());
  }
  /// Returns the layer of an instruction, and its statistics.
  size_t layerNumber(size_t instruction) const {
    return layerOf.empty() ? 0 : layerOf[instruction];
  }
  Statistics &statisticsOf(size_t instruction) { return layers[layerNumber(instruction)]; }
  /// Notes that an instruction, other than one that waits, runs from one time to another one.
  void noteTimes(size_t instruction, double from, double to) {
    LayerTimes &layer = times[layerNumber(instruction)];
    layer.begin = std::min(layer.begin, from);
    layer.end = std::max(layer.end, to);
  }
  bool stopped() const { return simulator.stepsLeft == 0 || simulator.bytesLeft == 0; }
  /// Takes bytes of gm that are touched off those that are left.
  void spendBytes(uint64_t bytes) { simulator.bytesLeft -= std::min(simulator.bytesLeft, bytes); }
  void observe(unsigned core, const Instruction &instruction, const Frame &frame) {
    ++statisticsOf(indexOf(instruction)).instructions;
    ++use(core).instructions;
    if (observer)
      observer->execute(core, instruction, frame);
  }
  /// Returns the use of a core of this launch.
  CoreStatistics &use(unsigned core) {
    return simulator.perCore[core < cubeCores ? core : soc.cubeCores + core - cubeCores];
  }
  /// Counts the cycles in which a queue was busy with an instruction.
  void addBusy(unsigned core, unsigned queue, size_t instruction, double from, double to) {
    noteTimes(instruction, from, to);
    statisticsOf(instruction).busy[queue] += to - from;
    use(core).busy[queue] += to - from;
  }
  /// Counts cycles in which a queue waited, in the launch's sum for that reason and the core's.
  void addWait(unsigned core, unsigned queue, double &sum, double count) {
    sum += count;
    use(core).waits[queue] += count;
  }
  double cycles(double count) const { return timed ? count : 0; }
  /// Appends to `error` what a core waits for.
  void describe(unsigned number, std::string &error) const;

  const SocTable &soc;
  SharedMemory &memory;
  const Launch &launch;
  const std::vector<Instruction> &code;
  Simulator &simulator;
  std::vector<Statistics> &layers;
  const std::vector<uint32_t> layerOf; ///< of each instruction; empty: there is one layer
  std::vector<LayerTimes> times;       ///< of each layer
  Observer *observer;
  bool timed, keepsSpans;
  size_t cubeCores = 0;    ///< the number of cores of the launch that are no separate vector cores
  std::vector<Core> cores; ///< those first
  std::vector<uint32_t> loopEnds;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  SignalTimes signals[kEvents];
  std::vector<Event> waiters[kEvents];
};

} // namespace atc::npu::machine

#endif
