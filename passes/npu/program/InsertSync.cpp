//===-- InsertSync.cpp - synchronizes the queues of a program --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait follows, in program order, the set that it waits for, or its first set at the start: the
// instruction that is first in program order can always proceed, so queues cannot deadlock. A flag
// is not set twice, because each forward edge has a backward edge, or is implied together with it.
//
// Without `allocate` the pass works like a simple code generator: set and wait are next to each
// other before the waiting instruction, which so waits for everything that its queue issued before,
// regardless of multi-buffering. The argument above shows that the flag is cleared before it is set
// again.

#include "passes/npu/Passes.h"
#include "passes/npu/program/SyncAnalysis.h"
#include "passes/npu/program/VectorBarriers.h"

#include "mlir/IR/Builders.h"

#include <array>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUINSERTSYNC
#include "passes/npu/Passes.h.inc"

namespace {

/// A pair of queues with more flags in a nest than there are ids.
struct Shortage {
  unsigned nest;
  Queue from, to;
};

/// Ids are used again where all queues have met: `regions` are the children of
/// the program before which they do; the first starts with the program.
std::optional<Shortage> assignIds(SyncAnalysis &analysis, SmallVector<unsigned> &regions) {
  std::array<std::array<unsigned, kQueues>, kQueues> used = {};
  regions = {0};
  unsigned children = analysis.blocks.front().children.size();
  std::vector<SmallVector<SyncEdge *>> byNest(children);
  for (SyncEdge &edge : analysis.edges) {
    edge.id = -1;
    const SyncBlock &block = analysis.blocks[edge.block];
    byNest[block.depth ? block.nest : edge.target].push_back(&edge);
  }
  for (unsigned nest = 0; nest < children; ++nest) {
    for (size_t i = 0; i < byNest[nest].size(); ++i) {
      SyncEdge &edge = *byNest[nest][i];
      if (!analysis.blocks[edge.block].depth && edge.source < regions.back())
        continue; // after the barrier
      unsigned &count = used[unsigned(edge.from)][unsigned(edge.to)];
      if (count + edge.slots <= kFlagIds) {
        edge.id = count;
        count += edge.slots;
        continue;
      }
      if (regions.back() == nest)
        return Shortage{nest, edge.from, edge.to};
      regions.push_back(nest);
      used = {};
      for (SyncEdge *other : byNest[nest])
        other->id = -1;
      i = size_t(-1);
    }
  }
  return std::nullopt;
}

struct InsertSyncPass : impl::NpuInsertSyncBase<InsertSyncPass> {
  using Base::Base;

  void runOnOperation() override {
    ir::ProgramOp program = getOperation();
    if (failed(expectSequential(program)))
      return signalPassFailure();
    std::vector<char> single;
    while (!tryInsert(program, single)) {
    }
  }

private:
  bool isMinimal() const { return minimise && allocate; }

  unsigned removeNeedless(SyncAnalysis &analysis) {
    return isMinimal() ? analysis.removeImplied() : analysis.removeBehindBarriers();
  }

  /// False if some nest must do with one copy of each buffer.
  bool tryInsert(ir::ProgramOp program, std::vector<char> &single) {
    if (!allocate)
      single.assign(program.getBody()->getOperations().size(), true);
    SyncAnalysis analysis(program, SmallVector<bool>(single.begin(), single.end()), !isMinimal());
    single.resize(analysis.blocks.front().children.size());
    removeNeedless(analysis);
    SmallVector<unsigned> regions;
    unsigned merged = 0;
    while (std::optional<Shortage> shortage = assignIds(analysis, regions)) {
      auto [nest, from, to] = *shortage;
      if (isMinimal() && analysis.mergeOne(nest, from, to)) {
        ++merged;
      } else if (isMinimal() && !single[nest]) {
        single[nest] = true;
        return false;
      } else {
        analysis.useBarriers(nest, from, to);
      }
      removeNeedless(analysis);
    }
    llvm::erase_if(analysis.edges, [](const SyncEdge &edge) { return edge.id < 0; });
    unsigned flags = analysis.edges.size(), removed = analysis.found - flags - merged;
    const std::vector<std::vector<bool>> ofVectors = vectorBarriersOf(program, analysis, regions);
    const unsigned ofIndices = insertForIndices(program);
    unsigned barriers = insert(analysis, regions),
             vectorBarriers = insertVector(analysis, ofVectors);
    numMerged += merged;
    numFlags += flags;
    numRemoved += removed;
    numBarriers += barriers + vectorBarriers + ofIndices;
    if (report) {
      auto remark = program.emitRemark();
      remark << analysis.found << " dependences: " << flags << " flags, " << barriers
             << " barriers, " << removed << " implied, " << merged << " merged";
      if (vectorBarriers)
        remark << "; " << vectorBarriers << " barriers of the vector queue";
    }
    return true;
  }

