//===-- Simulator.cpp - runs launches, with their time --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a core does by itself is worked out as far as possible at once, in the
// order of its dependences. Only what cores share - pieces of moves to and from
// gm, signals - goes through one heap and is handled in order of time. So the
// number of events is that of the pieces, not that of the instructions.

#include "runtime-lite/npu/Simulator.h"

#include "runtime-lite/npu/Costs.h"

#include <queue>

using namespace atc::npu;

namespace {

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
  double begun = 0, cyclesPerByte = 0;
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
  Machine(const SocTable &soc, SharedMemory &memory, const Launch &launch, Statistics &statistics)
      : soc(soc), memory(memory), launch(launch), code(launch.program->code),
        statistics(statistics) {}

  bool run(std::string &error);

  Observer *observer = nullptr;
  bool timed = true;
  size_t maxSpans = 0;
  std::vector<Span> *spans = nullptr;
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
  void span(unsigned core, unsigned queue, const Instruction &instruction, double from, double to);
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
  Statistics &statistics;
  std::vector<Core> cores;
  std::vector<uint32_t> loopEnds;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  std::vector<double> signals[kEvents];
  std::vector<Event> waiters[kEvents];
};

void Machine::span(unsigned core, unsigned queue, const Instruction &instruction, double from,
                   double to) {
  if (spans->size() < maxSpans)
    spans->push_back({launchNumber, instruction.line, uint16_t(core), Queue(queue),
                      instruction.opcode, origin + from, origin + to});
}

void Machine::leave(QueueState &state, double when) {
  state.left[state.gone++ % soc.queueDepth] = when;
}

/// The scalar unit's next instruction; false if it must wait.
bool Machine::scalarStep(unsigned number) {
  Core &core = cores[number];
  if (core.pc >= code.size())
    return false;
  const Instruction &instruction = code[core.pc];
  Frame &frame = core.frame;
  if (instruction.opcode == Opcode::LoopBegin) {
    int64_t trips = instruction.fields[LoopBegin::trips];
    core.time += cycles(double(soc.scalarLoop));
    if (trips <= 0) {
      core.pc = loopEnds[core.pc] + 1;
      return true;
    }
    frame.ivs[kGridDims + frame.depth] = 0;
    frame.trips[kGridDims + frame.depth++] = trips;
    core.loops.push_back({core.pc++});
    return true;
  }
  if (instruction.opcode == Opcode::LoopEnd) {
    core.time += cycles(double(soc.scalarLoop));
    unsigned iv = kGridDims + frame.depth - 1;
    if (++frame.ivs[iv] < frame.trips[iv]) {
      core.pc = core.loops.back().begin + 1;
      return true;
    }
    frame.ivs[iv] = 0;
    frame.trips[iv] = 1;
    --frame.depth;
    core.loops.pop_back();
    ++core.pc;
    return true;
  }
  if (!instruction.guard.admits(frame)) {
    core.time += cycles(double(soc.scalarIssue));
    ++core.pc;
    return true;
  }
  unsigned queue = unsigned(queueOf(instruction));
  QueueState &state = core.queues[queue];
  if (queue == unsigned(Queue::S)) {
    // The scalar unit does its own at once; it is a queue of one.
    if (!state.empty())
      return false;
    state.free = core.time;
  } else if (state.given - state.gone >= soc.queueDepth) {
    return false;
  } else if (state.given >= soc.queueDepth) {
    double room = state.left[state.given % soc.queueDepth];
    statistics.queueFull[queue] += std::max(0.0, room - core.time);
    core.time = std::max(core.time, room);
  }
  core.time += cycles(double(soc.scalarIssue));
  state.ring[state.given++ % soc.queueDepth] = {core.pc++, core.time, frame};
  return true;
}

void Machine::startTransfer(unsigned number, unsigned queue, double start) {
  QueueState &state = cores[number].queues[queue];
  Transfer &transfer = state.transfer;
  unsigned argument = transfer.box.argument;
  transfer.address = argument < launch.addresses.size() ? launch.addresses[argument] : 0;
  transfer.bypass = argument < launch.bypassL2.size() && launch.bypassL2[argument];
  transfer.left = uint64_t(transfer.box.count[0] * transfer.box.count[1] * transfer.box.count[2] *
                           transfer.box.bytes);
  transfer.begun = start;
  transfer.cyclesPerByte = transfer.left ? state.cost.data / double(transfer.left) : 0;
  transfer.at[0] = transfer.at[1] = transfer.at[2] = transfer.within = 0;
  // What lies without a gap is one run.
  Box &box = transfer.box;
  for (int i = 2; i >= 0; --i) {
    if (box.count[i] == 1)
      continue;
    if (box.stride[i] != box.bytes)
      break;
    box.bytes *= box.count[i];
    box.count[i] = 1;
  }
  state.underWay = true;
  events.push({start + state.cost.start, number, uint8_t(queue)});
}

