//===-- CpuOps.cpp - verifiers and cost of the CPU's contractions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Cpu.h"
#include "dialects/cpu/VerifyEpilogue.h"
#include "dialects/cpu/VerifyWindows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

//===----------------------------------------------------------------------===//
// Convolutions and matmul
//===----------------------------------------------------------------------===//

LogicalResult Conv2DOp::verify() {
  if (failed(verifyRank(*this, getFilter(), 6, "filter")))
    return failure();
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  if (failed(verifyWindows(*this, getInput(), getOutput(), filter.slice(2, 2), getStrides(),
                           getDilations())))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  int64_t groups = getGroups();
  if (groups < 1 || out[1] % groups != 0 || in[1] % groups != 0)
    return emitOpError() << "groups = " << groups << " must divide the " << in[1]
                         << " channel blocks of the input and the " << out[1] << " of the output";
  if (filter[0] != out[1] || filter[5] != out[4])
    return emitOpError() << "filter makes " << filter[0] << " blocks of " << filter[5]
                         << " channels, but the output has " << out[1] << " of " << out[4];
  if (filter[1] != in[1] / groups || filter[4] != in[4])
    return emitOpError() << "filter reads " << filter[1] << " blocks of " << filter[4]
                         << " channels, but the input has " << in[1] / groups << " of " << in[4]
                         << " in a group";
  int64_t channels = getChannels();
  if (channels < 1 || channels > filter[1] * filter[4])
    return emitOpError() << "channels = " << channels << " must lie in 1.."
                         << filter[1] * filter[4];
  if (std::optional<ArrayRef<int64_t>> image = getImage()) {
    auto isInside = [&](int64_t dim) {
      const int64_t begin = (*image)[dim], size = (*image)[dim + 2];
      return begin >= 0 && size >= 1 && begin <= in[dim + 2] && size <= in[dim + 2] - begin;
    };
    if (image->size() != 4 || !isInside(0) || !isInside(1))
      return emitOpError() << "image = [" << *image << "] must be top, left, height and width of a "
                           << "part of the " << in[2] << "x" << in[3] << " positions of the input";
  }
  return verifyEpilogue(*this);
}

std::string Conv2DOp::kernelName() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return windowName("conv2d", filter[2], filter[3]);
}

int64_t Conv2DOp::flops() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return 2 * elements(getOutput()) * getChannels() * filter[2] * filter[3];
}

bool Conv2DOp::canRunInPlace(unsigned operand) {
  // A residual that comes last is read after partial accumulators were stored.
  return getResidual() && !getResidualLast() && (*this)->getOperand(operand) == getResidual() &&
         getResidual() != getInput();
}

LogicalResult DepthwiseConv2DOp::verify() {
  if (failed(verifyRank(*this, getFilter(), 4, "filter")))
    return failure();
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  if (failed(verifyWindows(*this, getInput(), getOutput(), filter.slice(1, 2), getStrides(),
                           getDilations())))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape(), out = typeOf(getOutput()).getShape();
  if (in[1] != out[1] || in[4] != out[4] || filter[0] != out[1] || filter[3] != out[4])
    return emitOpError() << "input, filter and output must have the same channel blocks, but have "
                         << in[1] << " x " << in[4] << ", " << filter[0] << " x " << filter[3]
                         << " and " << out[1] << " x " << out[4];
  return verifyEpilogue(*this);
}

std::string DepthwiseConv2DOp::kernelName() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return windowName("depthwise", filter[1], filter[2]);
}

int64_t DepthwiseConv2DOp::flops() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return 2 * elements(getOutput()) * filter[1] * filter[2];
}

bool DepthwiseConv2DOp::canRunInPlace(unsigned operand) {
  return getResidual() && (*this)->getOperand(operand) == getResidual() &&
         getResidual() != getInput();
}

LogicalResult MatMulOp::verify() {
  if (failed(verifyRank(*this, getLhs(), 3, "lhs")) ||
      failed(verifyRank(*this, getOutput(), 3, "output")) ||
      failed(verifyRank(*this, getRhs(), 3, "rhs")))
    return failure();
  ArrayRef<int64_t> lhs = typeOf(getLhs()).getShape(), rhs = typeOf(getRhs()).getShape(),
                    out = typeOf(getOutput()).getShape();
  int64_t columns = getPacked() ? rhs[0] * rhs[2] : rhs[2];
  bool fits = getPacked() ? columns >= out[2] && columns - out[2] < rhs[2] : columns == out[2];
  if (!fits || rhs[1] != lhs[2] || lhs[1] != out[1])
    return emitOpError() << "shapes do not fit: " << getLhs().getType() << " by "
                         << getRhs().getType() << " gives " << getOutput().getType();
  for (int64_t batch : {lhs[0], getPacked() ? 1 : rhs[0]})
    if (batch != 1 && batch != out[0])
      return emitOpError() << "batch " << batch << " neither is 1 nor the output's " << out[0];
  if (getBias() && !getPacked())
    return emitOpError("takes a bias with packed weights only");
  if (getResidual() && !getPacked())
    return emitOpError("takes a residual with packed weights only");
  if (getResidual() &&
      failed(verifySameShape(*this, getResidual(), "residual", getOutput(), "output")))
    return failure();
  return verifyPerChannel(*this, getBias(), columns, "bias");
}

std::string MatMulOp::kernelName() { return getPacked() ? "matmul_packed" : "matmul"; }

int64_t MatMulOp::flops() { return 2 * elements(getOutput()) * typeOf(getLhs()).getDimSize(2); }

/// The residual at a position is read before the first accumulators are stored there.
bool MatMulOp::canRunInPlace(unsigned operand) {
  return getResidual() && (*this)->getOperand(operand) == getResidual() &&
         getResidual() != getLhs();
}

#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.cpp.inc"
