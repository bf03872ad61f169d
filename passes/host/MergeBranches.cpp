//===-- MergeBranches.cpp - branches that compute the same become one -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/Passes.h"

#include "dialects/graph/ops/HostOps.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTMERGEBRANCHES
#include "passes/host/Passes.h.inc"

namespace {

/// Replaces an If whose branches compute the same by what one of them computes. Returns false where
/// they do not, or where the results have other types than what the branches leave with.
bool merge(graph::IfOp op) {
  Block &first = op.getThenRegion().front();
  Operation *leave = first.getTerminator();
  if (leave->getOperandTypes() != op.getResultTypes() ||
      !OperationEquivalence::isRegionEquivalentTo(&op.getThenRegion(), &op.getElseRegion(),
                                                  OperationEquivalence::IgnoreLocations))
    return false;
  op->replaceAllUsesWith(leave->getOperands());
  leave->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), first.getOperations());
  op.erase();
  return true;
}

struct MergeBranches : impl::HostMergeBranchesBase<MergeBranches> {
  void runOnOperation() override {
    // The inner ones first: those around them are equal when they are merged alike.
    getOperation().walk<WalkOrder::PostOrder>([&](graph::IfOp op) { numMerged += merge(op); });
  }
};

} // namespace
} // namespace atc::host
