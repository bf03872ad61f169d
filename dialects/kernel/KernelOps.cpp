//===-- KernelOps.cpp - verifiers and cost of kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/VerifyBuffers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::kernel;

//===----------------------------------------------------------------------===//
// Pools, maps, reductions
//===----------------------------------------------------------------------===//

LogicalResult PoolOp::verify() {
  if (failed(verifyRank(*this, getInput(), 5, "input")) ||
      failed(verifyRank(*this, getOutput(), 5, "output")) ||
      failed(verifyLength(*this, getKernel(), 2, "kernel")) ||
      failed(verifyLength(*this, getStrides(), 2, "strides")) ||
      failed(verifyLength(*this, getDilations(), 2, "dilations")) ||
      failed(verifyLength(*this, getPads(), 4, "pads")))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  if (in[0] != out[0] || in[1] != out[1] || in[4] != out[4])
    return emitOpError() << "input and output must differ in H and W only, but are "
                         << getInput().getType() << " and " << getOutput().getType();
  return success();
}

std::string PoolOp::kernelName() {
  return windowName(getKind() == PoolKind::Max ? "max_pool" : "average_pool", getKernel()[0],
                    getKernel()[1]);
}

int64_t PoolOp::flops() { return elements(getOutput()) * getKernel()[0] * getKernel()[1]; }

LogicalResult MapOp::verify() {
  MemRefType out = typeOf(getOutput());
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "the body takes " << block.getNumArguments()
                         << " elements, but there are " << getInputs().size() << " inputs";
  for (auto [input, arg] : llvm::zip(getInputs(), block.getArguments())) {
    MemRefType in = typeOf(input);
    if (arg.getType() != in.getElementType())
      return emitOpError() << "the body takes " << arg.getType() << " for an input " << in;
    if (failed(verifyRank(*this, input, out.getRank(), "input")))
      return failure();
    for (auto [a, b] : llvm::zip(in.getShape(), out.getShape()))
      if (a != b && a != 1)
        return emitOpError() << "input " << in << " does not broadcast to " << out;
  }
  auto yield = cast<YieldOp>(block.getTerminator());
  if (!yield.getValue() || yield.getValue().getType() != out.getElementType())
    return emitOpError() << "the body must yield " << out.getElementType();
  return success();
}

std::string MapOp::kernelName() {
  std::string name = "map";
  for (Operation &op : getBody().front().without_terminator())
    if (op.getNumOperands() && name.size() < 40)
      name += ("_" + op.getName().stripDialect()).str();
  return name;
}

int64_t MapOp::flops() {
  int64_t ops = 0;
  for (Operation &op : getBody().front().without_terminator())
    // A transcendental function takes about twenty instructions.
    ops += op.getNumOperands() ? (op.getName().getDialectNamespace() == "math" ? 20 : 1) : 0;
  return elements(getOutput()) * std::max<int64_t>(ops, 1);
}

bool MapOp::canRunInPlace(unsigned operand) {
  MemRefType in = typeOf((*this)->getOperand(operand)), out = typeOf(getOutput());
  return in.getShape() == out.getShape() && in.getElementType() == out.getElementType();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyRank(*this, getOutput(), typeOf(getInput()).getRank(), "output")))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(in, out))) {
    int64_t expected = llvm::is_contained(getAxes(), int64_t(dim)) ? 1 : std::get<0>(sizes);
    if (std::get<1>(sizes) != expected)
      return emitOpError() << "output dim " << dim << " must be " << expected << ", but is "
                           << std::get<1>(sizes);
  }
  return success();
}

std::string ReduceOp::kernelName() {
  return ("reduce_" + atc::graph::stringifyReduceKind(getKind())).str();
}
int64_t ReduceOp::flops() { return elements(getInput()); }

LogicalResult ArgReduceOp::verify() {
  MemRefType in = typeOf(getInput());
  if (failed(verifyRank(*this, getOutput(), in.getRank(), "output")))
    return failure();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= in.getRank())
    return emitOpError() << "axis " << axis << " is not a dim of " << in;
  return success();
}
std::string ArgReduceOp::kernelName() { return getSmallest() ? "arg_min" : "arg_max"; }
int64_t ArgReduceOp::flops() { return elements(getInput()); }