/// Moves one piece on; false once it was the last. `next` is when it has passed.
bool Machine::pieceOfTransfer(QueueState &state, double now, double &next) {
  Transfer &transfer = state.transfer;
  Box &box = transfer.box;
  SharedMemory::Piece piece;
  uint64_t size = std::min(transfer.left, kPieceBytes);
  for (uint64_t left = size; left;) {
    uint64_t run = std::min(left, uint64_t(box.bytes - transfer.within));
    int64_t offset = box.base + transfer.within;
    for (int i = 0; i < 3; ++i)
      offset += transfer.at[i] * box.stride[i];
    memory.touch(transfer.address + uint64_t(offset), run, box.written, transfer.bypass, piece);
    left -= run;
    transfer.within += int64_t(run);
    if (transfer.within == box.bytes) {
      transfer.within = 0;
      for (int i = 2; i >= 0 && ++transfer.at[i] == box.count[i]; --i)
        transfer.at[i] = 0;
    }
  }
  double alone = now + double(size) * transfer.cyclesPerByte;
  next = std::max(alone, memory.pass(now, piece, box.written));
  statistics.bandwidthStall += next - alone;
  statistics.l2Hit += piece.hit;
  statistics.l2Missed += piece.missed;
  statistics.l2Evicted += piece.evicted;
  statistics.bypassed += piece.bypassed;
  return transfer.left -= size;
}

/// Runs the first instruction of a queue if all it waits for is known.
bool Machine::queueStep(unsigned number, unsigned queue) {
  Core &core = cores[number];
  QueueState &state = core.queues[queue];
  if (state.empty() || state.underWay)
    return false;
  const Entry &entry = state.front();
  const Instruction &instruction = code[entry.index];
  const int64_t *fields = instruction.fields;
  double ready = std::max(state.free, entry.issued);
  auto scalarGoesOn = [&] {
    if (queue == unsigned(Queue::S))
      core.time = std::max(core.time, state.free);
  };
  switch (instruction.opcode) {
  case Opcode::SetFlag: {
    unsigned id = flagOf(instruction, entry.frame) % kFlagIds;
    FlagTimes &flag = core.flags[queue][fields[SetFlag::to]][id];
    if (flag.full())
      return false;
    observe(number, instruction, entry.frame);
    flag.push(std::max(state.complete, ready) + cycles(double(soc.flagLatency)));
    leave(state, ready);
    return true;
  }
  case Opcode::WaitFlag: {
    unsigned from = unsigned(fields[WaitFlag::from]);
    auto &flag = core.flags[from][queue][flagOf(instruction, entry.frame) % kFlagIds];
    if (flag.empty())
      return false;
    observe(number, instruction, entry.frame);
    statistics.flagStall[from][queue] += std::max(0.0, flag.front() - ready);
    state.free = std::max(ready, flag.front());
    flag.pop();
    leave(state, state.free);
    scalarGoesOn();
    return true;
  }
  case Opcode::PipeBarrier: {
    double done = state.complete;
    if (queue == unsigned(Queue::S))
      for (const QueueState &other : core.queues) {
        if (&other != &state && !other.empty())
          return false;
        done = std::max({done, other.complete, other.free});
      }
    observe(number, instruction, entry.frame);
    statistics.barrierStall[queue] += std::max(0.0, done - ready);
    state.free = std::max(ready, done);
    leave(state, state.free);
    scalarGoesOn();
    return true;
  }
  case Opcode::Signal:
  case Opcode::Await:
    state.underWay = true;
    events.push({instruction.opcode == Opcode::Signal ? std::max(ready, state.complete) : ready,
                 number, uint8_t(queue)});
    return true;
  default:
    break;
  }
  Box boxes[4];
  unsigned count = boxesOf(instruction, entry.frame, boxes);
  if (!count) {
    leave(state, ready);
    return true;
  }
  Cost cost;
  if (timed)
    cost = costOf(soc, instruction, entry.frame, boxes, count);
  observe(number, instruction, entry.frame);
  statistics.macs += cost.macs;
  if (instruction.opcode != Opcode::Mmad)
    statistics.bytes[unsigned(instruction.addresses[1].memory)]
                    [unsigned(instruction.addresses[0].memory)] += cost.bytes;
  if (cost.gm >= 0) {
    state.cost = cost;
    state.transfer.box = boxes[cost.gm];
    startTransfer(number, queue, ready);
    return true;
  }
  state.free = ready + cost.start + cost.data;
  state.complete = std::max(state.complete, state.free + cost.latency);
  statistics.busy[queue] += state.free - ready;
  span(number, queue, instruction, ready, state.free);
  leave(state, ready);
  return true;
}

