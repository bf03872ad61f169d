//===-- Machine.cpp - one launch as it runs -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/simulator/Machine.h"

#include "npu/simulator/CorePosition.h"
#include "npu/simulator/Loops.h"
#include "support/PrintableText.h"

using namespace atc::npu;
using namespace atc::npu::machine;

void Machine::record(unsigned core, unsigned queue, const Instruction &instruction, double from,
                     double to, Stall stall, unsigned other, double delayed) {
  if (!keepsSpans || !(to > from))
    return;
  if (simulator.spans.size() < simulator.maxSpans)
    simulator.spans.push_back(
        {launchNumber + uint32_t(layerNumber(indexOf(instruction))), instruction.line,
         uint16_t(core - (core < cubeCores ? 0 : cubeCores)), Queue(queue), instruction.opcode,
         stall, Queue(other), origin + from, origin + to, delayed, core >= cubeCores});
  else
    ++simulator.droppedSpans;
}

void Machine::leave(QueueState &state, double when) {
  state.left[state.gone++ % soc.queueDepth] = when;
}

/// The scalar unit's next instruction; false if it must wait.
bool Machine::scalarStep(unsigned number) {
  Core &core = cores[number];
  // Instructions for which the scalar unit itself waits delay all that follow.
  if (core.pc >= core.end || !core.queues[unsigned(Queue::S)].empty() || stopped())
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
    enterLoop(frame, trips);
    core.loops.push_back({core.pc++});
    return true;
  }
  if (instruction.opcode == Opcode::LoopEnd) {
    core.time += cycles(double(soc.scalarLoop));
    if (nextRound(frame)) {
      core.pc = core.loops.back().begin + 1;
      return true;
    }
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
    // The scalar unit executes its own instructions immediately; it is a queue of depth one.
    state.free = core.time;
  } else if (state.given - state.gone >= soc.queueDepth) {
    return false;
  } else if (state.given >= soc.queueDepth) {
    double room = state.left[state.given % soc.queueDepth];
    statisticsOf(core.pc).queueFull[queue] += std::max(0.0, room - core.time);
    record(number, unsigned(Queue::S), instruction, core.time, room, Stall::QueueFull, queue);
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
  transfer.delayed = 0;
  transfer.cyclesPerByte = transfer.left ? state.cost.data / double(transfer.left) : 0;
  transfer.again = transfer.left ? double(state.cost.again) / double(transfer.left) : 0;
  transfer.at[0] = transfer.at[1] = transfer.at[2] = transfer.within = 0;
  // Contiguous steps are merged into one run.
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

/// Serves the next chunk of a move; returns false after the last one. `next` is the time at which
/// it has passed.
bool Machine::pieceOfTransfer(QueueState &state, double now, double &next) {
  Transfer &transfer = state.transfer;
  Box &box = transfer.box;
  SharedMemory::Piece piece;
  memory.advance(now);
  uint64_t size = std::min(transfer.left, kPieceBytes);
  for (uint64_t left = size; left;) {
    uint64_t run = std::min(left, uint64_t(box.bytes - transfer.within));
    int64_t offset = box.base + transfer.within;
    for (int i = 0; i < 3; ++i)
      offset += transfer.at[i] * box.stride[i];
    memory.touch(transfer.address + uint64_t(offset), run, box.written, transfer.bypass, piece);
    spendBytes(std::max(run, soc.l2Line));
    left -= run;
    transfer.within += int64_t(run);
    if (transfer.within == box.bytes) {
      transfer.within = 0;
      for (int i = 2; i >= 0 && ++transfer.at[i] == box.count[i]; --i)
        transfer.at[i] = 0;
    }
  }
  piece.hit += uint64_t(double(size) * transfer.again);
  double alone = now + double(size) * transfer.cyclesPerByte;
  next = std::max(alone, memory.pass(now, piece, box.written));
  transfer.delayed += next - alone;
  Statistics &statistics = statisticsOf(state.front().index);
  statistics.bandwidthStall += next - alone;
  (box.written ? statistics.l2Written : statistics.l2Read) += piece.hit + piece.missed;
  (box.written ? statistics.ddrWritten : statistics.ddrRead) += piece.missed + piece.bypassed;
  statistics.ddrWritten += piece.evicted;
  statistics.l2Hit += piece.hit;
  statistics.l2Missed += piece.missed;
  statistics.l2Evicted += piece.evicted;
  statistics.bypassed += piece.bypassed;
  return transfer.left -= size;
}

double Machine::dependencesOf(const QueueState &state, const Box *boxes, unsigned count,
                              double ready) const {
  for (const Written &written : state.written)
    if (written.complete > ready)
      for (unsigned i = 0; i < count; ++i)
        if (boxes[i].read && boxes[i].memory == written.memory && boxes[i].begin() < written.end &&
            boxes[i].end() > written.begin)
          ready = std::max(ready, written.complete);
  return ready;
}

void Machine::noteWritten(QueueState &state, const Box *boxes, unsigned count) const {
  for (unsigned i = 0; i < count; ++i)
    if (boxes[i].written && boxes[i].memory != Memory::GM)
      state.written[state.writtenNext++ % std::size(state.written)] = {
          boxes[i].memory, boxes[i].begin(), boxes[i].end(), state.complete};
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
    addWait(number, queue, statisticsOf(entry.index).flagStall[from][queue],
            std::max(0.0, flag.front() - ready));
    record(number, queue, instruction, ready, flag.front(), Stall::Flag, from);
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
    addWait(number, queue, statisticsOf(entry.index).barrierStall[queue],
            std::max(0.0, done - ready));
    record(number, queue, instruction, ready, done, Stall::Barrier);
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
    computeOrMove(number, queue, ready);
    return true;
  }
}

