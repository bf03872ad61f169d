//===-- Gradients.cpp - the gradient rule of each graph op ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/train/Gradients.h"

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
}

const GradientRules::Rule *GradientRules::find(Operation *op) const {
  auto found = rules.find(op->getName().getStringRef());
  return found == rules.end() ? nullptr : &found->second;
}

} // namespace atc::train
