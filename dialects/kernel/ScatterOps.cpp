//===-- ScatterOps.cpp - sums by index and running sums: verifiers, costs -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/kernel/Scatter.h"
#include "dialects/kernel/VerifyBuffers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::kernel;

LogicalResult ScatterAddOp::verify() {
  if (failed(verifyRank(*this, getUpdates(), 3, "updates")) ||
      failed(verifyRank(*this, getIndices(), 1, "indices")) ||
      failed(verifyRank(*this, getOutput(), 3, "output")))
    return failure();
  ArrayRef<int64_t> from = typeOf(getUpdates()).getShape(), out = typeOf(getOutput()).getShape();
  const int64_t count = typeOf(getIndices()).getDimSize(0);
  if (from[0] != out[0] || from[1] != count || from[2] != out[2])
    return emitOpError() << "updates must be " << out[0] << " x " << count << " x " << out[2]
                         << ", but are " << getUpdates().getType();
  return success();
}

std::string ScatterAddOp::kernelName() { return "scatter_add"; }

int64_t ScatterAddOp::flops() {
  return typeOf(getUpdates()).getNumElements() + typeOf(getOutput()).getNumElements();
}

LogicalResult CumulativeSumOp::verify() {
  MemRefType in = typeOf(getInput()), out = typeOf(getOutput());
  if (in.getShape() != out.getShape() || in.getElementType() != out.getElementType())
    return emitOpError() << "input and output must have one shape and element type, but are " << in
                         << " and " << out;
  if (static_cast<int64_t>(getAxis()) < 0 || static_cast<int64_t>(getAxis()) >= in.getRank())
    return emitOpError() << "axis " << getAxis() << " is none of " << in;
  return success();
}

std::string CumulativeSumOp::kernelName() { return "cumulative_sum"; }

int64_t CumulativeSumOp::flops() { return typeOf(getInput()).getNumElements(); }

#define GET_OP_CLASSES
#include "dialects/kernel/ScatterOps.cpp.inc"
