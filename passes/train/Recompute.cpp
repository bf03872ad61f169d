//===-- Recompute.cpp - activations that are computed again ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/train/Functions.h"
#include "passes/train/GraphMath.h"
#include "passes/train/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINRECOMPUTE
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

/// Values of so few bytes, as a share of what is computed of them, are kept.
constexpr int64_t kSmall = 8;

int64_t bytesOf(Value value) {
  return typeOf(value).getNumElements() * graph::getElementBytes(typeOf(value).getElementType());
}

class Recompute : public train::impl::TrainRecomputeBase<Recompute> {
public:
  using TrainRecomputeBase::TrainRecomputeBase;
  void runOnOperation() override;

private:
  /// A value that is cheap to compute of one larger one.
  struct Source {
    Value root; ///< null: of arguments and constants alone
  };

  void findForward(Block &body);
  void findSources(Block &body);
  std::optional<Source> sourceOf(Operation *op) const;
  SetVector<Value> chooseValues(Block &body) const;
  Value copyOf(Value value, Operation *user);

  DenseSet<Operation *> forward;
  DenseMap<Value, Source> sources;
  DenseMap<Value, Value> copies;
};

/// The forward pass is what the results need that are no gradients.
void Recompute::findForward(Block &body) {
  func::FuncOp main = getOperation();
  auto exit = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<Operation *> pending;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && forward.insert(op).second)
      pending.push_back(op);
  };
  for (auto [index, value] : llvm::enumerate(exit.getOperands()))
    if (!resultName(main, index).ends_with(".grad"))
      add(value);
  while (!pending.empty())
    llvm::for_each(pending.pop_back_val()->getOperands(), add);
}

/// Returns whether an op computes each element of few others, or only moves them.
static bool isCheap(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         isa<graph::ElementwiseOpInterface, graph::ReshapeOp, graph::TransposeOp, graph::ExpandOp>(
             op) &&
         llvm::all_of(op->getOperandTypes(), isStatic) && isStatic(op->getResult(0).getType());
}

/// Returns what a value is computed of, unless that is more than one large value: then it is kept.
std::optional<Recompute::Source> Recompute::sourceOf(Operation *op) const {
  if (!isCheap(op))
    return std::nullopt;
  Source source;
  for (Value operand : op->getOperands()) {
    Operation *made = operand.getDefiningOp();
    // Small values, such as those per channel, are kept; arguments and constants are there anyway.
    if (!made || made->hasTrait<OpTrait::ConstantLike>() ||
        bytesOf(operand) * kSmall <= bytesOf(op->getResult(0)))
      continue;
    auto known = sources.find(operand);
    Value root = known == sources.end() ? operand : known->second.root;
    if (source.root && root && source.root != root)
      return std::nullopt;
    source.root = source.root ? source.root : root;
  }
  return source;
}

void Recompute::findSources(Block &body) {
  for (Operation &op : body)
    if (forward.contains(&op))
      if (auto source = sourceOf(&op))
        sources[op.getResult(0)] = *source;
}

/// Returns the values that the backward pass reads and that are computed again: those of one root
/// together, where they have more bytes than the root, or it is kept anyway.
SetVector<Value> Recompute::chooseValues(Block &body) const {
  llvm::MapVector<Value, SetVector<Value>> groups;
  DenseSet<Value> kept;
  for (Operation &op : body) {
    if (forward.contains(&op))
      continue;
    for (Value operand : op.getOperands()) {
      if (!operand.getDefiningOp() || !forward.contains(operand.getDefiningOp()))
        continue;
      auto source = sources.find(operand);
      if (source == sources.end() || isa<func::ReturnOp>(op))
        kept.insert(operand);
      else
        groups[source->second.root].insert(operand);
    }
  }
  SetVector<Value> chosen;
  for (auto &[root, values] : groups) {
    values.remove_if([&](Value value) { return kept.contains(value); });
    int64_t bytes = 0;
    for (Value value : values)
      bytes += bytesOf(value);
    if (!root || kept.contains(root) || bytes > bytesOf(root))
      chosen.insert(values.begin(), values.end());
  }
  return chosen;
}

/// Returns a copy of a value in front of `user`, which is the first that reads it.
Value Recompute::copyOf(Value value, Operation *user) {
  if (!sources.contains(value))
    return value;
  if (Value known = copies.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, copyOf(operand, user));
  Operation *copy = OpBuilder(user).clone(*op, mapping);
  copy->setAttr(graph::kRecomputedAttr, UnitAttr::get(op->getContext()));
  ++numRecomputed;
  return copies[value] = copy->getResult(0);
}

void Recompute::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!llvm::hasSingleElement(main.getBody()))
    return;
  // A pass runs on several functions.
  forward.clear();
  sources.clear();
  copies.clear();
  Block &body = main.front();
  findForward(body);
  findSources(body);
  const SetVector<Value> chosen = chooseValues(body);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (forward.contains(&op) || isa<func::ReturnOp>(op))
      continue;
    for (OpOperand &operand : op.getOpOperands())
      if (chosen.contains(operand.get()))
        operand.set(copyOf(operand.get(), &op));
  }
}

} // namespace