/// Runs the first instruction of a queue, which computes or moves, from the cycle `ready` on.
void Machine::computeOrMove(unsigned number, unsigned queue, double ready) {
  QueueState &state = cores[number].queues[queue];
  const Entry &entry = state.front();
  const Instruction &instruction = code[entry.index];
  if (!timed) {
    // Only the order matters: moves complete immediately.
    observe(number, instruction, entry.frame);
    leave(state, 0);
    return;
  }
  Box boxes[4];
  unsigned count = boxesOf(instruction, entry.frame, boxes);
  if (!count) {
    leave(state, ready);
    return;
  }
  Cost cost = costOf(soc, instruction, entry.frame, boxes, count);
  observe(number, instruction, entry.frame);
  Statistics &statistics = statisticsOf(entry.index);
  statistics.macs += cost.macs;
  for (unsigned i = 0; i < count; ++i)
    if (boxes[i].memory != Memory::GM) {
      uint64_t &use = statistics.localBytes[unsigned(boxes[i].memory)];
      use = std::max(use, uint64_t(std::max<int64_t>(0, boxes[i].end())));
    }
  if (instruction.opcode == Opcode::Mmad)
    statistics.cubeCycles +=
        double(cost.macs) / soc.macsPerCycle(DataType(instruction.fields[Mmad::type]));
  else
    statistics.bytes[unsigned(instruction.addresses[1].memory)]
                    [unsigned(instruction.addresses[0].memory)] += cost.bytes;
  if (cost.gm >= 0) {
    state.cost = cost;
    state.transfer.box = transferredBy(instruction, entry.frame, boxes[cost.gm]);
    startTransfer(number, queue, ready);
    return;
  }
  if (queue == unsigned(Queue::V)) {
    double begin = dependencesOf(state, boxes, count, ready);
    addWait(number, queue, statisticsOf(entry.index).barrierStall[queue], begin - ready);
    record(number, queue, instruction, ready, begin, Stall::Barrier);
    ready = begin;
  }
  state.free = ready + cost.start + cost.data;
  state.complete = std::max(state.complete, state.free + cost.latency);
  if (queue == unsigned(Queue::V))
    noteWritten(state, boxes, count);
  addBusy(number, queue, entry.index, ready, state.free);
  record(number, queue, instruction, ready, state.free);
  leave(state, ready);
}

