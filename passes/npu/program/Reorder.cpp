//===-- Reorder.cpp - orders the instructions of each block ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queues execute their instructions in program order: an instruction that must wait delays those
// behind it on its queue. Conflicting instructions keep their order, so the program computes the
// same.

#include "backends/npu/ProgramEncoder.h"
#include "npu/simulator/Costs.h"
#include "passes/npu/Passes.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/program/SyncAnalysis.h"

#include <array>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUREORDER
#include "passes/npu/Passes.h.inc"

namespace {

using Cycles = std::array<double, kQueues>;

/// A child of a block. A loop occupies its queues for all its iterations.
struct Child {
  Operation *op = nullptr;
  bool isFence = false;       ///< the scalar unit waits for it
  std::optional<Queue> queue; ///< of an instruction
  SmallVector<BufferAccess, 4> accesses;
  Cycles busy = {};
  double total = 0; ///< until its results are there
};

/// Schedules the children of one block.
class Schedule {
public:
  Schedule(std::vector<Child> children, unsigned depth, int64_t trips);

  std::vector<unsigned> listOrder() const;
  /// Cycles of a few iterations in this order.
  double time(ArrayRef<unsigned> order) const;
  /// The longest chain.
  double chain() const { return priority.empty() ? 0 : *llvm::max_element(priority); }

  std::vector<Child> children;

private:
  struct Carried {
    unsigned source;
    unsigned distance;
  };
  /// Returns whether a child waits for another one; instructions of one queue follow each other
  /// without waiting for results.
  bool waitsFor(unsigned child, unsigned other) const {
    return !children[child].queue || children[child].queue != children[other].queue;
  }
  /// When the child can begin on the queue that it can begin on first.
  double beginOf(const Child &child, double ready, const Cycles &free) const {
    double begin = -1;
    for (unsigned queue = 0; queue < kQueues; ++queue)
      if (child.busy[queue] > 0 && (begin < 0 || std::max(ready, free[queue]) < begin))
        begin = std::max(ready, free[queue]);
    return std::max(begin, ready);
  }
  /// Occupies the child's queues; returns the time at which its results are available.
  double run(const Child &child, double ready, Cycles &free) const {
    double end = beginOf(child, ready, free) + child.total;
    for (unsigned queue = 0; queue < kQueues; ++queue)
      if (child.busy[queue] > 0) {
        free[queue] = std::max(ready, free[queue]) + child.busy[queue];
        end = std::max(end, free[queue]);
      }
    return end;
  }

  int64_t iterations;
  std::vector<SmallVector<unsigned>> before; ///< children that must come before
  std::vector<SmallVector<Carried>> carried; ///< ... in an earlier iteration
  std::vector<double> priority;              ///< the longest chain from the child on
};

Schedule::Schedule(std::vector<Child> given, unsigned depth, int64_t trips)
    : children(std::move(given)), iterations(std::min<int64_t>(trips, 4)), before(children.size()),
      carried(children.size()), priority(children.size()) {
  for (unsigned j = 0; j < children.size(); ++j)
    for (unsigned i = 0; i < j; ++i) {
      unsigned distance = ~0u;
      if (children[i].isFence || children[j].isFence)
        distance = 1;
      for (const BufferAccess &a : children[i].accesses)
        for (const BufferAccess &b : children[j].accesses)
          if (doConflict(a, b))
            distance = std::min(distance, reuseDistance(a, b, depth));
      if (distance == ~0u)
        continue;
      before[j].push_back(i);
      carried[i].push_back({j, distance});
    }
  for (unsigned j = children.size(); j-- > 0;) {
    priority[j] += children[j].total;
    for (unsigned i : before[j])
      priority[i] = std::max(priority[i], priority[j]);
  }
}

std::vector<unsigned> Schedule::listOrder() const {
  std::vector<unsigned> order, missing;
  std::vector<SmallVector<unsigned>> after(children.size());
  for (unsigned j = 0; j < children.size(); ++j) {
    missing.push_back(before[j].size());
    for (unsigned i : before[j])
      after[i].push_back(j);
  }
  std::vector<double> ready(children.size());
  std::vector<unsigned> open;
  for (unsigned j = 0; j < children.size(); ++j)
    if (!missing[j])
      open.push_back(j);
  Cycles free = {};
  while (!open.empty()) {
    auto key = [&](unsigned child) {
      return std::tuple(beginOf(children[child], ready[child], free), -priority[child], child);
    };
    auto best = llvm::min_element(open, [&](unsigned a, unsigned b) { return key(a) < key(b); });
    unsigned child = *best;
    open.erase(best);
    order.push_back(child);
    double end = run(children[child], ready[child], free);
    for (unsigned next : after[child]) {
      if (waitsFor(next, child))
        ready[next] = std::max(ready[next], end);
      if (!--missing[next])
        open.push_back(next);
    }
  }
  return order;
}

double Schedule::time(ArrayRef<unsigned> order) const {
  std::vector<std::vector<double>> end(iterations, std::vector<double>(children.size()));
  Cycles free = {};
  double last = 0;
  for (int64_t i = 0; i < iterations; ++i)
    for (unsigned child : order) {
      double ready = 0;
      for (unsigned other : before[child])
        if (waitsFor(child, other))
          ready = std::max(ready, end[i][other]);
      for (auto [source, distance] : carried[child])
        if (i >= int64_t(distance) && waitsFor(child, source))
          ready = std::max(ready, end[i - distance][source]);
      end[i][child] = run(children[child], ready, free);
      last = std::max(last, end[i][child]);
    }
  return last;
}

struct ReorderPass : impl::NpuReorderBase<ReorderPass> {
  using Base::Base;

