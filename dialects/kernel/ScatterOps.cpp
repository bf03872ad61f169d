//===-- ScatterOps.cpp - verifier and cost of kernel.scatter_add ----------===//
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

#define GET_OP_CLASSES
#include "dialects/kernel/ScatterOps.cpp.inc"
