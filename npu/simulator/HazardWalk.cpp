//===-- HazardWalk.cpp - walks a launch in the order of its synchronization ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes happens-before with vector clocks: each queue of each core knows up to which point of
// every other queue all instructions complete before its next one. set_flag and signal release this
// knowledge, wait_flag and await acquire it; everything that the scalar unit issues after a wait
// inherits it.
//
// An await(event, v) knows that v signals came, but not which. It may rely on the signals that must
// be among any v: v minus all that the other queues can have sent by then. Awaits are therefore
// passed only when nothing else can make progress: the signals sent by then are all that can have
// been sent, unless another event could release more. In that case the number is bounded by the
// result of a first walk: signals behind an await of v in their own core come later.

#include "npu/simulator/HazardWalk.h"

#include "npu/simulator/CorePosition.h"
#include "npu/simulator/Loops.h"

namespace atc::npu::hazards {

void Walk::start() {
  cores.clear();
  std::fill(std::begin(signals), std::end(signals), 0);
  for (const Section &section : program.sections())
    for (unsigned i = 0, end = unsigned(section.cores()); i < end; ++i) {
      Core &core = cores.emplace_back();
      core.pc = uint32_t(section.begin);
      core.end = uint32_t(section.end);
      setCorePosition(core.frame, section, i);
    }
  const size_t count = cores.size();
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned queue = 0; queue < kQueues; ++queue)
      cores[i].queues[queue].clock.time.assign(shared ? count * kQueues : kQueues, 0);
    for (unsigned queue = 0; queue < kQueues; ++queue)
      own(i, queue) = 1;
  }
}

/// Until nothing moves; false if something is left.
bool Walk::walk() {
  for (bool moved = true; moved && !tooLong;) {
    moved = false;
    for (unsigned i = 0; i < cores.size(); ++i)
      moved |= advance(i);
    moved = moved || passAwaits();
  }
  bool done = true;
  for (const Core &core : cores) {
    done &= core.pc == core.end;
    for (const QueueState &queue : core.queues)
      done &= queue.pending.empty();
  }
  return done;
}

/// Nothing moves: finds what awaits that may now be passed can rely on. False if
/// there are none.
bool Walk::passAwaits() {
  std::map<unsigned, int64_t> lowest; // by event
  if (!spend(cores.size()))
    return false;
  auto look = [&](const Instruction &in, const Frame &frame) {
    if (in.opcode != Opcode::Await)
      return;
    unsigned event = unsigned(in.fields[Await::event]) % kEvents;
    int64_t value = in.ranges[Await::value].start.at(frame.ivs);
    if (signals[event] < value || sure.count({event, value}))
      return;
    auto [entry, fresh] = lowest.insert({event, value});
    entry->second = std::min(entry->second, value);
  };
  for (const Core &core : cores) {
    if (core.pc < core.end)
      look(code[core.pc], core.frame);
    for (const QueueState &queue : core.queues)
      if (!queue.pending.empty() && queue.pending.front().instruction)
        look(*queue.pending.front().instruction, queue.pending.front().frame);
  }
  for (auto [event, value] : lowest) {
    std::map<unsigned, int64_t> possible;
    int64_t sum = 0;
    for (const auto &[source, follow] : mustFollow[event]) {
      int64_t bound = std::lower_bound(follow.begin(), follow.end(), value) - follow.begin();
      if (lowest.size() == 1)
        bound = std::min(bound, int64_t(given[event][source].size()));
      sum += possible[source] = bound;
    }
    std::map<unsigned, int64_t> &rely = sure[{event, value}];
    for (const auto &[source, bound] : possible)
      rely[source] = std::min(bound, value - (sum - bound));
    records += 1 + rely.size();
  }
  return !lowest.empty();
}