  void runOnOperation() override {
    ir::ProgramOp program = getOperation();
    FailureOr<Program> encoded = failure();
    if (succeeded(expectSequential(program)))
      encoded = encodeProgram(program);
    if (failed(encoded))
      return signalPassFailure();
    soc = socOf(program);
    code = std::move(encoded->code);
    next = 0;
    frame = Frame();
    for (unsigned dim = 0; dim < kGridDims; ++dim)
      frame.trips[dim] = encoded->grid[dim];
    visit(*program.getBody(), 1);
  }

private:
  /// Schedules a block, nested blocks first, and returns it as one child. Ties are broken by the
  /// original order of instructions.
  Child visit(Block &block, int64_t trips) {
    std::vector<Child> children;
    for (Operation &op : block) {
      if (auto loop = dyn_cast<ir::LoopOp>(op)) {
        int64_t &count = frame.trips[kGridDims + frame.depth++];
        count = loop.getTrips();
        ++next; // the loop's begin
        children.push_back(visit(*loop.getBody(), loop.getTrips()));
        children.back().op = &op;
        ++next; // ... and end
        count = 1;
        --frame.depth;
      } else if (queueOf(&op)) {
        children.push_back(instruction(&op));
      }
    }
    Schedule schedule(std::move(children), frame.depth, trips);
    std::vector<unsigned> old, order = schedule.listOrder();
    for (unsigned i = 0; i < order.size(); ++i)
      old.push_back(i);
    if (order != old && schedule.time(order) < schedule.time(old)) {
      for (unsigned child : order)
        schedule.children[child].op->moveBefore(&block, block.end());
      ++numReordered;
    }

    Child whole;
    for (const Child &child : schedule.children) {
      whole.isFence |= child.isFence;
      llvm::append_range(whole.accesses, child.accesses);
      for (unsigned queue = 0; queue < kQueues; ++queue)
        whole.busy[queue] += child.busy[queue] * double(trips);
    }
    whole.total = schedule.chain() + *llvm::max_element(whole.busy) * double(trips - 1) / trips;
    return whole;
  }

  Child instruction(Operation *op) {
    const Instruction &instruction = code[next++];
    Child child;
    child.op = op;
    child.accesses = accessesOf(op);
    child.queue = queueOf(op);
    child.isFence = child.queue == Queue::S;
    Box boxes[4];
    unsigned count = boxesOf(instruction, frame, boxes);
    Cost cost;
    if (count)
      cost = costOf(soc, instruction, frame, boxes, count);
    double busy = std::max(1.0, cost.start + cost.data);
    child.busy[unsigned(*child.queue)] = busy;
    child.total = busy + cost.latency;
    return child;
  }

  SocTable soc;
  std::vector<Instruction> code;
  size_t next = 0;
  Frame frame;
};

} // namespace
} // namespace atc::npu
