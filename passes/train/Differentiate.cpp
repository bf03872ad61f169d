//===-- Differentiate.cpp - reverse-mode differentiation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Functions.h"
#include "passes/train/Gradients.h"
#include "passes/train/Passes.h"
#include "passes/train/Windows.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINDIFFERENTIATE
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

/// Returns whether values of a type can have gradients.
bool isContinuous(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() != 0 &&
         isa<FloatType>(tensor.getElementType());
}

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

class Differentiate : public train::impl::TrainDifferentiateBase<Differentiate> {
public:
  using TrainDifferentiateBase::TrainDifferentiateBase;
  void runOnOperation() override;

private:
  bool findParameters(Block &body);
  bool findPath(Block &body, Value loss);
  void differentiate(OpBuilder &builder, Operation *op);

  GradientRules rules;
  SmallVector<BlockArgument> parameters;
  SmallVector<Operation *> path; ///< from the loss back to the parameters
  DenseSet<Value> varying;       ///< values that depend on a parameter
  DenseMap<Value, Value> gradients;
};

bool Differentiate::findParameters(Block &body) {
  func::FuncOp main = getOperation();
  bool done = true;
  for (BlockArgument argument : body.getArguments()) {
    if (!main.getArgAttr(argument.getArgNumber(), kParameterAttr))
      continue;
    if (!isContinuous(argument.getType())) {
      main.emitError() << "E15001: the parameter '" << argumentName(main, argument.getArgNumber())
                       << "' is a " << argument.getType()
                       << ", but only float tensors of static shape with elements can be trained";
      done = false;
    }
    parameters.push_back(argument);
    varying.insert(argument);
  }
  if (parameters.empty()) {
    main.emitError() << "E15002: the model has no parameters to train: none of its initializers is "
                        "a float tensor, or none matches the names that are given";
    done = false;
  }
  return done;
}

/// Finds the ops between parameters and loss, and reports those without a gradient.
bool Differentiate::findPath(Block &body, Value loss) {
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator()) {
    if (llvm::none_of(valuesReadBy(op), [&](Value value) { return varying.contains(value); }))
      continue;
    forward.push_back(&op);
    for (Value result : op.getResults())
      if (isContinuous(result.getType()) || !rules.find(&op))
        varying.insert(result);
  }
  DenseSet<Value> needed = {loss};
  std::string missing;
  for (Operation *op : llvm::reverse(forward)) {
    if (llvm::none_of(op->getResults(), [&](Value value) { return needed.contains(value); }))
      continue;
    path.push_back(op);
    if (!rules.find(op))
      missing += (missing.empty() ? "" : ", ") + describe(op);
    for (Value operand : valuesReadBy(*op))
      if (varying.contains(operand))
        needed.insert(operand);
  }
  if (missing.empty())
    return true;
  getOperation().emitError()
      << "E15003: no gradient is known for these nodes between a parameter and the loss: "
      << missing
      << "; compute the loss from another output, or train only parameters behind these nodes";
  return false;
}

void Differentiate::differentiate(OpBuilder &builder, Operation *op) {
  auto found = gradients.find(op->getResult(0));
  if (found == gradients.end())
    return;
  SmallVector<bool> wanted = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return varying.contains(operand) && isContinuous(operand.getType());
  });
  SmallVector<Value> given(op->getNumOperands());
  OpGradient g(builder, derivedName(op->getLoc(), "grad"), op, found->second, wanted, given);
  (*rules.find(op))(op, g);
  ++numOps;
  for (auto [operand, gradient] : llvm::zip(op->getOperands(), given)) {
    if (!gradient)
      continue;
    Value &sum = gradients[operand];
    sum = sum ? g.add(sum, gradient) : gradient;
  }
}

void Differentiate::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!llvm::hasSingleElement(main.getBody()))
    return;
  // A pass runs on several functions.
  parameters.clear();
  path.clear();
  varying.clear();
  gradients.clear();
  Block &body = main.front();
  for (Operation &op : llvm::make_early_inc_range(body))
    splitFusedParts(&op);
  auto exit = cast<func::ReturnOp>(body.getTerminator());
  if (exit.getNumOperands() == 0 || !isContinuous(exit.getOperand(0).getType()) ||
      typeOf(exit.getOperand(0)).getNumElements() != 1) {
    main.emitError() << "E15004: result 0, the loss, is not a float tensor of one element: reduce "
                        "it, or give a loss";
    return signalPassFailure();
  }
  Value loss = exit.getOperand(0);
  if (!findParameters(body) || !findPath(body, loss))
    return signalPassFailure();

  OpBuilder builder(exit);
  GraphMath g(builder, derivedName(loss.getLoc(), "grad"));
  gradients[loss] = g.splat(typeOf(loss), 1);
  if (!scale.empty()) {
    std::optional<unsigned> index = findArgument(main, scale);
    auto type =
        index ? dyn_cast<RankedTensorType>(main.getArgumentTypes()[*index]) : RankedTensorType();
    if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
        type.getElementType() != typeOf(loss).getElementType()) {
      main.emitError() << "E15002: no argument of one element of the loss's type is named '"
                       << scale << "'";
      return signalPassFailure();
    }
    gradients[loss] = g.reshape(body.getArgument(*index), shapeOf(loss));
  }
  for (Operation *op : path)
    differentiate(builder, op);
  for (BlockArgument parameter : parameters) {
    Value gradient = gradients.lookup(parameter);
    // The loss does not depend on it.
    if (!gradient)
      gradient = g.splat(typeOf(parameter), 0);
    appendResult(main, gradient, argumentName(main, parameter.getArgNumber()) + ".grad");
  }
}

} // namespace
