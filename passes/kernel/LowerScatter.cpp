//===-- LowerScatter.cpp - sums by index and running sums -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LowerGraph.h"

#include "dialects/kernel/Scatter.h"

using namespace mlir;

namespace atc::kernel {

LogicalResult lowerScatterAdd(GraphLowering &lowering, graph::ScatterAddOp op) {
  Value result = op.getResult();
  lowering.kernel<ScatterAddOp>(result, lowering.storageOf(result),
                                lowering.buffer(op.getUpdates()), lowering.buffer(op.getIndices()),
                                lowering.buffer(result));
  return success();
}

LogicalResult lowerCumulativeSum(GraphLowering &lowering, graph::CumulativeSumOp op) {
  Value result = op.getResult();
  lowering.kernel<CumulativeSumOp>(result, lowering.storageOf(result),
                                   lowering.buffer(op.getInput()), lowering.buffer(result),
                                   op.getAxis(), op.getExclusive(), op.getReverse());
  return success();
}

} // namespace atc::kernel
