//===-- PlanMemory.cpp - places buffers in the arena ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <random>

using namespace mlir;

namespace atc::om {
#define GEN_PASS_DEF_OMPLANMEMORY
#include "passes/om/Passes.h.inc"

namespace {

struct Buffer {
  AllocOp alloc;
  int64_t bytes;
  Schedule::Lifetime lifetime;
  /// Indices of the buffers that live at the same time.
  SmallVector<unsigned> rivals;
};

struct Placement {
  SmallVector<int64_t> offsets;
  int64_t arena = 0;
};

/// Places the buffers one after the other, each in the smallest gap between
/// those placed before that live at the same time.
Placement place(ArrayRef<Buffer> buffers, ArrayRef<unsigned> order) {
  Placement result;
  result.offsets.assign(buffers.size(), -1);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned index : order) {
    const Buffer &buffer = buffers[index];
    taken.clear();
    for (unsigned rival : buffer.rivals)
      if (result.offsets[rival] >= 0)
        taken.emplace_back(result.offsets[rival], result.offsets[rival] + buffers[rival].bytes);
    llvm::sort(taken);

    int64_t end = 0, best = -1, bestGap = 0;
    for (auto [from, to] : taken) {
      int64_t gap = from - end;
      if (gap >= buffer.bytes && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, to);
    }
    result.offsets[index] = best >= 0 ? best : end;
    result.arena = std::max(result.arena, result.offsets[index] + buffer.bytes);
  }
  return result;
}

/// The most bytes that live during one launch.
int64_t mostLive(ArrayRef<Buffer> buffers, unsigned launches) {
  SmallVector<int64_t> change(launches + 1, 0);
  for (const Buffer &buffer : buffers) {
    change[buffer.lifetime.first] += buffer.bytes;
    change[buffer.lifetime.last + 1] -= buffer.bytes;
  }
  int64_t live = 0, most = 0;
  for (int64_t delta : change)
    most = std::max(most, live += delta);
  return most;
}

/// Exchanges two buffers of the order at a time and keeps what is not worse.
Placement climb(ArrayRef<Buffer> buffers, SmallVector<unsigned> order, int64_t goal,
                int64_t trials) {
  Placement best = place(buffers, order);
  if (buffers.size() < 3)
    return best;
  // A fixed seed: the same model always becomes the same file.
  std::mt19937 random(20);
  std::uniform_int_distribution<size_t> pick(0, order.size() - 1);
  for (int64_t trial = 0; trial < trials && best.arena > goal; ++trial) {
    size_t a = pick(random), b = pick(random);
    std::swap(order[a], order[b]);
    Placement next = place(buffers, order);
    if (next.arena <= best.arena)
      best = std::move(next);
    else
      std::swap(order[a], order[b]);
  }
  return best;
}

/// What the arena would take if no buffer ever shared its bytes.
int64_t intermediateBytes(const Schedule &schedule) {
  int64_t sum = 0;
  for (LaunchOp launch : schedule.launches()) {
    Value output = writtenBy(launch);
    if (resolveViews(output).root.getDefiningOp<AllocOp>()) {
      auto type = cast<MemRefType>(output.getType());
      sum += type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  }
  return sum;
}

struct PlanMemoryPass : impl::OmPlanMemoryBase<PlanMemoryPass> {
  using OmPlanMemoryBase::OmPlanMemoryBase;

  void runOnOperation() override {
    func::FuncOp main = findMain(getOperation());
    if (!main)
      return;
    Schedule schedule(main);
    SmallVector<Buffer> buffers;
    int64_t sum = 0;
    for (auto [alloc, lifetime] : schedule.lifetimes()) {
      buffers.push_back({alloc, arenaBytes(alloc), lifetime, {}});
      sum += buffers.back().bytes;
    }
    for (unsigned i = 0; i < buffers.size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        if (buffers[i].lifetime.overlaps(buffers[j].lifetime)) {
          buffers[i].rivals.push_back(j);
          buffers[j].rivals.push_back(i);
        }

    SmallVector<unsigned> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
    });
    int64_t bound = mostLive(buffers, schedule.launches().size());
    Placement placement = climb(buffers, order, bound, trials);

    Builder builder(&getContext());
    // A buffer that no launch touches may lie anywhere.
    main.walk([&](AllocOp alloc) { alloc.setOffset(0); });
    for (auto [buffer, offset] : llvm::zip(buffers, placement.offsets))
      buffer.alloc.setOffset(offset);
    getOperation()->setAttr(kArenaSizeAttr, builder.getI64IntegerAttr(placement.arena));
    getOperation()->setAttr(kArenaLowerBoundAttr, builder.getI64IntegerAttr(bound));
    getOperation()->setAttr(kIntermediateBytesAttr,
                            builder.getI64IntegerAttr(intermediateBytes(schedule)));
    arenaSize += placement.arena;
    lowerBound += bound;
    allocBytes += sum;
  }
};
} // namespace
} // namespace atc::om