void Machine::event(const Event &event) {
  Core &core = cores[event.core];
  QueueState &state = core.queues[event.queue];
  const Entry entry = state.front();
  const Instruction &instruction = code[entry.index];
  if (instruction.opcode == Opcode::Signal) {
    unsigned number = unsigned(instruction.fields[Signal::event]) % kEvents;
    observe(event.core, instruction, entry.frame);
    // An await knows that so many signals came when the last one of them did.
    const bool sender = event.core >= cubeCores;
    for (bool receiver : {false, true}) {
      std::vector<double> &times = signals[number].arrivals[receiver];
      const double arrival =
          event.time + cycles(double(sender == receiver ? soc.signalLatency : soc.crossLatency));
      times.push_back(std::max(arrival, times.empty() ? 0 : times.back()));
    }
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
    const std::vector<double> &times = signals[number].arrivals[event.core >= cubeCores];
    if (value > int64_t(times.size())) {
      state.waiting = true;
      waiters[number].push_back(event);
      return;
    }
    observe(event.core, instruction, entry.frame);
    double ready = std::max(state.free, entry.issued);
    state.free = value > 0 ? std::max(ready, times[size_t(value) - 1]) : ready;
    addWait(event.core, event.queue, statisticsOf(entry.index).signalStall[event.queue],
            state.free - ready);
    record(event.core, event.queue, instruction, ready, state.free, Stall::Signal);
    if (event.queue == unsigned(Queue::S))
      core.time = std::max(core.time, state.free);
  } else {
    double next;
    const bool goesOn = pieceOfTransfer(state, event.time, next);
    // Instructions that were issued end, whatever the limit of steps is.
    if (!simulator.bytesLeft)
      return;
    if (goesOn) {
      events.push({next, event.core, event.queue});
      return;
    }
    state.free = next;
    state.complete = std::max(state.complete, next + state.cost.latency);
    addBusy(event.core, event.queue, entry.index, state.transfer.begun, next);
    record(event.core, event.queue, instruction, state.transfer.begun, next, Stall::None, 0,
           state.transfer.delayed);
  }
  state.underWay = false;
  leave(state, std::max(entry.issued, std::min(state.free, event.time)));
  advance(event.core);
}