void Machine::event(const Event &event) {
  Core &core = cores[event.core];
  QueueState &state = core.queues[event.queue];
  const Entry entry = state.front();
  const Instruction &instruction = code[entry.index];
  if (instruction.opcode == Opcode::Signal) {
    unsigned number = unsigned(instruction.fields[Signal::event]) % kEvents;
    observe(event.core, instruction, entry.frame);
    signals[number].push_back(event.time + cycles(double(soc.signalLatency)));
    std::vector<Event> woken;
    woken.swap(waiters[number]);
    for (Event &waiter : woken) {
      cores[waiter.core].queues[waiter.queue].waiting = false;
      waiter.time = std::max(waiter.time, event.time);
      events.push(waiter);
    }
  } else if (instruction.opcode == Opcode::Await) {
    unsigned number = unsigned(instruction.fields[Await::event]) % kEvents;
    int64_t value = instruction.ranges[Await::value].start.at(entry.frame.ivs);
    if (value > int64_t(signals[number].size())) {
      state.waiting = true;
      waiters[number].push_back(event);
      return;
    }
    observe(event.core, instruction, entry.frame);
    double ready = std::max(state.free, entry.issued);
    state.free = value > 0 ? std::max(ready, signals[number][size_t(value) - 1]) : ready;
    statistics.signalStall[event.queue] += state.free - ready;
    if (event.queue == unsigned(Queue::S))
      core.time = std::max(core.time, state.free);
  } else {
    double next;
    if (pieceOfTransfer(state, event.time, next)) {
      events.push({next, event.core, event.queue});
      return;
    }
    state.free = next;
    state.complete = std::max(state.complete, next + state.cost.latency);
    statistics.busy[event.queue] += next - state.transfer.begun;
    span(event.core, event.queue, instruction, state.transfer.begun, next);
  }
  state.underWay = false;
  leave(state, std::max(entry.issued, std::min(state.free, event.time)));
  advance(event.core);
}

void Machine::advance(unsigned number) {
  for (bool moved = true; moved;) {
    moved = false;
    while (scalarStep(number)) {
      moved = true;
      // Queues that can go on keep the scalar unit from being held up by them.
      unsigned last = unsigned(Queue::S);
      const Core &core = cores[number];
      if (core.pc && core.pc <= code.size())
        last = unsigned(queueOf(code[core.pc - 1]));
      while (queueStep(number, last)) {
      }
    }
    for (unsigned queue = 0; queue < kQueues; ++queue)
      while (queueStep(number, queue))
        moved = true;
  }
}

/// What the core's scalar unit and queues wait for.
void Machine::describe(unsigned number, std::string &error) const {
  const Core &core = cores[number];
  for (unsigned queue = 0; queue < kQueues; ++queue) {
    const QueueState &state = core.queues[queue];
    if (state.empty())
      continue;
    const Entry &entry = state.front();
    const Instruction &instruction = code[entry.index];
    std::string what = "core " + std::to_string(number) + " queue " + nameOf(Queue(queue)) +
                       " waits at instruction " + std::to_string(instruction.line) + " (" +
                       infoOf(instruction.opcode).mnemonic;
    if (instruction.opcode == Opcode::WaitFlag)
      what += std::string(" ") + nameOf(Queue(instruction.fields[WaitFlag::from])) + " -> " +
              nameOf(Queue(queue)) + " id " + std::to_string(flagOf(instruction, entry.frame)) +
              ") for a flag that nothing raises";
    else if (instruction.opcode == Opcode::Await)
      what += " event " + std::to_string(instruction.fields[Await::event]) + ") for " +
              std::to_string(instruction.ranges[Await::value].start.at(entry.frame.ivs)) +
              " signals of which " +
              std::to_string(signals[instruction.fields[Await::event] % kEvents].size()) + " came";
    else
      what += ") for the other queues to finish";
    error += what + "\n";
  }
  if (core.pc < code.size() && core.queues[0].empty())
    error += "core " + std::to_string(number) + " queue S waits at instruction " +
             std::to_string(code[core.pc].line) + " (" + infoOf(code[core.pc].opcode).mnemonic +
             ") for room in queue " + nameOf(queueOf(code[core.pc])) + "\n";
}

