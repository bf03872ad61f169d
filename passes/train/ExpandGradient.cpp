//===-- ExpandGradient.cpp - replaces graph.gradient ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/gradient/Gradient.h"
#include "passes/train/Passes.h"
#include "passes/train/ReverseMode.h"
#include "passes/train/Windows.h"

#include "mlir/IR/IRMapping.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINEXPANDGRADIENT
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

class ExpandGradient : public train::impl::TrainExpandGradientBase<ExpandGradient> {
public:
  using TrainExpandGradientBase::TrainExpandGradientBase;
  void runOnOperation() override;

private:
  LogicalResult expand(graph::GradientOp op);
};

/// Computes the target at the values of the op: clones the ops between where these are other values
/// than the variables. Returns the target, and the values in `at`.
Value evaluateTarget(graph::GradientOp op, SmallVectorImpl<Value> &at) {
  llvm::append_range(at, op.getAt());
  if (llvm::equal(op.getVariables(), op.getAt()))
    return op.getTarget();
  ReverseMode function;
  IRMapping mapping;
  for (auto [variable, value] : llvm::zip(op.getVariables(), op.getAt())) {
    function.addVariable(variable);
    mapping.map(variable, value);
  }
  (void)function.findPath(*op->getBlock(), op, op.getTarget());
  OpBuilder builder(op);
  for (Operation *each : llvm::reverse(function.path()))
    builder.clone(*each, mapping);
  return mapping.lookupOrDefault(op.getTarget());
}

LogicalResult ExpandGradient::expand(graph::GradientOp op) {
  const unsigned count = op.getGradients().size();
  for (Value value : op.getVariables().take_front(count))
    if (!isContinuous(value.getType()) || !isContinuous(op.getTarget().getType()))
      return op.emitError() << "E15001: a gradient of " << op.getTarget().getType() << " by "
                            << value.getType()
                            << " is asked for, but only float tensors of static shape with "
                               "elements have one";
  SmallVector<Value> at;
  Value target = evaluateTarget(op, at);
  ReverseMode reverse;
  for (Value value : ArrayRef(at).take_front(count))
    reverse.addVariable(value);
  const std::string missing = reverse.findPath(*op->getBlock(), op, target);
  if (!missing.empty())
    return op.emitError() << "E15003: no gradient is known for these nodes between a variable and "
                             "the target: "
                          << missing << "; take the gradient of another part of the graph";
  OpBuilder builder(op);
  GraphMath g(builder, op.getLoc());
  reverse.differentiate(builder, target, g.splat(typeOf(target), 1));
  for (auto [result, value] : llvm::zip(op.getGradients(), at)) {
    Value gradient = reverse.gradientOf(value);
    // The target does not depend on it.
    result.replaceAllUsesWith(gradient ? gradient : g.splat(typeOf(value), 0));
  }
  op.erase();
  return success();
}

void ExpandGradient::runOnOperation() {
  SmallVector<graph::GradientOp> ops;
  getOperation().walk([&](graph::GradientOp op) { ops.push_back(op); });
  if (ops.empty())
    return;
  for (Operation &op : llvm::make_early_inc_range(getOperation().front()))
    splitFusedParts(&op);
  // In order, so that gradients of gradients find graph ops.
  for (graph::GradientOp op : ops)
    if (failed(expand(op)))
      return signalPassFailure();
}

} // namespace
