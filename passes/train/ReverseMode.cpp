//===-- ReverseMode.cpp - gradients by reverse-mode differentiation -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/ReverseMode.h"

#include "dialects/graph/ops/HostOps.h"
#include "passes/train/Functions.h"
#include "passes/train/Normalization.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace atc::train {

bool isContinuous(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() != 0 &&
         isa<FloatType>(tensor.getElementType());
}

namespace {

/// Returns the names of tensor and node of an op: "node 'n' (graph.cast)".
std::string describe(Operation *op) {
  std::string name;
  Location loc = op->getLoc();
  if (auto tensor = dyn_cast<NameLoc>(loc)) {
    auto node = dyn_cast<NameLoc>(tensor.getChildLoc());
    name = (node ? node : tensor).getName().str();
  }
  StringRef kind = op->getName().getStringRef();
  if (auto call = dyn_cast<graph::HostCallOp>(op))
    kind = call.getKernel();
  return "'" + name + "' (" + kind.str() + ")";
}

/// Returns the values that an op reads, in its regions too.
SmallVector<Value> valuesReadBy(Operation &op) {
  SmallVector<Value> values(op.getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  llvm::append_range(values, captured);
  return values;
}

} // namespace

std::string ReverseMode::findPath(Block &body, Operation *end, Value target) {
  SmallVector<Operation *> forward;
  for (Operation &op : body) {
    if (&op == end)
      break;
    if (llvm::none_of(valuesReadBy(op), [&](Value value) { return varying.contains(value); }))
      continue;
    forward.push_back(&op);
    for (Value result : op.getResults())
      if (isContinuous(result.getType()) || !rules.find(&op))
        varying.insert(result);
  }
  DenseSet<Value> needed = {target};
  std::string missing;
  for (Operation *op : llvm::reverse(forward)) {
    if (llvm::none_of(op->getResults(), [&](Value value) { return needed.contains(value); }))
      continue;
    ops.push_back(op);
    if (!rules.find(op))
      missing += (missing.empty() ? "" : ", ") + describe(op);
    for (Value operand : valuesReadBy(*op))
      if (varying.contains(operand))
        needed.insert(operand);
  }
  return missing;
}

void ReverseMode::differentiate(OpBuilder &builder, Value target, Value seed) {
  gradients[target] = seed;
  for (Operation *op : ops)
    differentiate(builder, op);
}

void ReverseMode::differentiate(OpBuilder &builder, Operation *op) {
  auto found = gradients.find(op->getResult(0));
  if (found == gradients.end())
    return;
  // All of the input's gradient by this result, past the ops between.
  if (auto norm = matchNormalization(op); norm && varying.contains(norm->input)) {
    GraphMath g(builder, derivedName(op->getLoc(), "grad"));
    Value &sum = gradients[norm->input], own = normalizationGradient(g, *norm, found->second);
    sum = sum ? g.add(sum, own) : own;
    return;
  }
  SmallVector<bool> wanted = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return varying.contains(operand) && isContinuous(operand.getType());
  });
  SmallVector<Value> given(op->getNumOperands());
  OpGradient g(builder, derivedName(op->getLoc(), "grad"), op, found->second, wanted, given);
  (*rules.find(op))(op, g);
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), given)) {
    if (!gradient)
      continue;
    Value &sum = gradients[operand];
    sum = sum ? g.add(sum, gradient) : gradient;
  }
}

} // namespace atc::train