bool Machine::run(std::string &error) {
  const Program &program = *launch.program;
  uint64_t limit = soc.cores(program.vectorCore), count = 1;
  // Stops above the limit: no overflow.
  for (uint32_t cores : program.grid)
    count = count > limit ? count : count * cores;
  if (!count || count > limit) {
    error = "launch `" + launch.name + "` runs on " + std::to_string(count) + " cores, " +
            soc.name + " has " + std::to_string(limit) + "\n";
    return false;
  }
  loopEnds.assign(code.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == Opcode::LoopBegin) {
      open.push_back(i);
    } else if (code[i].opcode == Opcode::LoopEnd) {
      if (open.empty() || open.size() > kMaxLoops) {
        error = "launch `" + launch.name + "`: loops do not match\n";
        return false;
      }
      loopEnds[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) {
    error = "launch `" + launch.name + "`: a loop is not closed\n";
    return false;
  }
  memory.beginLaunch();
  cores.resize(count);
  statistics.coreCount = count;
  for (unsigned i = 0; i < count; ++i) {
    unsigned rest = i;
    for (int dim = kGridDims - 1; dim >= 0; --dim) {
      cores[i].frame.ivs[dim] = rest % program.grid[dim];
      cores[i].frame.trips[dim] = program.grid[dim];
      rest /= program.grid[dim];
    }
    cores[i].time = cycles(double(soc.launchCycles));
    for (QueueState &state : cores[i].queues) {

      state.left.assign(soc.queueDepth, 0);
      state.ring.resize(soc.queueDepth);
    }
  }
  for (unsigned i = 0; i < count; ++i)
    advance(i);
  while (!events.empty()) {
    Event next = events.top();
    events.pop();
    event(next);
  }
  bool done = true;
  for (unsigned i = 0; i < count; ++i) {
    const Core &core = cores[i];
    end = std::max(end, core.time);
    bool waits = core.pc < code.size();
    for (const QueueState &state : core.queues) {
      end = std::max({end, state.complete, state.free});
      waits |= !state.empty();
    }
    if (!waits)
      continue;
    if (done)
      error += "launch `" + launch.name + "` cannot go on:\n";
    done = false;
    describe(i, error);
  }
  return done;
}

} // namespace

void Statistics::add(const Statistics &other) {
  cycles += other.cycles;
  instructions += other.instructions;
  macs += other.macs;
  coreCount = std::max(coreCount, other.coreCount);
  bandwidthStall += other.bandwidthStall;
  l2Hit += other.l2Hit;
  l2Missed += other.l2Missed;
  l2Evicted += other.l2Evicted;
  bypassed += other.bypassed;
  for (unsigned i = 0; i < kQueues; ++i) {
    busy[i] += other.busy[i];
    barrierStall[i] += other.barrierStall[i];
    signalStall[i] += other.signalStall[i];
    queueFull[i] += other.queueFull[i];
    for (unsigned j = 0; j < kQueues; ++j)
      flagStall[i][j] += other.flagStall[i][j];
  }
  for (unsigned i = 0; i < kMemories; ++i)
    for (unsigned j = 0; j < kMemories; ++j)
      bytes[i][j] += other.bytes[i][j];
}

bool Simulator::run(const Launch &launch, std::string &error) {
  Statistics statistics;
  Machine machine(soc, memory, launch, statistics);
  machine.observer = observer;
  machine.timed = timed;
  machine.maxSpans = maxSpans;
  machine.spans = &spans;
  machine.launchNumber = uint32_t(perLaunch.size());
  machine.origin = sum.cycles;
  if (!machine.run(error))
    return false;
  statistics.cycles = machine.end;
  sum.add(statistics);
  perLaunch.push_back(statistics);
  return true;
}
