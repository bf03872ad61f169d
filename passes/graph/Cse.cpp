//===-- Cse.cpp - ops that compute the same become one --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/DeepHash.h"
#include "passes/graph/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHCSE
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;

namespace {

struct SameOp : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return atc::graph::deepHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    for (const Operation *op : {a, b})
      if (op == getTombstoneKey() || op == getEmptyKey())
        return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a),
                                                const_cast<Operation *>(b),
                                                OperationEquivalence::IgnoreLocations);
  }
};

struct Cse : atc::graph::impl::GraphCseBase<Cse> {
  using Table = llvm::ScopedHashTable<Operation *, Operation *, SameOp>;

  void runOnOperation() override {
    Table known;
    visitRegions(getOperation(), known);
  }

  void visitRegions(Operation *op, Table &known) {
    // Ops that must not use values from outside must not get such uses here.
    if (op->hasTrait<OpTrait::IsIsolatedFromAbove>() && op != getOperation()) {
      Table own;
      for (Region &region : op->getRegions())
        visitRegion(region, own);
      return;
    }
    for (Region &region : op->getRegions())
      visitRegion(region, known);
  }

  void visitRegion(Region &region, Table &known) {
    // Graphs have no jumps.
    if (!region.hasOneBlock())
      return;
    Table::ScopeTy scope(known);
    for (Operation &op : llvm::make_early_inc_range(region.front())) {
      // First what is inside: what the table holds must not change any more.
      visitRegions(&op, known);
      if (!op.hasTrait<OpTrait::IsTerminator>())
        simplify(&op, known);
    }
  }

  void simplify(Operation *op, Table &known) {
    if (isOpTriviallyDead(op)) {
      op->erase();
      return;
    }
    if (!isMemoryEffectFree(op))
      return;
    Operation *same = known.lookup(op);
    if (!same) {
      known.insert(op, op);
      return;
    }
    if (isa<UnknownLoc>(same->getLoc()))
      same->setLoc(op->getLoc());
    op->replaceAllUsesWith(same);
    op->erase();
    ++numMerged;
  }
};

} // namespace