LogicalResult SoftmaxOp::verify() {
  int64_t axis = getAxis();
  if (axis < 0 || axis >= typeOf(getInput()).getRank())
    return emitOpError() << "axis " << axis << " is not a dim of " << getInput().getType();
  return verifySameShape(*this, getInput(), "input", getOutput(), "output");
}
std::string SoftmaxOp::kernelName() { return getLog() ? "log_softmax" : "softmax"; }
int64_t SoftmaxOp::flops() { return 25 * elements(getInput()); }

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  return verifySameShape(*this, getInput(), "input", getOutput(), "output");
}
std::string CopyOp::kernelName() { return "copy"; }
int64_t CopyOp::flops() { return elements(getOutput()); }

namespace {
LogicalResult verifyPacking(Operation *op, Value plain, Value blocked) {
  if (failed(verifyRank(op, plain, 4, "the plain buffer")) ||
      failed(verifyRank(op, blocked, 5, "the blocked buffer")))
    return failure();
  ArrayRef<int64_t> p = typeOf(plain).getShape(), b = typeOf(blocked).getShape();
  if (p[0] == b[0] && (p[1] + b[4] - 1) / b[4] == b[1] && p[2] == b[2] && p[3] == b[3])
    return success();
  return op->emitOpError() << blocked.getType() << " is not the blocked form of "
                           << plain.getType();
}
} // namespace

LogicalResult PackOp::verify() { return verifyPacking(*this, getInput(), getOutput()); }
std::string PackOp::kernelName() { return "pack"; }
int64_t PackOp::flops() { return elements(getOutput()); }

LogicalResult UnpackOp::verify() { return verifyPacking(*this, getOutput(), getInput()); }
std::string UnpackOp::kernelName() { return "unpack"; }
int64_t UnpackOp::flops() { return elements(getOutput()); }

LogicalResult FillOp::verify() {
  if (!getBorder())
    return success();
  MemRefType out = typeOf(getOutput());
  if (out.getRank() < 4)
    return emitOpError() << "a border needs dims 2 and 3, but the buffer is " << out;
  if (failed(verifyLength(*this, *getBorder(), 4, "border")))
    return failure();
  ArrayRef<int64_t> border = *getBorder();
  if (border[0] + border[2] > out.getDimSize(2) || border[1] + border[3] > out.getDimSize(3))
    return emitOpError() << "border is larger than the buffer " << out;
  return success();
}
std::string FillOp::kernelName() { return getBorder() ? "fill_border" : "fill"; }
int64_t FillOp::flops() {
  MemRefType out = typeOf(getOutput());
  if (!getBorder())
    return out.getNumElements();
  ArrayRef<int64_t> b = *getBorder();
  int64_t h = out.getDimSize(2), w = out.getDimSize(3);
  int64_t inner = (h - b[0] - b[2]) * (w - b[1] - b[3]);
  return out.getNumElements() / std::max<int64_t>(h * w, 1) * (h * w - inner);
}

LogicalResult PadOp::verify() {
  int64_t rank = typeOf(getInput()).getRank();
  if (failed(verifyRank(*this, getOutput(), rank, "output")))
    return failure();
  if (getMode() == atc::graph::PadMode::Constant)
    return emitOpError("constant padding is kernel.fill and kernel.copy");
  return verifyLength(*this, getLow(), rank, "low");
}
std::string PadOp::kernelName() { return ("pad_" + atc::graph::stringifyPadMode(getMode())).str(); }
int64_t PadOp::flops() { return elements(getOutput()); }

LogicalResult ResizeOp::verify() {
  int64_t rank = typeOf(getInput()).getRank();
  if (failed(verifyRank(*this, getOutput(), rank, "output")))
    return failure();
  if (int64_t(getScales().size()) != rank)
    return emitOpError() << "scales needs " << rank << " numbers, but has " << getScales().size();
  return success();
}
std::string ResizeOp::kernelName() {
  return ("resize_" + atc::graph::stringifyResizeMode(getMode())).str();
}
int64_t ResizeOp::flops() { return 8 * elements(getOutput()); }

LogicalResult GatherOp::verify() {
  if (failed(verifyRank(*this, getInput(), 3, "input")) ||
      failed(verifyRank(*this, getIndices(), 1, "indices")) ||
      failed(verifyRank(*this, getOutput(), 3, "output")))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  int64_t count = typeOf(getIndices()).getDimSize(0);
  if (out[0] != in[0] || out[1] != count || out[2] != in[2])
    return emitOpError() << "output must be " << in[0] << " x " << count << " x " << in[2]
                         << ", but is " << getOutput().getType();
  return success();
}
std::string GatherOp::kernelName() { return "gather"; }
int64_t GatherOp::flops() { return elements(getOutput()); }

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

// Builds an empty yield, which the parser adds to an empty body for the verifier to reject.
void YieldOp::build(OpBuilder &, OperationState &) {}
