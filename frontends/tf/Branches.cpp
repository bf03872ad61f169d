//===-- Branches.cpp - what only a branch needs moves into it -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/Branches.h"

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace atc::tf_import {

namespace {

/// The op of `block` that contains `op`; null where none does.
Operation *inBlock(Operation *op, Block &block) { return block.findAncestorOpInBlock(*op); }

/// Moves an op to where it is first read.
void moveToFirstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (Operation *at = inBlock(user, *op->getBlock()))
      if (!first || at->isBeforeInBlock(first))
        first = at;
  if (first)
    op->moveBefore(first);
}

/// Makes one op of two with the same condition: `second` gets the results of both. The
/// results of `first` must only be read behind `second`.
graph::IfOp join(graph::IfOp first, graph::IfOp second) {
  SmallVector<Type> types(first.getResultTypes());
  llvm::append_range(types, second.getResultTypes());
  OpBuilder builder(second);
  auto op = graph::IfOp::create(builder, second.getLoc(), types, second.getCondition());
  for (unsigned side : {0, 1}) {
    Region &to = op->getRegion(side);
    to.takeBody(first->getRegion(side));
    Block &from = second->getRegion(side).front(), &block = to.front();
    Operation *leave = block.getTerminator();
    SmallVector<Value> values(leave->getOperands());
    leave->erase();
    block.getOperations().splice(block.end(), from.getOperations());
    leave = block.getTerminator();
    llvm::append_range(values, leave->getOperands());
    leave->setOperands(values);
  }
  for (auto [index, result] : llvm::enumerate(first.getResults()))
    result.replaceAllUsesWith(op.getResult(index));
  for (auto [index, result] : llvm::enumerate(second.getResults()))
    result.replaceAllUsesWith(op.getResult(first.getNumResults() + index));
  first.erase();
  second.erase();
  return op;
}

/// Joins neighbours of one condition; a later op may have moved between them.
void joinBranches(Block &block) {
  SmallVector<graph::IfOp> ops = llvm::to_vector(block.getOps<graph::IfOp>());
  for (graph::IfOp op : llvm::reverse(ops))
    moveToFirstUser(op);
  ops = llvm::to_vector(block.getOps<graph::IfOp>());
  graph::IfOp last;
  for (graph::IfOp op : llvm::reverse(ops)) {
    bool fits = last && last.getCondition() == op.getCondition() &&
                llvm::all_of(op->getUsers(), [&](Operation *user) {
                  Operation *at = inBlock(user, block);
                  return at && last->isBeforeInBlock(at);
                });
    last = fits ? join(op, last) : op;
  }
}

/// Blocks that may stand inside each other when a branch takes another branch or a loop along;
/// the runtime takes 63, of which loops of the model may need the others.
constexpr unsigned maxBranchDepth = 24;

/// The blocks that stand inside each other in an op.
unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  for (Region &region : op->getRegions())
    if (!isa<graph::MapOp>(op))
      for (Block &block : region)
        for (Operation &inner : block)
          depth = std::max(depth, 1 + depthOf(&inner));
  return depth;
}

void sinkInto(graph::IfOp op, Region &branch, unsigned level) {
  Block &block = branch.front();
  SmallVector<Operation *> pending;
  auto follow = [&](Operation *from) {
    from->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == op->getBlock())
          pending.push_back(def);
    });
  };
  for (Operation &inner : block)
    follow(&inner);
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    if (next->getBlock() != op->getBlock() || isa<graph::ConstantOp>(next) ||
        (next->getNumRegions() != 0 && level + depthOf(next) >= maxBranchDepth) ||
        !llvm::all_of(next->getUsers(),
                      [&](Operation *user) { return branch.isAncestor(user->getParentRegion()); }))
      continue;
    next->moveBefore(&block, block.begin());
    follow(next);
  }
}

void fillBranchesAt(Block &block, unsigned level) {
  joinBranches(block);
  SmallVector<graph::IfOp> ops = llvm::to_vector(block.getOps<graph::IfOp>());
  // Later ones may need what earlier ones make, and take them along.
  for (graph::IfOp op : llvm::reverse(ops))
    for (Region &branch : op->getRegions())
      sinkInto(op, branch, level);
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (isa<graph::IfOp, graph::LoopOp>(op))
          fillBranchesAt(inner, level + 1);
}

} // namespace

void fillBranches(Block &block) { fillBranchesAt(block, /*level=*/1); }

} // namespace atc::tf_import
