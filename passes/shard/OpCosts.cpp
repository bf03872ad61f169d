//===-- OpCosts.cpp - what ops of a graph cost ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/shard/OpCosts.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"

using namespace mlir;

namespace atc::shard {

uint64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return 0;
  return tensor.getNumElements() * graph::getElementBytes(tensor.getElementType());
}

static uint64_t elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

uint64_t workOf(Operation &op) {
  uint64_t work = 0;
  for (Value result : op.getResults())
    work += elementsOf(result);
  uint64_t depth = 1;
  if (isa<graph::MatMulOp, graph::FullyConnectedOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
        type && type.getRank() && !type.isDynamicDim(type.getRank() - 1))
      depth = type.getDimSize(type.getRank() - 1);
  if (isa<graph::ConvOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(op.getOperand(1).getType());
        type && type.hasStaticShape() && type.getDimSize(0))
      depth = type.getNumElements() / type.getDimSize(0);
  return work * depth;
}

} // namespace atc::shard
