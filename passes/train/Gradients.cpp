//===-- Gradients.cpp - the gradient rule of each graph op ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Gradients.h"

#include "dialects/graph/ops/HostOps.h"

using namespace mlir;

namespace atc::train {

void OpGradient::give(unsigned operand, Value value) {
  if (!wants(operand))
    return;
  // A gradient such as that of a sum may be smaller than the operand: it is the value of all of
  // them.
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(operand));
  if (shapeOf(value) != shape) {
    auto common = graph::broadcastShapes(shapeOf(value), shape);
    assert(common && "the gradient fits the operand");
    value = sumTo(expand(value, *common), shape);
  }
  Value &sum = gradients[operand];
  sum = sum ? add(sum, value) : value;
}

GradientRules::GradientRules() {
  addElementwiseGradients(*this);
  addActivationGradients(*this);
  addContractionGradients(*this);
  addPoolGradients(*this);
  addReduceGradients(*this);
  addMovementGradients(*this);
  addHostCallGradients(*this);
  addCollectiveGradients(*this);
}

void GradientRules::addKernel(StringRef kernel, void (*function)(graph::HostCallOp, OpGradient &),
                              bool (*holds)(graph::HostCallOp)) {
  kernels[kernel] = {[function](Operation *op, OpGradient &g) -> const char * {
                       function(cast<graph::HostCallOp>(op), g);
                       return nullptr;
                     },
                     holds};
}

static bool isStatic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

const GradientRules::Rule *GradientRules::find(Operation *op) const {
  if (auto call = dyn_cast<graph::HostCallOp>(op)) {
    auto known = kernels.find(call.getKernel());
    const bool fits = known != kernels.end() && !call.getPositions() &&
                      llvm::all_of(call->getOperands(), isStatic) &&
                      llvm::all_of(call->getResults(), isStatic) &&
                      (!known->second.holds || known->second.holds(call));
    return fits ? &known->second.rule : nullptr;
  }
  auto found = rules.find(op->getName().getStringRef());
  return found == rules.end() ? nullptr : &found->second;
}

} // namespace atc::train
