//===-- HazardWalk.h - one launch on its way through a check ----*- C++ -*-===//
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

struct Clock {
  std::vector<uint32_t> time;             ///< per queue
  std::array<int64_t, kEvents> awaited{}; ///< the most signals that came before
  void join(const Clock &other) {
    for (size_t i = 0; i < time.size(); ++i)
      time[i] = std::max(time[i], other.time[i]);
    for (unsigned i = 0; i < kEvents; ++i)
      awaited[i] = std::max(awaited[i], other.awaited[i]);
  }
};

/// Waits in a queue: an instruction, or (without) news from the scalar unit.
struct Entry {
  const Instruction *instruction = nullptr;
  Frame frame;
  std::shared_ptr<const Clock> news;
};

struct QueueState {
  Fifo<Entry> pending;
  size_t instructions = 0; ///< of those that wait
  Clock clock;
};

struct FlagState {
  Fifo<std::pair<Clock, uint32_t>> raised; ///< with the line
  uint32_t lastWait = 0;                   ///< on the waiting queue's clock
};

struct Core {
  QueueState queues[kQueues];
  FlagState flags[kQueues][kQueues][kFlagIds];
  Frame frame;
  std::vector<uint32_t> loops;
  uint32_t pc = 0;
  unsigned fresh = 0; ///< queues for which something may have come, a bit each
};

/// Arguments that overlap on the device, as one memory.
struct Place {
  unsigned group = 0;
  uint64_t offset = 0;
};

class Walk {
public:
  Walk(const Launch &launch, const SocTable &soc, const HazardChecker &checker)
      : launch(launch), program(*launch.program), code(program.code), soc(soc),
        maxSteps(checker.maxSteps), maxRecords(checker.maxRecords), left(maxSteps),
        partlyWritten(checker.partlyWritten), readsWritten(4 * code.size()) {}
  std::vector<Hazard> run();

private:
  using Key = std::tuple<Hazard::Kind, uint32_t, uint32_t, Memory, unsigned>;
  struct Found {
    Hazard hazard;
    AccessRecord earlier, later;
    Memory memory = Memory::GM;
    unsigned argument = 0, address = 0;
    uint64_t begin = 0, end = 0, lastSerial = 0;
    AccessRecord lastEarlier;
  };

  void placeArguments();
  void start();
  bool walk();
  bool passAwaits();
  bool advance(unsigned number);
  bool scalarStep(unsigned number);
  bool drain(unsigned number, unsigned queue);
  bool process(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  bool awaited(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  void tellNews(unsigned number);
  void access(unsigned number, unsigned queue, const Instruction &in, const Frame &frame);
  void touch(Shadow &shadow, const Box &box, uint64_t begin, uint64_t end,
             const AccessRecord &record, uint64_t base);

  size_t slot(unsigned core, unsigned queue) const {
    return shared ? size_t(core) * kQueues + queue : queue;
  }
  uint32_t &own(unsigned core, unsigned queue) {
    return cores[core].queues[queue].clock.time[slot(core, queue)];
  }
  bool ordered(const AccessRecord &record, unsigned core, const Clock &clock) const {
    return (shared || record.core == core) &&
           record.clock <= clock.time[slot(record.core, record.queue)];
  }
  Clock release(unsigned core, unsigned queue) {
    Clock clock = cores[core].queues[queue].clock;
    ++own(core, queue);
    return clock;
  }
  /// Counts steps; returns false once there are too many.
  bool spend(uint64_t steps) {
    tooLong |= left < steps || records > maxRecords;
    left -= std::min(left, steps);
    return !tooLong;
  }
  /// Returns how many records a clock is worth, by its size.
  static uint64_t weightOf(const Clock &clock) { return 2 + clock.time.size() / 16; }
  uint32_t indexOf(const Instruction &in) const { return uint32_t(&in - code.data()); }

  void pairFound(Hazard::Kind kind, const AccessRecord &earlier, const AccessRecord &later,
                 const Box &box, uint64_t begin, uint64_t end);
  void fault(Hazard::Kind kind, uint32_t index, const std::string &text);
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
  uint64_t records = 0;           ///< of shadows, waiting clocks and what was found
  bool partlyWritten;             ///< reads of it are named
  std::vector<bool> readsWritten; ///< by instruction and address: was any of it written?
  bool counting = false;          ///< the first walk
  bool shared = false;            ///< clocks know the queues of all cores
  bool tooLong = false;
  std::vector<Core> cores;
  int64_t signals[kEvents] = {};
  // By core and queue: the signals, and how many must have come before each.
  std::map<unsigned, std::vector<Clock>> given[kEvents];
  std::map<unsigned, std::vector<int64_t>> mustFollow[kEvents];
  // By event and value: how many signals of each queue an await can rely on.
  std::map<std::pair<unsigned, int64_t>, std::map<unsigned, int64_t>> sure;
  std::vector<std::vector<Shadow>> local;
  std::vector<Shadow> gm;
  std::vector<Place> places;
  std::vector<bool> written; ///< gm groups that an instruction writes
  std::map<Key, size_t> known;
  std::vector<Found> found;
};

} // namespace atc::npu::hazards

#endif