  /// Inserts flags and barriers; returns the number of barriers.
  unsigned insert(const SyncAnalysis &analysis, ArrayRef<unsigned> regions) {
    unsigned barriers = 0;
    OpBuilder builder(&getContext());
    for (const SyncEdge &edge : analysis.edges) {
      const SyncBlock &block = analysis.blocks[edge.block];
      unsigned depth = edge.slots > 1 ? block.depth : 0;
      if (allocate)
        builder.setInsertionPointAfter(block.children[edge.source]);
      else
        builder.setInsertionPoint(block.children[edge.target]);
      flag<ir::SetFlagOp>(builder, edge, edge.id, edge.slots, depth);
      builder.setInsertionPoint(block.children[edge.target]);
      flag<ir::WaitFlagOp>(builder, edge, edge.id, edge.slots, depth);
    }
    for (const SyncBlock &block : analysis.blocks)
      for (auto [child, isWanted] : llvm::enumerate(block.barriers))
        if (isWanted)
          barriers += barrier(builder, block, child);
    for (auto [number, begin] : llvm::enumerate(regions)) {
      unsigned end = number + 1 < regions.size() ? regions[number + 1]
                                                 : analysis.blocks.front().children.size();
      auto forEachFirst = [&](auto raise) {
        for (const SyncEdge &edge : analysis.edges)
          if (unsigned nest = analysis.blocks[edge.block].nest;
              allocate && edge.distance && nest >= begin && nest < end)
            for (unsigned slot = 0; slot < edge.slots; ++slot)
              raise(edge, edge.id + slot);
      };
      setPoint(builder, analysis.blocks.front(), begin);
      forEachFirst(
          [&](const SyncEdge &edge, unsigned id) { flag<ir::SetFlagOp>(builder, edge, id, 1, 0); });
      setPoint(builder, analysis.blocks.front(), end);
      forEachFirst([&](const SyncEdge &edge, unsigned id) {
        flag<ir::WaitFlagOp>(builder, edge, id, 1, 0);
      });
      if (end < analysis.blocks.front().children.size())
        barriers += barrier(builder, analysis.blocks.front(), end);
    }
    return barriers;
  }

  /// Makes MTE2 finish the moves that load indices before it gathers by them; returns the number of
  /// barriers. Nothing else of that queue reads what the queue itself has written.
  static unsigned insertForIndices(ir::ProgramOp program) {
    SmallVector<ir::GatherRowsOp> gathers;
    program.walk([&](ir::GatherRowsOp gather) {
      const BufferAccess read{gather.getIndices(), /*written=*/false};
      bool isLoaded = false;
      program.walk([&](ir::InstructionOpInterface op) {
        isLoaded |= queueOf(op.getOperation()) == Queue::MTE2 &&
                    llvm::any_of(accessesOf(op), [&](const BufferAccess &access) {
                      return access.written && doConflict(access, read);
                    });
      });
      if (isLoaded)
        gathers.push_back(gather);
    });
    for (ir::GatherRowsOp gather : gathers) {
      OpBuilder builder(gather);
      ir::PipeBarrierOp::create(builder, gather.getLoc(), ir::QueueKind::MTE2);
    }
    return gathers.size();
  }

  /// Inserts the barriers of the vector queue; returns their number.
  unsigned insertVector(const SyncAnalysis &analysis,
                        const std::vector<std::vector<bool>> &barriers) {
    unsigned count = 0;
    OpBuilder builder(&getContext());
    for (auto [block, wanted] : llvm::zip(analysis.blocks, barriers))
      for (auto [child, isWanted] : llvm::enumerate(wanted)) {
        if (!isWanted)
          continue;
        setPoint(builder, block, child);
        ir::PipeBarrierOp::create(builder, getOperation().getLoc(), ir::QueueKind::V);
        ++count;
      }
    return count;
  }

  template <typename OpT>
  void flag(OpBuilder &builder, const SyncEdge &edge, unsigned id, unsigned slots, unsigned depth) {
    OpT::create(builder, getOperation().getLoc(), ir::QueueKind(edge.from), ir::QueueKind(edge.to),
                id, slots, depth);
  }

  static void setPoint(OpBuilder &builder, const SyncBlock &block, unsigned child) {
    if (child < block.children.size())
      builder.setInsertionPoint(block.children[child]);
    else
      builder.setInsertionPointToEnd(block.block);
  }

  unsigned barrier(OpBuilder &builder, const SyncBlock &block, unsigned child) {
    setPoint(builder, block, child);
    ir::PipeBarrierOp::create(builder, getOperation().getLoc(), ir::QueueKind::S);
    return 1;
  }
};

} // namespace
} // namespace atc::npu
