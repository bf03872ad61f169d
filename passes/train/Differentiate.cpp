//===-- Differentiate.cpp - reverse-mode differentiation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Functions.h"
#include "passes/train/Passes.h"
#include "passes/train/ReverseMode.h"
#include "passes/train/Windows.h"

namespace atc::train {
#define GEN_PASS_DEF_TRAINDIFFERENTIATE
#include "passes/train/Passes.h.inc"
} // namespace atc::train

using namespace mlir;
using namespace atc;
using namespace atc::train;

namespace {

class Differentiate : public train::impl::TrainDifferentiateBase<Differentiate> {
public:
  using TrainDifferentiateBase::TrainDifferentiateBase;
  void runOnOperation() override;

private:
  bool findParameters(Block &body);
  bool findPath(ReverseMode &reverse, Block &body, Value loss);

  SmallVector<BlockArgument> parameters;
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
  }
  if (parameters.empty()) {
    main.emitError() << "E15002: the model has no parameters to train: none of its initializers is "
                        "a float tensor, or none matches the names that are given";
    done = false;
  }
  return done;
}

/// Finds the ops between parameters and loss, and reports those without a gradient.
bool Differentiate::findPath(ReverseMode &reverse, Block &body, Value loss) {
  for (BlockArgument parameter : parameters)
    reverse.addVariable(parameter);
  const std::string missing = reverse.findPath(body, body.getTerminator(), loss);
  if (missing.empty())
    return true;
  getOperation().emitError()
      << "E15003: no gradient is known for these nodes between a parameter and the loss: "
      << missing
      << "; compute the loss from another output, or train only parameters behind these nodes";
  return false;
}

void Differentiate::runOnOperation() {
  func::FuncOp main = getOperation();
  if (!llvm::hasSingleElement(main.getBody()))
    return;
  // A pass runs on several functions.
  parameters.clear();
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
  ReverseMode reverse;
  if (!findParameters(body) || !findPath(reverse, body, loss))
    return signalPassFailure();

  OpBuilder builder(exit);
  GraphMath g(builder, derivedName(loss.getLoc(), "grad"));
  Value seed = g.splat(typeOf(loss), 1);
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
    seed = g.reshape(body.getArgument(*index), shapeOf(loss));
  }
  reverse.differentiate(builder, loss, seed);
  numOps += reverse.path().size();
  for (BlockArgument parameter : parameters) {
    Value gradient = reverse.gradientOf(parameter);
    // The loss does not depend on it.
    if (!gradient)
      gradient = g.splat(typeOf(parameter), 0);
    appendResult(main, gradient, argumentName(main, parameter.getArgNumber()) + ".grad");
  }
}

} // namespace
