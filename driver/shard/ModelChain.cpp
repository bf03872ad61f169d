//===-- ModelChain.cpp - a model for the planner --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/shard/ModelChain.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/shard/OpCosts.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::driver {

/// A run ends where it has this share of the model's work or of its weights.
static constexpr double runShare = 1.0 / 64;

static double bytesOf(Value value) { return static_cast<double>(shard::bytesOf(value.getType())); }

/// Returns the values that an op reads, in its regions too.
static SmallVector<Value> valuesReadBy(Operation &op) {
  SmallVector<Value> values(op.getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  llvm::append_range(values, captured);
  return values;
}

/// Returns the samples of a batch: dim 0 of the first input.
static double batchOf(func::FuncOp main) {
  auto type = main.getNumArguments() ? dyn_cast<RankedTensorType>(main.getArgumentTypes()[0])
                                     : RankedTensorType();
  return type && type.getRank() && type.getDimSize(0) > 0 ? static_cast<double>(type.getDimSize(0))
                                                          : 1;
}

cluster::Chain chainOf(func::FuncOp main) {
  cluster::Chain chain;
  chain.batch = batchOf(main);
  chain.weightBytes = 1; // "parameters" are bytes
  SmallVector<Operation *> ops;
  DenseMap<Operation *, size_t> position;
  for (Operation &op : main.front().without_terminator())
    if (!isa<graph::ConstantOp>(op)) {
      position[&op] = ops.size();
      ops.push_back(&op);
    }
  // The costs of each op, and the bytes of the values that are alive after it.
  std::vector<double> work, weights, alive(ops.size() + 1, 0);
  double allWork = 0, allWeights = 0;
  DenseSet<Operation *> counted;
  for (auto [index, op] : llvm::enumerate(ops)) {
    double bytes = 0;
    for (Value value : valuesReadBy(*op))
      if (auto constant = value.getDefiningOp<graph::ConstantOp>())
        if (counted.insert(constant).second)
          bytes += bytesOf(value);
    work.push_back(static_cast<double>(shard::workOf(*op)));
    weights.push_back(bytes);
    allWork += work.back();
    allWeights += bytes;
    for (Value result : op->getResults()) {
      size_t last = index;
      for (Operation *user : result.getUsers()) {
        Operation *top = main.front().findAncestorOpInBlock(*user);
        last = std::max(last, top && position.count(top) ? position[top] : ops.size());
      }
      for (size_t at = index; at < std::min(last, ops.size()); ++at)
        alive[at] += bytesOf(result);
    }
  }
  cluster::ChainLayer layer;
  for (auto [index, op] : llvm::enumerate(ops)) {
    layer.macs += work[index] / chain.batch;
    layer.parameters += weights[index];
    // A pair of products in a row needs one all_reduce.
    const bool isProduct = isa<graph::MatMulOp, graph::FullyConnectedOp>(op);
    if (isProduct && weights[index] > 0) {
      layer.reducedBytes += bytesOf(op->getResult(0)) / 2 / chain.batch;
      layer.reductions += 0.5;
    }
    const bool isFull = layer.macs * chain.batch >= runShare * allWork ||
                        (layer.parameters > 0 && layer.parameters >= runShare * allWeights);
    if (!isFull && index + 1 < ops.size())
      continue;
    layer.outputBytes = alive[index] / chain.batch;
    chain.layers.push_back(layer);
    layer = {};
  }
  return chain;
}

} // namespace atc::driver
