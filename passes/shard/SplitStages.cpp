//===-- SplitStages.cpp - stages of a pipeline ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/shard/OpCosts.h"
#include "passes/shard/Passes.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/collectives/Collectives.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace atc::shard {
#define GEN_PASS_DEF_SHARDSPLITSTAGES
#include "passes/shard/Passes.h.inc"

namespace {

/// Divides the ops of a block among stages.
class StageFinder {
public:
  StageFinder(Block &block, size_t stages) : stages(stages) {
    for (Operation &op : block.without_terminator())
      if (!isa<graph::ConstantOp>(op))
        ops.push_back(&op);
    for (auto [index, op] : llvm::enumerate(ops))
      position[op] = index;
    measure(block);
  }

  /// Returns the position of the first op of each stage but the first one.
  std::vector<size_t> run() {
    const double best = solve(1e30).first;
    // Among splits that are nearly as even as the best one, the one that passes the fewest bytes is
    // taken.
    return solve(best + 0.02).second;
  }

  std::vector<Operation *> ops;

private:
  void measure(Block &block) {
    const size_t count = ops.size();
    work.assign(count + 1, 0);
    weights.assign(count + 1, 0);
    crossing.assign(count + 1, 0);
    llvm::DenseSet<Operation *> counted;
    for (size_t i = 0; i < count; ++i) {
      uint64_t bytes = 0;
      ops[i]->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (auto constant = operand.getDefiningOp<graph::ConstantOp>())
            if (counted.insert(constant).second)
              bytes += bytesOf(operand.getType());
      });
      work[i + 1] = work[i] + static_cast<double>(workOf(*ops[i]));
      weights[i + 1] = weights[i] + static_cast<double>(bytes);
      for (Value result : ops[i]->getResults()) {
        size_t last = i;
        for (Operation *user : result.getUsers())
          if (Operation *inBlock = block.findAncestorOpInBlock(*user))
            if (auto at = position.find(inBlock); at != position.end())
              last = std::max(last, at->second);
        for (size_t cut = i + 1; cut <= last; ++cut)
          crossing[cut] += static_cast<double>(bytesOf(result.getType()));
      }
    }
  }

  double shareOf(size_t begin, size_t end) const {
    const double allWork = std::max(1.0, work.back()), all = std::max(1.0, weights.back());
    return std::max((work[end] - work[begin]) / allWork, (weights[end] - weights[begin]) / all);
  }

  /// Returns the largest share of a stage, which is as small as possible, and the cuts. With a
  /// `limit` for the share the fewest bytes cross the cuts.
  std::pair<double, std::vector<size_t>> solve(double limit) const {
    const size_t count = ops.size();
    const bool byBytes = limit < 1e29;
    const double none = 1e300;
    // best[s][i]: of the first i ops in s + 1 stages.
    std::vector<std::vector<double>> best(stages, std::vector<double>(count + 1, none));
    std::vector<std::vector<size_t>> from(stages, std::vector<size_t>(count + 1, 0));
    for (size_t i = 0; i <= count; ++i)
      if (const double share = shareOf(0, i); share <= limit)
        best[0][i] = byBytes ? 0 : share;
    for (size_t s = 1; s < stages; ++s)
      for (size_t i = s; i <= count; ++i)
        for (size_t cut = s; cut <= i; ++cut) {
          const double share = shareOf(cut, i);
          if (share > limit || best[s - 1][cut] == none)
            continue;
          const double cost =
              byBytes ? best[s - 1][cut] + crossing[cut] : std::max(best[s - 1][cut], share);
          if (cost < best[s][i]) {
            best[s][i] = cost;
            from[s][i] = cut;
          }
        }
    std::vector<size_t> cuts(stages - 1);
    size_t end = count;
    for (size_t s = stages; s-- > 1;)
      cuts[s - 1] = end = from[s][end];
    return {best[stages - 1][count], cuts};
  }

  const size_t stages;
  DenseMap<Operation *, size_t> position;
  std::vector<double> work, weights, crossing; ///< the first two are sums of what stands before
};

