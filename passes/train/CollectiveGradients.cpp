//===-- CollectiveGradients.cpp - gradients of what ranks exchange --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"
#include "passes/train/Gradients.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::train {

/// All ranks have read a rank's share, and the loss is the sum of theirs.
static void allGather(AllGatherOp op, OpGradient &g) {
  g.give(0, g.make<ReduceScatterOp>(op.getInput().getType(), g.result, ReduceKind::Sum,
                                    op.getAxis(), op.getRanks()));
}

void addCollectiveGradients(GradientRules &rules) { rules.add<AllGatherOp>(allGather); }

} // namespace atc::train
