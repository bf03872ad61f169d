//===-- GradientOps.cpp - verifier of graph.gradient ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/gradient/Gradient.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include "dialects/graph/ops/RegisterOps.h"

using namespace mlir;
using namespace atc::graph;

#define GET_OP_CLASSES
#include "dialects/graph/gradient/GradientOps.cpp.inc"

void atc::graph::registerGradient(GraphDialect &dialect) { registerOps<GradientOp>(dialect); }

LogicalResult GradientOp::verify() {
  if (getVariables().size() != getAt().size() || getGradients().size() > getVariables().size())
    return emitOpError() << "has " << getVariables().size() << " variables, " << getAt().size()
                         << " values for them and " << getGradients().size() << " gradients";
  for (auto [variable, value] : llvm::zip(getVariables(), getAt()))
    if (variable.getType() != value.getType())
      return emitOpError() << "evaluates a variable of " << variable.getType() << " at a value of "
                           << value.getType();
  for (auto [variable, gradient] : llvm::zip(getVariables(), getGradients()))
    if (variable.getType() != gradient.getType())
      return emitOpError() << "has a gradient of " << gradient.getType() << " by a variable of "
                           << variable.getType();
  return success();
}
