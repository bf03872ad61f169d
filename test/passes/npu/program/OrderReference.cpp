//===-- OrderReference.cpp - what is ordered, by brute force --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/passes/npu/program/OrderReference.h"

#include "npu/isa/Footprint.h"
#include "npu/simulator/Loops.h"

#include <map>
#include <tuple>

namespace atc::npu::test {

namespace {

struct Node {
  const Instruction *in;
  Queue queue;
  std::vector<Interval> touched;
  std::vector<size_t> before; ///< nodes that are done before it
};

std::vector<Node> unroll(const Program &program, Frame frame) {
  std::vector<Node> nodes;
  std::vector<size_t> begins;
  for (size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instruction &in = program.code[pc];
    if (in.opcode == Opcode::LoopBegin) {
      begins.push_back(pc);
      enterLoop(frame, in.fields[LoopBegin::trips]);
    } else if (in.opcode == Opcode::LoopEnd) {
      if (nextRound(frame))
        pc = begins.back();
      else
        begins.pop_back();
    } else if (in.guard.admits(frame)) {
      Node node{&in, queueOf(in), {}, {}};
      footprint(in, frame, [&](const Interval &interval) { node.touched.push_back(interval); });
      if (in.opcode == Opcode::SetFlag || in.opcode == Opcode::WaitFlag) {
        // The id takes the place of an address.
        Interval id{};
        id.begin = flagOf(in, frame);
        node.touched = {id};
      }
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

/// False if a wait has no flag.
bool draw(std::vector<Node> &nodes) {
  constexpr size_t kNone = ~size_t(0);
  size_t lastOf[kQueues], scalar = kNone;
  std::fill(std::begin(lastOf), std::end(lastOf), kNone);
  std::vector<size_t> ofVector;
  using Flag = std::tuple<int64_t, int64_t, int64_t>;
  std::map<Flag, std::vector<size_t>> sets, waits;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node &node = nodes[i];
    auto after = [&](size_t other) {
      if (other != kNone)
        node.before.push_back(other);
    };
    const int64_t *f = node.in->fields;
    const bool isBarrier = node.in->opcode == Opcode::PipeBarrier;
    if (node.queue != Queue::V) {
      after(lastOf[size_t(node.queue)]);
    } else {
      // An instruction of the vector queue waits for flags and barriers before it, and not for the
      // end of other instructions; what sets a flag does.
      const bool waitsForAll = isBarrier || node.in->opcode == Opcode::SetFlag;
      for (size_t other : ofVector)
        if (waitsForAll || nodes[other].in->opcode == Opcode::WaitFlag ||
            nodes[other].in->opcode == Opcode::PipeBarrier)
          after(other);
      ofVector.push_back(i);
    }
    after(scalar);
    if (isBarrier && node.queue == Queue::S) {
      for (size_t last : lastOf)
        after(last);
      for (size_t other : ofVector)
        after(other);
    }
    if (node.in->opcode == Opcode::SetFlag || node.in->opcode == Opcode::WaitFlag) {
      auto &list = node.in->opcode == Opcode::SetFlag ? sets : waits;
      list[{f[SetFlag::from], f[SetFlag::to], node.touched[0].begin}].push_back(i);
      node.touched.clear();
    }
    lastOf[size_t(node.queue)] = i;
    if (node.queue == Queue::S)
      scalar = i;
  }
  for (const auto &[flag, list] : waits)
    for (size_t i = 0; i < list.size(); ++i) {
      if (i >= sets[flag].size())
        return false;
      nodes[list[i]].before.push_back(sets[flag][i]);
    }
  return true;
}

bool conflict(const Node &a, const Node &b) {
  for (const Interval &x : a.touched)
    for (const Interval &y : b.touched)
      if ((x.written || y.written) && x.memory == y.memory &&
          (x.memory != Memory::GM || x.argument == y.argument) && x.begin < y.end &&
          y.begin < x.end)
        return true;
  return false;
}

Ordered orderOfCore(const Program &program, const Frame &frame) {
  std::vector<Node> nodes = unroll(program, frame);
  if (!draw(nodes))
    return Ordered::Hangs;
  size_t count = nodes.size(), words = (count + 63) / 64;
  // In the order in which all before a node is known; a circle never gets there.
  std::vector<std::vector<uint64_t>> known(count, std::vector<uint64_t>(words));
  std::vector<bool> done(count);
  for (size_t left = count; left;) {
    size_t start = left;
    for (size_t i = 0; i < count; ++i) {
      if (done[i])
        continue;
      bool ready = true;
      for (size_t other : nodes[i].before)
        ready &= done[other];
      if (!ready)
        continue;
      for (size_t other : nodes[i].before) {
        for (size_t w = 0; w < words; ++w)
          known[i][w] |= known[other][w];
        known[i][other / 64] |= uint64_t(1) << other % 64;
      }
      done[i] = true;
      --left;
    }
    if (left == start)
      return Ordered::Hangs;
  }
  auto before = [&](size_t a, size_t b) { return known[b][a / 64] >> a % 64 & 1; };
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j)
      if ((nodes[i].queue != nodes[j].queue || nodes[i].queue == Queue::V) && !before(i, j) &&
          !before(j, i) && conflict(nodes[i], nodes[j]))
        return Ordered::No;
  return Ordered::Yes;
}

} // namespace

Ordered orderOf(const Program &program) {
  Ordered result = Ordered::Yes;
  unsigned cores = program.grid[0] * program.grid[1] * program.grid[2];
  for (unsigned core = 0; core < cores; ++core) {
    Frame frame;
    unsigned rest = core;
    for (int dim = kGridDims - 1; dim >= 0; rest /= program.grid[dim--]) {
      frame.ivs[dim] = rest % program.grid[dim];
      frame.trips[dim] = program.grid[dim];
    }
    Ordered one = orderOfCore(program, frame);
    if (one == Ordered::Hangs)
      return one;
    if (one == Ordered::No)
      result = one;
  }
  return result;
}

} // namespace atc::npu::test