void Machine::advance(unsigned number) {
  for (bool moved = true; moved;) {
    moved = false;
    while (scalarStep(number)) {
      --simulator.stepsLeft;
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

/// Appends what the core's scalar unit and queues wait for.
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
      what +=
          " event " + std::to_string(instruction.fields[Await::event]) + ") for " +
          std::to_string(instruction.ranges[Await::value].start.at(entry.frame.ivs)) +
          " signals of which " +
          std::to_string(signals[instruction.fields[Await::event] % kEvents].arrivals[0].size()) +
          " came";
    else
      what += ") for the other queues to finish";
    error += what + "\n";
  }
  if (core.pc < core.end && core.queues[0].empty())
    error += "core " + std::to_string(number) + " queue S waits at instruction " +
             std::to_string(code[core.pc].line) + " (" + infoOf(code[core.pc].opcode).mnemonic +
             ") for room in queue " + nameOf(queueOf(code[core.pc])) + "\n";
}

bool Machine::prepare(std::string &error) {
  const Program &program = *launch.program;
  const std::vector<Section> sections = program.sections();
  for (const Section &section : sections) {
    const uint64_t limit = soc.cores(section.vectorCore), count = section.cores(limit + 1);
    if (!count || count > limit) {
      error = "launch `" + printable(launch.name) + "` runs on " + std::to_string(count) +
              " cores, " + soc.name + " has " + std::to_string(limit) + "\n";
      return false;
    }
  }
  loopEnds.assign(code.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode == Opcode::LoopBegin) {
      open.push_back(i);
    } else if (code[i].opcode == Opcode::LoopEnd) {
      if (open.empty() || open.size() > kMaxLoops) {
        error = "launch `" + printable(launch.name) + "`: loops do not match\n";
        return false;
      }
      loopEnds[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) {
    error = "launch `" + printable(launch.name) + "`: a loop is not closed\n";
    return false;
  }
  double first = cycles(double(launch.chained ? soc.chainCycles : soc.launchCycles));
  if (launch.beginsRun)
    first += cycles(double(soc.runCycles));
  if (timed)
    for (const Prefetch &range : launch.prefetch) {
      spendBytes(range.bytes);
      memory.prefetch(range);
    }
  layers.front().startCycles = first;
  layers.front().chained = launch.chained;
  cubeCores = 0;
  for (const Section &section : sections)
    addCores(section, first);
  const size_t used = cores.size() - cubeCores;
  simulator.perCore.resize(
      std::max<size_t>(simulator.perCore.size(), used ? soc.cubeCores + used : cubeCores));
  setCores(sections);
  return true;
}

void Machine::addCores(const Section &section, double start) {
  const unsigned count = unsigned(section.cores());
  for (unsigned i = 0; i < count; ++i) {
    Core &core = cores.emplace_back();
    core.pc = uint32_t(section.begin);
    core.end = uint32_t(section.end);
    setCorePosition(core.frame, section, i);
    core.time = start;
    for (QueueState &state : core.queues) {
      state.left.assign(soc.queueDepth, 0);
      state.ring.resize(soc.queueDepth);
    }
  }
  if (!soc.split || !section.vectorCore)
    cubeCores += count;
}

/// True if all has run; what still waits is named in `error` otherwise.
bool Machine::finish(std::string &error) {
  bool done = true;
  std::vector<double> ends;
  for (unsigned i = 0; i < cores.size(); ++i) {
    const Core &core = cores[i];
    double last = core.time;
    bool waits = core.pc < core.end;
    for (const QueueState &state : core.queues) {
      last = std::max({last, state.complete, state.free});
      waits |= !state.empty();
    }
    ends.push_back(last);
    end = std::max(end, last);
    if (!waits)
      continue;
    if (stopped()) {
      error =
          "launch `" + printable(launch.name) + "` was ended: no more " +
          (simulator.stepsLeft ? "bytes are allowed to move" : "instructions are allowed to run") +
          "\n";
      done = false;
      continue;
    }
    if (done)
      error += "launch `" + printable(launch.name) + "` cannot go on:\n";
    done = false;
    describe(i, error);
  }
  for (double last : ends)
    layers.back().tailStall += end - last;
  return done;
}

void Machine::setCores(const std::vector<Section> &sections) {
  const auto separate = [&](const Section &section) { return soc.split && section.vectorCore; };
  for (size_t i = 0; i < layers.size(); ++i) {
    Statistics &layer = layers[i];
    const uint32_t begin = layerOf.empty() ? 0 : launch.program->layers[i].begin;
    for (const Section &section : sections)
      if (layerOf.empty() || (begin >= section.begin && begin < section.end))
        (separate(section) ? layer.vectorCores : layer.cubeCores) += section.cores();
    layer.coreCount = layer.cubeCores + layer.vectorCores;
    layer.joined = i > 0;
  }
}

// Cycles in which two layers run, as on cube and vector cores, are shared by both; those in which
// none does, as before the first one or while cores meet, are those of the next one.
void Machine::divideCycles() {
  std::vector<std::pair<double, size_t>> begins, ends;
  for (const Section &section : launch.program->sections()) {
    double before = 0;
    for (size_t at = section.begin; at < section.end && !layerOf.empty(); ++at) {
      if (at > section.begin && layerOf[at] == layerOf[at - 1])
        continue;
      // Weights are loaded ahead of a layer: it begins where the one before it ends.
      LayerTimes &layer = times[layerOf[at]];
      layer.begin = std::max(layer.begin, before);
      before = std::max(before, layer.end);
    }
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].activeCycles = std::max(0.0, times[i].end - times[i].begin);
    if (times[i].end > times[i].begin) {
      begins.push_back({times[i].begin, i});
      ends.push_back({times[i].end, i});
    }
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<size_t> running;
  double now = 0;
  const auto pass = [&](double until, size_t next) {
    if (running.empty()) {
      layers[next].cycles += until - now;
      layers[next].activeCycles += until - now;
    }
    for (size_t layer : running)
      layers[layer].cycles += (until - now) / double(running.size());
    now = until;
  };
  auto begin = begins.begin();
  for (auto [time, layer] : ends) {
    for (; begin != begins.end() && begin->first < time; ++begin) {
      pass(begin->first, begin->second);
      running.push_back(begin->second);
    }
    pass(time, layer);
    running.erase(std::find(running.begin(), running.end(), layer));
  }
  pass(end, ends.empty() ? 0 : ends.back().second);
}

bool Machine::run(std::string &error) {
  if (!prepare(error))
    return false;
  uint64_t prefetched = memory.prefetchedBytes(), evicted = memory.prefetchEvictedBytes();
  for (unsigned i = 0; i < cores.size(); ++i)
    advance(i);
  while (!events.empty()) {
    Event next = events.top();
    events.pop();
    event(next);
  }
  bool done = finish(error);
  memory.endLaunch(end);
  if (!done)
    return false;
  // The prefetches of a launch for later ones count with its first layer.
  Statistics &first = layers.front();
  first.prefetched = memory.prefetchedBytes() - prefetched;
  first.ddrRead += first.prefetched;
  evicted = memory.prefetchEvictedBytes() - evicted;
  first.l2Evicted += evicted;
  first.ddrWritten += evicted;
  if (layers.size() == 1)
    first.cycles = first.activeCycles = end;
  else
    divideCycles();
  return true;
}
