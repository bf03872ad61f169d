//===-- IntegerOps.cpp - verifiers and cost of the integer convolutions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Cpu.h"
#include "dialects/kernel/VerifyBuffers.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

/// Bias, inputs, body and output of both.
template <typename OpT>
static LogicalResult verifyEpilogue(OpT op, int64_t channelBlocks, int64_t block) {
  if (failed(verifyRank(op, op.getInput(), 5, "input")) ||
      failed(verifyRank(op, op.getOutput(), 5, "output")) ||
      failed(verifyLength(op, op.getStrides(), 2, "strides")))
    return failure();
  MemRefType input = typeOf(op.getInput()), output = typeOf(op.getOutput()),
             bias = typeOf(op.getBias());
  if (!input.getElementType().isInteger(8))
    return op.emitOpError() << "input must be bytes, but is " << input;
  if (output.getDimSize(1) != channelBlocks || output.getDimSize(4) > block ||
      (channelBlocks > 1 && output.getDimSize(4) != block))
    return op.emitOpError() << "filter makes " << channelBlocks << " blocks of " << block
                            << " channels, but the output is " << output;
  if (bias.getRank() != 1 || bias.getDimSize(0) != channelBlocks * block ||
      !bias.getElementType().isInteger(32))
    return op.emitOpError() << "bias must be " << channelBlocks * block << " i32, but is " << bias;
  for (Value value : op.getInputs()) {
    MemRefType type = typeOf(value);
    bool isVector = type.getRank() == 1 &&
                    (type.getDimSize(0) == 1 || type.getDimSize(0) == channelBlocks * block);
    if (!isVector && type.getShape() != output.getShape())
      return op.emitOpError() << "input " << type << " neither is like the output nor a vector of "
                              << "its channels";
  }
  Type result = IntegerType::get(op.getContext(), 32);
  if (!op.getBody().empty()) {
    Block &body = op.getBody().front();
    auto yield = body.empty() ? IntegerYieldOp() : dyn_cast<IntegerYieldOp>(body.back());
    if (!yield || body.getNumArguments() != op.getInputs().size() + 1)
      return op.emitOpError("has a body that does not fit its inputs");
    result = yield.getValue().getType();
  }
  if (output.getElementType() != result)
    return op.emitOpError() << "writes " << result << ", but the output is " << output;
  return success();
}

/// A buffer like the output is read where the output is written, and before it.
template <typename OpT> static bool canRunOver(OpT op, unsigned operand) {
  Value value = op->getOperand(operand);
  return llvm::is_contained(op.getInputs(), value) && value != op.getInput() &&
         value.getType() == op.getOutput().getType();
}

LogicalResult IntegerConv2DOp::verify() {
  if (failed(verifyRank(*this, getFilter(), 4, "filter")) ||
      failed(verifyRank(*this, getSteps(), 2, "steps")))
    return failure();
  MemRefType filter = typeOf(getFilter()), steps = typeOf(getSteps());
  if (!filter.getElementType().isInteger(8) || filter.getDimSize(3) != 4 ||
      !steps.getElementType().isInteger(32) || steps.getShape() != filter.getShape().take_front(2))
    return emitOpError() << "filter must be bytes in fours with one step of i32 for each, but is "
                         << filter << " and steps are " << steps;
  int64_t group = getGroup();
  if (group < 1 || filter.getDimSize(1) % group != 0)
    return emitOpError() << "group " << group << " does not divide the " << filter.getDimSize(1)
                         << " steps";
  return verifyEpilogue(*this, filter.getDimSize(0), filter.getDimSize(2));
}

std::string IntegerConv2DOp::kernelName() { return "integer_conv2d"; }
int64_t IntegerConv2DOp::flops() { return 2 * getProducts(); }
bool IntegerConv2DOp::canRunInPlace(unsigned operand) { return canRunOver(*this, operand); }

LogicalResult IntegerDepthwiseOp::verify() {
  if (failed(verifyRank(*this, getFilter(), 4, "filter")) ||
      failed(verifyLength(*this, getDilations(), 2, "dilations")))
    return failure();
  MemRefType filter = typeOf(getFilter());
  if (!filter.getElementType().isInteger(16))
    return emitOpError() << "filter must be i16, but is " << filter;
  return verifyEpilogue(*this, filter.getDimSize(0), filter.getDimSize(3));
}

std::string IntegerDepthwiseOp::kernelName() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return windowName("integer_depthwise", filter[1], filter[2]);
}
int64_t IntegerDepthwiseOp::flops() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return 2 * elements(getOutput()) * filter[1] * filter[2];
}
bool IntegerDepthwiseOp::canRunInPlace(unsigned operand) { return canRunOver(*this, operand); }
