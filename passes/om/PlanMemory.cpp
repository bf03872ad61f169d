//===-- PlanMemory.cpp - allocates buffers in the arena -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/om/Passes.h"
#include "passes/om/Schedule.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>
#include <random>
#include <set>

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

/// Allocates the buffers one after the other, each in the smallest gap between the already
/// allocated ones that are live at the same time.
Placement position(ArrayRef<Buffer> buffers, ArrayRef<unsigned> order) {
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

/// Finds the conflicts of all buffers, which are sorted by their first launches. Returns the number
/// of pairs; above `maxPairs` some are missing.
int64_t findRivals(MutableArrayRef<Buffer> buffers, int64_t maxPairs) {
  int64_t pairs = 0;
  SmallVector<unsigned> live;
  for (unsigned i = 0; i < buffers.size() && pairs <= maxPairs; ++i) {
    llvm::erase_if(
        live, [&](unsigned j) { return buffers[j].lifetime.last < buffers[i].lifetime.first; });
    for (unsigned j : live) {
      buffers[i].rivals.push_back(j);
      buffers[j].rivals.push_back(i);
    }
    pairs += live.size();
    live.push_back(i);
  }
  return pairs;
}

/// Positions the buffers in the order of their first launches, each in the smallest gap that holds
/// it at that time, in a time that hardly depends on how many live together.
Placement placeInTime(ArrayRef<Buffer> buffers) {
  Placement result;
  std::map<int64_t, int64_t> gaps; // bytes of each, by offset
  std::set<std::pair<int64_t, int64_t>> bySize;
  auto addGap = [&](int64_t offset, int64_t bytes) {
    gaps[offset] = bytes;
    bySize.emplace(bytes, offset);
  };
  auto removeGap = [&](std::map<int64_t, int64_t>::iterator gap) {
    bySize.erase({gap->second, gap->first});
    return gaps.erase(gap);
  };
  auto release = [&](int64_t offset, int64_t bytes) {
    auto next = gaps.lower_bound(offset);
    if (next != gaps.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = removeGap(next);
    }
    if (next != gaps.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      --next;
      offset = next->first;
      bytes += next->second;
      removeGap(next);
    }
    addGap(offset, bytes);
  };
  std::set<std::pair<unsigned, unsigned>> ends; // last launch and index of the buffers that live
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    for (; !ends.empty() && ends.begin()->first < buffer.lifetime.first; ends.erase(ends.begin()))
      release(result.offsets[ends.begin()->second], buffers[ends.begin()->second].bytes);
    ends.emplace(buffer.lifetime.last, index);
    auto fit = bySize.lower_bound({buffer.bytes, 0});
    if (fit == bySize.end()) {
      result.offsets.push_back(result.arena);
      result.arena += buffer.bytes;
      continue;
    }
    auto [bytes, offset] = *fit;
    removeGap(gaps.find(offset));
    if (bytes > buffer.bytes)
      addGap(offset + buffer.bytes, bytes - buffer.bytes);
    result.offsets.push_back(offset);
  }
  return result;
}

/// Returns the maximum number of bytes that are live during one launch.
int64_t maxLive(ArrayRef<Buffer> buffers, unsigned launches) {
  SmallVector<int64_t> change(launches + 1, 0);
  for (const Buffer &buffer : buffers) {
    change[buffer.lifetime.first] += buffer.bytes;
    change[buffer.lifetime.last + 1] -= buffer.bytes;
  }
  int64_t live = 0, max = 0;
  for (int64_t delta : change)
    max = std::max(max, live += delta);
  return max;
}

/// Exchanges two buffers of the order at a time and keeps what is not worse.
Placement climb(ArrayRef<Buffer> buffers, SmallVector<unsigned> order, int64_t goal,
                int64_t trials) {
  Placement best = position(buffers, order);
  if (buffers.size() < 3)
    return best;
  // A fixed seed: a model always yields the same file.
  std::mt19937 random(20);
  std::uniform_int_distribution<size_t> pick(0, order.size() - 1);
  for (int64_t trial = 0; trial < trials && best.arena > goal; ++trial) {
    size_t a = pick(random), b = pick(random);
    std::swap(order[a], order[b]);
    Placement next = position(buffers, order);
    if (next.arena <= best.arena)
      best = std::move(next);
    else
      std::swap(order[a], order[b]);
  }
  return best;
}

/// Returns the size of the arena if no buffers shared bytes.
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
    const int64_t pairs = findRivals(buffers, maxPairs);
    SmallVector<unsigned> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
    });
    int64_t bound = maxLive(buffers, schedule.launches().size());
    // position() visits every pair, for each order.
    constexpr int64_t maxLooks = 100'000'000;
    const int64_t affordable = maxLooks / (1 + pairs + int64_t(buffers.size()));
    Placement placement = pairs > maxPairs
                              ? placeInTime(buffers)
                              : climb(buffers, order, bound, std::min<int64_t>(trials, affordable));

    Builder builder(&getContext());
    // A buffer that no launch uses may have any offset.
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