bool Walk::advance(unsigned number) {
  Core &core = cores[number];
  bool any = false;
  core.fresh = (1u << kQueues) - 1; // other cores may have signalled
  for (;;) {
    while (core.fresh) {
      unsigned queue = unsigned(__builtin_ctz(core.fresh));
      core.fresh &= core.fresh - 1;
      any |= drain(number, queue);
    }
    if (tooLong || !scalarStep(number))
      return any;
    any = true;
  }
}

/// The next instruction of the program; false if the scalar unit has to wait.
bool Walk::scalarStep(unsigned number) {
  Core &core = cores[number];
  if (core.pc >= core.end)
    return false;
  if (!spend(1))
    return false;
  const Instruction &in = code[core.pc];
  Frame &frame = core.frame;
  if (in.opcode == Opcode::LoopBegin) {
    enterLoop(frame, in.fields[LoopBegin::trips]);
    core.loops.push_back(core.pc++);
    return true;
  }
  if (in.opcode == Opcode::LoopEnd) {
    if (nextRound(frame)) {
      core.pc = core.loops.back() + 1;
      return true;
    }
    core.loops.pop_back();
    ++core.pc;
    return true;
  }
  if (in.guard.admits(frame)) {
    unsigned queue = unsigned(queueOf(in));
    QueueState &state = core.queues[queue];
    if (queue == unsigned(Queue::S)) {
      if (!process(number, queue, in, frame))
        return false;
    } else if (!state.pending.empty() || !process(number, queue, in, frame)) {
      if (state.instructions >= soc.queueDepth)
        return false;
      state.pending.push_back({&in, frame, nullptr});
      ++state.instructions;
    }
  }
  ++core.pc;
  return true;
}

bool Walk::drain(unsigned number, unsigned queue) {
  QueueState &state = cores[number].queues[queue];
  bool any = false;
  while (!state.pending.empty()) {
    Entry &entry = state.pending.front();
    if (entry.instruction) {
      if (!process(number, queue, *entry.instruction, entry.frame))
        break;
      --state.instructions;
    } else {
      acquire(number, queue, *entry.news);
      records -= weightOf(*entry.news);
    }
    state.pending.pop_front();
    any = true;
  }
  return any;
}

/// All that is issued from here on comes after what the scalar unit waited for.
void Walk::tellNews(unsigned number) {
  auto news = std::make_shared<const Clock>(release(number, unsigned(Queue::S)));
  for (unsigned queue = 1; queue < kQueues; ++queue) {
    QueueState &state = cores[number].queues[queue];
    if (state.pending.empty()) {
      acquire(number, queue, *news);
      continue;
    }
    state.pending.push_back({nullptr, {}, news});
    records += weightOf(*news);
  }
}

/// False if the instruction has to wait.
bool Walk::process(unsigned number, unsigned queue, const Instruction &in, const Frame &frame) {
  Core &core = cores[number];
  Clock &clock = core.queues[queue].clock;
  switch (in.opcode) {
  case Opcode::SetFlag: {
    unsigned to = unsigned(in.fields[SetFlag::to]), id = flagOf(in, frame) % kFlagIds;
    FlagState &flag = core.flags[queue][to][id];
    if (!counting && (!flag.raised.empty() || clock.time[slot(number, to)] < flag.lastWait))
      addHazard(Hazard::FlagRaisedTwice, indexOf(in),
                "raises flag " + std::string(nameOf(Queue(queue))) + " -> " + nameOf(Queue(to)) +
                    " id " + std::to_string(id) + ", which nothing makes sure is down");
    flag.raised.push_back({release(number, queue), indexOf(in)});
    records += weightOf(clock);
    core.fresh |= 1u << to;
    break;
  }
  case Opcode::WaitFlag: {
    unsigned from = unsigned(in.fields[WaitFlag::from]);
    FlagState &flag = core.flags[from][queue][flagOf(in, frame) % kFlagIds];
    if (flag.raised.empty())
      return false;
    acquire(number, queue, flag.raised.front().first);
    flag.raised.pop_front();
    records -= weightOf(clock);
    flag.lastWait = own(number, queue);
    if (queue == unsigned(Queue::S))
      tellNews(number);
    break;
  }
  case Opcode::PipeBarrier:
    if (queue != unsigned(Queue::S)) {
      core.queues[queue].completed = own(number, queue)++;
      break;
    }
    for (const QueueState &state : core.queues)
      if (!state.pending.empty())
        return false;
    for (unsigned other = 1; other < kQueues; ++other)
      clock.join(release(number, other));
    tellNews(number);
    break;
  case Opcode::Signal: {
    unsigned event = unsigned(in.fields[Signal::event]) % kEvents;
    unsigned source = number * kQueues + queue;
    ++signals[event];
    if (counting)
      mustFollow[event][source].push_back(clock.awaited[event]);
    else
      given[event][source].push_back(release(number, queue));
    records += counting ? 1 : weightOf(clock);
    break;
  }
  case Opcode::Await:
    if (!awaited(number, queue, in, frame))
      return false;
    if (queue == unsigned(Queue::S))
      tellNews(number);
    break;
  default:
    if (!counting)
      access(number, queue, in, frame);
    break;
  }
  return true;
}

