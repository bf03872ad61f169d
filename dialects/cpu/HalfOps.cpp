//===-- HalfOps.cpp - verifier and cost of contractions in f16 ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Half.h"
#include "dialects/cpu/VerifyEpilogue.h"
#include "dialects/cpu/VerifyWindows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

LogicalResult HalfConv2DOp::verify() {
  if (failed(verifyRank(*this, getFilter(), 6, "filter")))
    return failure();
  MemRefType filter = typeOf(getFilter());
  ArrayRef<int64_t> weights = filter.getShape();
  if (failed(verifyWindows(*this, getInput(), getOutput(), weights.slice(2, 2), getStrides(),
                           getDilations())))
    return failure();
  if (!filter.getElementType().isF16())
    return emitOpError() << "filter must be of f16, but is " << filter;
  for (Value buffer : {getInput(), getOutput()})
    if (!typeOf(buffer).getElementType().isF32())
      return emitOpError() << "reads and writes f32, but has " << buffer.getType();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  if (weights[0] != out[1] || weights[5] != 2 * out[4])
    return emitOpError() << "filter must be for " << out[1] << " blocks of " << out[4]
                         << " output channels, two elements each, but is " << filter;
  if (in[4] % 2 != 0 || weights[1] != in[1] || 2 * weights[4] < in[4])
    return emitOpError() << "filter must be for " << in[1] << " blocks of an even number of "
                         << in[4] << " input channels, in pairs, but is " << filter;
  return verifyEpilogue(*this);
}

/// A product of matrices is a window of one pixel without blocks.
std::string HalfConv2DOp::kernelName() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return windowName("half_conv2d", filter[2], filter[3]);
}

int64_t HalfConv2DOp::flops() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape(), in = typeOf(getInput()).getShape();
  return 2 * elements(getOutput()) * in[1] * in[4] * filter[2] * filter[3];
}

/// Each output is written once, after the residual at its position was read.
bool HalfConv2DOp::canRunInPlace(unsigned operand) {
  return getResidual() && (*this)->getOperand(operand) == getResidual() &&
         getResidual() != getInput();
}

#define GET_OP_CLASSES
#include "dialects/cpu/HalfOps.cpp.inc"
