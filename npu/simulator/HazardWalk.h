//===-- HazardWalk.h - the state of a hazard check --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_HAZARDWALK_H
#define OPENATC_NPU_SIMULATOR_HAZARDWALK_H

#include "npu/isa/Footprint.h"
#include "npu/simulator/Fifo.h"
#include "npu/simulator/Hazards.h"
#include "npu/simulator/Shadow.h"

#include <array>
#include <map>
#include <memory>
#include <tuple>

namespace atc::npu::hazards {

/// A vector clock: everything that happened before a point of the walk.
struct Clock {
  std::vector<uint32_t> time;             ///< per queue
  std::array<int64_t, kEvents> awaited{}; ///< the maximum number of signals that came before
  /// Takes over everything that happened before another clock.
  void join(const Clock &other) {
    for (size_t i = 0; i < time.size(); ++i)
      time[i] = std::max(time[i], other.time[i]);
    for (unsigned i = 0; i < kEvents; ++i)
      awaited[i] = std::max(awaited[i], other.awaited[i]);
  }
};

/// An entry of a queue: an instruction, or (where it is null) a clock from the scalar unit.
struct Entry {
  const Instruction *instruction = nullptr;
  Frame frame;
  std::shared_ptr<const Clock> news;
};

struct QueueState {
  Fifo<Entry> pending;
  size_t instructions = 0; ///< number of instructions among them
  Clock clock;
  /// The last time of the queue itself whose instructions are complete before its next one begins:
  /// of the vector queue, which does not wait for them unless it is told to.
  uint32_t completed = 0;
};

/// The pending settings of one flag.
struct FlagState {
  Fifo<std::pair<Clock, uint32_t>> raised; ///< with the line of each set_flag
  uint32_t lastWait = 0;                   ///< on the waiting queue's clock
};

/// The state of one core.
struct Core {
  QueueState queues[kQueues];
  FlagState flags[kQueues][kQueues][kFlagIds];
  Frame frame;
  std::vector<uint32_t> loops;
  uint32_t pc = 0, end = 0; ///< the next instruction, and the end of what the core runs
  unsigned fresh = 0;       ///< bit mask of queues that may have become ready
};

/// An argument's memory: arguments that overlap on the device share a group.
struct ArgumentAddress {
  unsigned group = 0;
  uint64_t offset = 0;
};

/// Walks one launch in an order that its synchronization allows, with vector clocks, and collects
/// all pairs of accesses without an order.
class Walk {
public:
  Walk(const Launch &launch, const SocTable &soc, const HazardChecker &checker)
      : launch(launch), program(*launch.program), code(program.code), soc(soc),
        maxSteps(checker.maxSteps), maxRecords(checker.maxRecords), left(maxSteps),
        partlyWritten(checker.partlyWritten), readsWritten(4 * code.size()) {}
  /// Runs the walk and returns what it found.
  std::vector<Hazard> run();

private:
  using Key = std::tuple<Hazard::Kind, uint32_t, uint32_t, Memory, unsigned>;
  /// A pair of instructions with the first and the last instance found.
  struct Found {
    Hazard hazard;
    AccessRecord earlier, later;
    Memory memory = Memory::GM;
    unsigned argument = 0, address = 0;
    uint64_t begin = 0, end = 0, lastSerial = 0;
    AccessRecord lastEarlier;
  };