bool Walk::awaited(unsigned number, unsigned queue, const Instruction &in, const Frame &frame) {
  unsigned event = unsigned(in.fields[Await::event]) % kEvents;
  int64_t value = in.ranges[Await::value].start.at(frame.ivs);
  auto known = sure.find({event, value});
  if (counting ? signals[event] < value : value > 0 && known == sure.end())
    return false;
  Clock &clock = cores[number].queues[queue].clock;
  clock.awaited[event] = std::max(clock.awaited[event], value);
  if (counting || value <= 0)
    return true;
  for (auto [source, count] : known->second)
    if (count > 0)
      acquire(number, queue, given[event][source][size_t(count) - 1]);
  return true;
}

std::vector<Hazard> Walk::run() {
  locateArguments();
  for (const Instruction &in : code)
    shared |= in.opcode == Opcode::Signal;
  if (shared) {
    // The first walk only determines the order of awaits and signals within each core.
    counting = true;
    shared = false;
    start();
    walk();
    counting = false;
    shared = !tooLong;
    left = maxSteps;
    records = 0;
  }
  start();
  local.assign(cores.size(), std::vector<Shadow>(kMemories));
  bool done = !tooLong && walk();
  if (!tooLong && !done)
    for (unsigned i = 0; i < cores.size(); ++i) {
      Core &core = cores[i];
      for (unsigned queue = 0; queue < kQueues; ++queue) {
        const Instruction *in = nullptr;
        if (!core.queues[queue].pending.empty())
          in = core.queues[queue].pending.front().instruction;
        else if (queue == 0 && core.pc < core.end && queueOf(code[core.pc]) == Queue::S)
          in = &code[core.pc];
        if (in)
          addHazard(Hazard::NeverSatisfied, indexOf(*in),
                    "is never passed on core " + std::to_string(i));
      }
    }
  if (done)
    for (unsigned i = 0; i < cores.size(); ++i)
      for (unsigned from = 0; from < kQueues; ++from)
        for (unsigned to = 0; to < kQueues; ++to)
          for (unsigned id = 0; id < kFlagIds; ++id)
            for (const auto &raised : cores[i].flags[from][to][id].raised)
              addHazard(Hazard::FlagLeftUp, raised.second,
                        "leaves flag " + std::string(nameOf(Queue(from))) + " -> " +
                            nameOf(Queue(to)) + " id " + std::to_string(id) + " up");
  std::vector<Hazard> result = report();
  if (tooLong) {
    Hazard hazard;
    hazard.kind = Hazard::TooLong;
    hazard.text = name() + "not looked at to its end: more than " +
                  (records > maxRecords ? std::to_string(maxRecords) + " records"
                                        : std::to_string(maxSteps) + " steps");
    result.push_back(hazard);
  }
  return result;
}

} // namespace atc::npu::hazards
