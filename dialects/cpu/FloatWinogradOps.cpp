//===-- FloatWinogradOps.cpp - verifier and cost of cpu.float_winograd ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/FloatWinograd.h"
#include "dialects/cpu/VerifyEpilogue.h"
#include "dialects/cpu/Winograd.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

LogicalResult FloatWinogradOp::verify() {
  if (failed(verifyRank(*this, getInput(), 5, "input")) ||
      failed(verifyRank(*this, getFilter(), 4, "filter")) ||
      failed(verifyRank(*this, getOutput(), 5, "output")))
    return failure();
  MemRefType input = typeOf(getInput()), filter = typeOf(getFilter()), output = typeOf(getOutput());
  for (MemRefType type : {input, filter, output})
    if (!type.getElementType().isF32())
      return emitOpError() << "works on f32, but has " << type;
  ArrayRef<int64_t> in = input.getShape(), weights = filter.getShape(), out = output.getShape();
  if (in[0] != out[0] || in[2] != out[2] + 2 || in[3] != out[3] + 2)
    return emitOpError() << "input must have batch " << out[0] << " and " << out[2] + 2 << " x "
                         << out[3] + 2 << " pixels, two rows and columns more than the output, "
                         << "but is " << input;
  if (!Winograd::ofPoints(weights[1]))
    return emitOpError() << "filter must have 16 or 36 positions, but is " << filter;
  if (weights[0] != out[1] || weights[3] != out[4] || weights[2] != in[1] * in[4])
    return emitOpError() << "filter must be for " << in[1] * in[4] << " input channels and "
                         << out[1] << " blocks of " << out[4] << " output channels, but is "
                         << filter;
  return verifyEpilogue(*this);
}

std::string FloatWinogradOp::kernelName() {
  int64_t outputs = Winograd::ofPoints(typeOf(getFilter()).getDimSize(1))->outputs;
  return windowName("winograd", outputs, outputs);
}

/// Counts as the model does, nine products per output and channel, so that rates compare with those
/// of direct convolutions.
int64_t FloatWinogradOp::flops() {
  return 2 * 9 * elements(getOutput()) * typeOf(getFilter()).getDimSize(2);
}

/// Each output is written once, after the residual at its position was read.
bool FloatWinogradOp::canRunInPlace(unsigned operand) {
  return getResidual() && (*this)->getOperand(operand) == getResidual() &&
         getResidual() != getInput();
}

#define GET_OP_CLASSES
#include "dialects/cpu/FloatWinogradOps.cpp.inc"