  /// Groups arguments that overlap.
  void locateArguments();
  /// Resets the state of all cores.
  void start();
  /// Walks until no core can continue. Returns whether all cores have run to their end.
  bool walk();
  bool passAwaits();
  /// Runs a core as far as possible. Returns whether it made progress.
  bool advance(unsigned number);
  bool scalarStep(unsigned number);
  bool drain(unsigned number, unsigned queue);
  bool process(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  bool awaited(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  /// Sends the scalar unit's clock to the queues of a core.
  void tellNews(unsigned number);
  /// Records the accesses of one iteration.
  void access(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  void touch(Shadow &shadow, const Box &box, uint64_t begin, uint64_t end,
             const AccessRecord &record, uint64_t base);

  /// Returns the index of a queue's time in a clock.
  size_t slot(unsigned core, unsigned queue) const {
    return shared ? size_t(core) * kQueues + queue : queue;
  }
  uint32_t &own(unsigned core, unsigned queue) {
    return cores[core].queues[queue].clock.time[slot(core, queue)];
  }
  /// Returns whether an earlier access is ordered before everything after `clock`.
  bool ordered(const AccessRecord &record, unsigned core, const Clock &clock) const {
    return (shared || record.core == core) &&
           record.clock <= clock.time[slot(record.core, record.queue)];
  }
  /// Makes everything before `clock` come before the next instruction of a queue.
  void acquire(unsigned core, unsigned queue, const Clock &clock) {
    QueueState &state = cores[core].queues[queue];
    state.completed = std::max(state.completed, clock.time[slot(core, queue)]);
    state.clock.join(clock);
  }
  /// Returns whether an earlier access of the same queue is complete before its next instruction
  /// begins, which may be one that reads local memory: indices that MTE2 itself has loaded.
  bool isComplete(const AccessRecord &record, bool isLocalRead = false) const {
    const bool isOpen =
        Queue(record.queue) == Queue::V || (Queue(record.queue) == Queue::MTE2 && isLocalRead);
    return !isOpen || record.clock <= cores[record.core].queues[record.queue].completed;
  }
  /// Returns a queue's clock for others to join, and advances its own time.
  Clock release(unsigned core, unsigned queue) {
    Clock clock = cores[core].queues[queue].clock;
    ++own(core, queue);
    return clock;
  }
  /// Counts steps; returns false once a limit is exceeded.
  bool spend(uint64_t steps) {
    tooLong |= left < steps || records > maxRecords;
    left -= std::min(left, steps);
    return !tooLong;
  }
  /// Returns the weight of a clock in records, by its size.
  static uint64_t weightOf(const Clock &clock) { return 2 + clock.time.size() / 16; }
  uint32_t indexOf(const Instruction &in) const { return uint32_t(&in - code.data()); }

  /// Records a pair of accesses without an order.
  void pairFound(Hazard::Kind kind, const AccessRecord &earlier, const AccessRecord &later,
                 const Box &box, uint64_t begin, uint64_t end);
  /// Records an error of a single instruction.
  void addHazard(Hazard::Kind kind, uint32_t index, const std::string &text);
  std::string ivs(uint32_t index, uint64_t iteration) const;
  std::string instance(const AccessRecord &record) const;
  std::string name() const { return "launch `" + launch.name + "`: "; }
  std::vector<Hazard> report();

  const Launch &launch;
  const Program &program;
  const std::vector<Instruction> &code;
  const SocTable &soc;
  const uint64_t maxSteps, maxRecords;
  uint64_t left, serial = 0;
  uint64_t records = 0; ///< in shadows, waiting clocks and findings
  bool partlyWritten;   ///< reads of partly written memory are reported
  /// per instruction and address: was any of it written before it was read?
  std::vector<bool> readsWritten;
  bool counting = false; ///< the first walk
  bool shared = false;   ///< clocks have the queues of all cores
  bool tooLong = false;
  std::vector<Core> cores;
  int64_t signals[kEvents] = {};
  // Per core and queue: the signals, and how many must have come before each.
  std::map<unsigned, std::vector<Clock>> given[kEvents];
  std::map<unsigned, std::vector<int64_t>> mustFollow[kEvents];
  // Per event and value: how many signals of each queue an await can rely on.
  std::map<std::pair<unsigned, int64_t>, std::map<unsigned, int64_t>> sure;
  std::vector<std::vector<Shadow>> local;
  std::vector<Shadow> gm;
  std::vector<ArgumentAddress> addresses;
  std::vector<bool> written; ///< gm groups that an instruction writes
  std::map<Key, size_t> known;
  std::vector<Found> found;
};

} // namespace atc::npu::hazards

#endif
