//===-- LowerGraphCompute.cpp - maps, reductions, softmax -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/kernel/LowerGraph.h"

using namespace mlir;

namespace atc::kernel {

/// Returns a storage of at least rank 1; an operand of lower rank broadcasts over the leading dims.
static Storage withRank(Storage storage, int64_t rank) {
  while (storage.rank() < std::max<int64_t>(rank, 1))
    storage = storage.withDim(0);
  return storage;
}

void lowerElementwise(GraphLowering &lowering, Operation *op) {
  Value result = op->getResult(0);
  Storage output = withRank(lowering.storageOf(result), 1);
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(lowering.buffer(withRank(lowering.storageOf(operand), output.rank())));
  auto map = lowering.kernel<MapOp>(result, output, inputs, lowering.buffer(output));

  Region &body = map.getBody();
  OpBuilder &builder = lowering.builder;
  OpBuilder::InsertionGuard guard(builder);
  if (auto graphMap = dyn_cast<graph::MapOp>(op)) {
    body.takeBody(graphMap.getBody());
    auto yield = cast<graph::YieldOp>(body.front().getTerminator());
    builder.setInsertionPoint(yield);
    YieldOp::create(builder, yield.getLoc(), yield.getValue());
    yield.erase();
    return;
  }
  Block *block = builder.createBlock(&body);
  for (Value input : inputs)
    block->addArgument(cast<MemRefType>(input.getType()).getElementType(), lowering.location);
  Value element = cast<graph::ElementwiseOpInterface>(op).buildScalar(builder, lowering.location,
                                                                      block->getArguments());
  YieldOp::create(builder, lowering.location, element);
}

/// The result of a reduction with the reduced dims as dims of one element.
static Storage keptDims(const GraphLowering &lowering, Value result, ArrayRef<int64_t> axes,
                        bool keepdims) {
  Storage output = lowering.storageOf(result);
  if (!keepdims)
    for (int64_t axis : axes)
      output = output.withDim(axis);
  return output;
}

LogicalResult lowerReduce(GraphLowering &lowering, graph::ReduceOp op) {
  Value result = op.getResult();
  Storage output = keptDims(lowering, result, op.getAxes(), op.getKeepdims());
  lowering.kernel<ReduceOp>(result, output, lowering.buffer(op.getInput()), lowering.buffer(output),
                            op.getKind(), op.getAxes());
  return success();
}

template <typename OpT>
static LogicalResult lowerArgOp(GraphLowering &lowering, OpT op, bool smallest) {
  Value result = op.getResult();
  int64_t axis = op.getAxis();
  Storage output = keptDims(lowering, result, axis, op.getKeepdims());
  lowering.kernel<ArgReduceOp>(result, output, lowering.buffer(op.getInput()),
                               lowering.buffer(output), axis, smallest, op.getSelectLast());
  return success();
}

LogicalResult lowerArgMax(GraphLowering &lowering, graph::ArgMaxOp op) {
  return lowerArgOp(lowering, op, /*smallest=*/false);
}

LogicalResult lowerArgMin(GraphLowering &lowering, graph::ArgMinOp op) {
  return lowerArgOp(lowering, op, /*smallest=*/true);
}

template <typename OpT>
static LogicalResult lowerSoftmaxOp(GraphLowering &lowering, OpT op, bool log) {
  Value result = op.getResult();
  lowering.kernel<SoftmaxOp>(result, lowering.storageOf(result), lowering.buffer(op.getInput()),
                             lowering.buffer(result), op.getAxis(), log);
  return success();
}

LogicalResult lowerSoftmax(GraphLowering &lowering, graph::SoftmaxOp op) {
  return lowerSoftmaxOp(lowering, op, /*log=*/false);
}

LogicalResult lowerLogSoftmax(GraphLowering &lowering, graph::LogSoftmaxOp op) {
  return lowerSoftmaxOp(lowering, op, /*log=*/true);
}

} // namespace atc::kernel