/// Removes what is of other stages from a function.
class StageCutter {
public:
  StageCutter(func::FuncOp function, ArrayRef<int64_t> ranks, size_t own)
      : function(function), ranks(ranks), own(own) {}

  unsigned numMessages = 0;

  void run() {
    Block &block = function.front();
    StageFinder finder(block, ranks.size());
    const std::vector<size_t> cuts = finder.run();
    for (auto [index, op] : llvm::enumerate(finder.ops))
      stageOf[op] = llvm::upper_bound(cuts, index) - cuts.begin();
    remarkAnalysis("shard-split-stages", function.getLoc(), "Stages")
        << remark::add("{0} ops in {1} stages", finder.ops.size(), ranks.size());
    exchange(finder.ops);
    removeOthers(block, finder.ops);
  }

private:
  size_t stage(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? stageOf.lookup(op) : 0;
  }

  /// Adds messages for the values that stages need of others. All stages number them alike.
  void exchange(ArrayRef<Operation *> ops) {
    Block &block = function.front();
    OpBuilder receives = OpBuilder::atBlockBegin(&block);
    int64_t tag = 0;
    for (Operation *op : ops)
      for (Value result : op->getResults()) {
        const size_t from = stageOf.lookup(op);
        std::vector<bool> needed(ranks.size());
        for (Operation *user : result.getUsers())
          if (Operation *inBlock = block.findAncestorOpInBlock(*user);
              inBlock && stageOf.contains(inBlock))
            needed[stageOf.lookup(inBlock)] = true;
        for (size_t to = from + 1; to < ranks.size(); ++to)
          if (needed[to])
            pass(result, from, to, tag++, receives);
      }
  }

  void pass(Value value, size_t from, size_t to, int64_t tag, OpBuilder &receives) {
    if (own == from) {
      OpBuilder builder = OpBuilder::atBlockTerminator(&function.front());
      builder.setInsertionPointAfter(value.getDefiningOp());
      added.insert(graph::SendOp::create(builder, value.getLoc(), value, ranks[to], tag));
      ++numMessages;
    } else if (own == to) {
      auto receive =
          graph::ReceiveOp::create(receives, value.getLoc(), value.getType(), ranks[from], tag);
      added.insert(receive);
      value.replaceUsesWithIf(receive.getResult(), [&](OpOperand &use) {
        Operation *user = function.front().findAncestorOpInBlock(*use.getOwner());
        return stageOf.contains(user) && stageOf.lookup(user) == own;
      });
      ++numMessages;
    }
  }

  void removeOthers(Block &block, ArrayRef<Operation *> ops) {
    // Results of this stage; what is no result of an op belongs to the first one.
    Operation *end = block.getTerminator();
    llvm::BitVector dropped(end->getNumOperands());
    for (auto [index, value] : llvm::enumerate(end->getOperands()))
      if (stage(value) != own)
        dropped.set(index);
    end->eraseOperands(dropped);
    (void)function.eraseResults(dropped);
    for (Operation *op : llvm::reverse(ops))
      if (stageOf.lookup(op) != own)
        op->erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<graph::ConstantOp>(op) && op.use_empty())
        op.erase();
    llvm::BitVector unused(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
    (void)function.eraseArguments(unused);
  }

  func::FuncOp function;
  ArrayRef<int64_t> ranks;
  const size_t own;
  DenseMap<Operation *, size_t> stageOf;
  llvm::DenseSet<Operation *> added;
};

struct SplitStages : impl::ShardSplitStagesBase<SplitStages> {
  using ShardSplitStagesBase::ShardSplitStagesBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (index < 0 || index >= int64_t(ranks.size())) {
      getOperation().emitError() << "index " << index.getValue() << " is not in [0, "
                                 << ranks.size() << "), the ranks of the stages";
      return signalPassFailure();
    }
    const SmallVector<int64_t> stages(ranks.begin(), ranks.end());
    StageCutter cutter(getOperation(), stages, index);
    cutter.run();
    numMessages += cutter.numMessages;
  }
};

} // namespace
} // namespace atc::shard
