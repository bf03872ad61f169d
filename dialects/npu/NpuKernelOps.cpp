//===-- NpuKernelOps.cpp - verifiers and cost of the NPU's kernels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/kernel/VerifyBuffers.h"
#include "dialects/npu/Npu.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace atc::kernel;
using namespace atc::npu::ir;

namespace {

/// Checks a vector over the output's channels, which may be absent.
LogicalResult verifyVector(Operation *op, Value value, int64_t size, Type element, StringRef name) {
  if (!value)
    return success();
  MemRefType type = typeOf(value);
  if (type.getRank() == 1 && type.getDimSize(0) == size && type.getElementType() == element)
    return success();
  return op->emitOpError() << name << " must be " << MemRefType::get({size}, element) << ", but is "
                           << type;
}

LogicalResult verifyShape(Operation *op, Value value, ArrayRef<int64_t> shape, StringRef name) {
  if (typeOf(value).getShape() == shape)
    return success();
  auto diagnostic = op->emitOpError() << name << " must have shape ";
  llvm::interleave(shape, diagnostic, "x");
  return diagnostic << ", but is " << value.getType();
}

/// Positions of one dim that a window comes to.
int64_t windowCount(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  int64_t room = size + pads - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

} // namespace

SmallVector<int64_t> Conv2DOp::inputShape() {
  SmallVector<int64_t> shape(typeOf(getInput()).getShape());
  if (YuvAttr yuv = getPixels() ? getPixels()->getYuv() : YuvAttr())
    shape = {shape[0], getPixels()->getMeans().size(), yuv.getCrop()[2], yuv.getCrop()[3]};
  return shape;
}

/// Verifies the colours of an image of luma and chroma.
static LogicalResult verifyYuv(Conv2DOp op, PixelsAttr pixels) {
  YuvAttr yuv = pixels.getYuv();
  const int64_t channels = pixels.getMeans().size();
  ArrayRef<int64_t> crop = yuv.getCrop().asArrayRef();
  ArrayRef<int64_t> in = typeOf(op.getInput()).getShape();
  if (!typeOf(op.getInput()).getLayout().isIdentity() || in[1] != 1 || in[2] % 3 || in[3] % 2)
    return op.emitOpError() << "has yuv, whose input must be [N][1][H * 3/2][W] without gaps";
  if (channels > 3 || yuv.getMatrix().size() != channels * 3 || yuv.getBias().size() != channels)
    return op.emitOpError() << "has yuv of " << yuv.getMatrix().size() << " factors and "
                            << yuv.getBias().size() << " biases for " << channels << " channels";
  if (crop.size() != 4 || llvm::any_of(crop, [](int64_t n) { return n < 0 || n % 2; }) ||
      crop[2] < 2 || crop[3] < 2 || crop[2] > in[2] / 3 * 2 - crop[0] || crop[3] > in[3] - crop[1])
    return op.emitOpError() << "has yuv with the crop [" << crop << "] of " << in[2] / 3 * 2
                            << " x " << in[3] << " pixels";
  return success();
}

LogicalResult Conv2DOp::verify() {
  if (failed(verifyRank(*this, getInput(), getImage() ? 4 : 5, "input")) ||
      failed(verifyRank(*this, getFilter(), 5, "filter")) ||
      failed(verifyRank(*this, getOutput(), 5, "output")) ||
      failed(verifyLength(*this, getKernel(), 2, "kernel")) ||
      failed(verifyLength(*this, getStrides(), 2, "strides")) ||
      failed(verifyLength(*this, getDilations(), 2, "dilations")) ||
      failed(verifyLength(*this, getPads(), 4, "pads")))
    return failure();
  for (ArrayRef<int64_t> steps : {getKernel(), getStrides(), getDilations()})
    for (int64_t step : steps)
      if (step < 1)
        return emitOpError("kernel, strides and dilations must be at least 1");
  if (getPixels() && getPixels()->getYuv() && failed(verifyYuv(*this, *getPixels())))
    return failure();
  const SmallVector<int64_t> in = inputShape();
  ArrayRef<int64_t> out = typeOf(getOutput()).getShape();
  int64_t groups = getBlockGroups(), taps = getKernel()[0] * getKernel()[1];
  if (groups < 1 || out[1] % groups || (!getImage() && in[1] % groups))
    return emitOpError() << "block_groups = " << groups
                         << " must divide the blocks of input and output channels";
  if (in[0] != out[0])
    return emitOpError() << "input has batch " << in[0] << ", output " << out[0];
  if (getImage() && (in[1] > 4 || groups != 1))
    return emitOpError("an image has at most 4 channels and one group");
  if (std::optional<PixelsAttr> pixels = getPixels()) {
    const bool isBytes = typeOf(getInput()).getElementType().isUnsignedInteger(8);
    if (!getImage() || getScales() || !isBytes)
      return emitOpError("has pixels, which are those of an image of ui8 without scales");
    if (int64_t(pixels->getMeans().size()) != in[1] ||
        int64_t(pixels->getFactors().size()) != in[1])
      return emitOpError() << "has pixels of " << pixels->getMeans().size() << " means and "
                           << pixels->getFactors().size() << " factors for " << in[1]
                           << " channels";
    if (llvm::is_contained(pixels->getFactors().asArrayRef(), 0.0))
      return emitOpError("has pixels with a factor of 0");
  }
  const int64_t block = getScales() ? 32 : 16, channels = out[1] * block;
  if (out[4] != block || (!getImage() && in[4] != block))
    return emitOpError() << "channels must stand in blocks of " << block;
  int64_t depth = getImage() ? llvm::divideCeil(taps * 4, 16) : in[1] / groups * taps;
  if (failed(verifyShape(*this, getFilter(),
                         {groups, depth, channels / groups / 16, 16, getImage() ? 16 : block},
                         "filter")))
    return failure();
  for (unsigned d : {0u, 1u}) {
    int64_t count = windowCount(in[2 + d], getKernel()[d], getStrides()[d], getDilations()[d],
                                getPads()[d] + getPads()[2 + d]);
    if (count != out[2 + d])
      return emitOpError() << "gives " << count << " positions along " << (d ? "W" : "H")
                           << ", but the output has " << out[2 + d];
  }
  Builder builder(getContext());
  Type sum = getScales() && !getImage() ? Type(builder.getI32Type()) : builder.getF32Type();
  if (failed(verifyVector(*this, getBias(), channels, sum, "bias")) ||
      failed(verifyVector(*this, getSlope(), channels, builder.getF16Type(), "slope")) ||
      failed(verifyVector(*this, getScales(), channels, builder.getF32Type(), "scales")))
    return failure();
  if (getIdentity()) {
    MemRefType identity = typeOf(getIdentity());
    if (identity.getShape() != ArrayRef<int64_t>{16, 16} || !identity.getElementType().isF16())
      return emitOpError() << "has an identity of " << identity << "; it must be 16x16xf16";
    if (!getResidual() || getScales() || !getBody().empty() ||
        (getResidualLast() && getActivation()))
      return emitOpError("has an identity, which adds a residual of f16 before the activation");
  }
  if (bool(getScales()) != bool(getStored()))
    return emitOpError("scales and a stored type come together");
  if (getImageScale() &&
      !(getImage() && getScales() && typeOf(getInput()).getElementType().isF32()))
    return emitOpError("image_scale makes bytes of an image of f32");
  bool takesResidual = bool(getResidual()), hasBody = !getBody().empty();
  if (getScales() && (getActivation() || (takesResidual && !hasBody)))
    return emitOpError("of bytes has no activation, and joins a residual in its body");
  if (hasBody && (bool(getScales()) != bool(getFactor()) ||
                  getBody().getNumArguments() != (takesResidual ? 2u : 1u)))
    return emitOpError("has a body that does not fit its operands");
  const bool isRelu =
      getActivation() && getActivation()->getKind() == atc::graph::ActivationKind::Relu;
  if (hasBody && !getScales() &&
      ((getActivation() && !isRelu) || takesResidual != getResidualLast()))
    return emitOpError("has a body, which only a relu without the residual can come before");
  if (getResidual() &&
      failed(verifySameShape(*this, getResidual(), "residual", getOutput(), "output")))
    return failure();
  bool prelu = getActivation() && getActivation()->getKind() == atc::graph::ActivationKind::PRelu;
  if (prelu != bool(getSlope()))
    return emitOpError("a slope and a prelu activation come together");
  return success();
}

std::string Conv2DOp::kernelName() {
  StringRef stem = getScales()            ? "integer_conv2d"
                   : getImage()           ? "image_conv2d"
                   : getBlockGroups() > 1 ? "grouped_conv2d"
                                          : "conv2d";
  return windowName(stem, getKernel()[0], getKernel()[1]);
}
int64_t Conv2DOp::flops() { return 2 * getMacs(); }
bool Conv2DOp::canRunInPlace(unsigned operand) {
  return getResidual() && getOperand(operand) == getResidual() && getInput() != getResidual();
}

LogicalResult MatMulOp::verify() {
  if (failed(verifyRank(*this, getLhs(), 4, "lhs")) ||
      failed(verifyRank(*this, getRhs(), 4, "rhs")) ||
      failed(verifyRank(*this, getOutput(), 4, "output")))
    return failure();
  ArrayRef<int64_t> lhs = typeOf(getLhs()).getShape(), rhs = typeOf(getRhs()).getShape(),
                    out = typeOf(getOutput()).getShape();
  if (lhs[0] != out[0] || lhs[1] != out[1] || lhs[2] != out[2])
    return emitOpError() << "lhs and output must have the same products and rows, but are "
                         << getLhs().getType() << " and " << getOutput().getType();
  int64_t depth = lhs[3], columns = out[3], columnBlocks = llvm::divideCeil(columns, 16);
  if (getPacked()) {
    if (getTransposeRhs())
      return emitOpError("packed weights have no transpose");
    if (failed(verifyShape(*this, getRhs(),
                           {int64_t(llvm::divideCeil(depth, 16)), columnBlocks, 16, 16}, "rhs")))
      return failure();
  } else {
    for (unsigned d : {0u, 1u})
      if (rhs[d] != out[d] && rhs[d] != 1)
        return emitOpError() << "rhs must have the output's products or one, but is "
                             << getRhs().getType();
    int64_t rhsDepth = rhs[getTransposeRhs() ? 3 : 2], rhsColumns = rhs[getTransposeRhs() ? 2 : 3];
    if (rhsDepth != depth || rhsColumns != columns)
      return emitOpError() << "sums over " << depth << " for " << columns << " columns, but rhs is "
                           << getRhs().getType();
  }
  if (failed(verifyVector(*this, getBias(), columnBlocks * 16, Builder(getContext()).getF32Type(),
                          "bias")))
    return failure();
  if (getResidual() &&
      failed(verifySameShape(*this, getResidual(), "residual", getOutput(), "output")))
    return failure();
  if (getActivation() && getActivation()->getKind() == atc::graph::ActivationKind::PRelu)
    return emitOpError("prelu is for convolutions");
  return success();
}

std::string MatMulOp::kernelName() { return getPacked() ? "matmul_packed" : "matmul"; }
int64_t MatMulOp::flops() { return 2 * elements(getOutput()) * typeOf(getLhs()).getDimSize(3); }
bool MatMulOp::canRunInPlace(unsigned operand) {
  return getResidual() && getOperand(operand) == getResidual() && getLhs() != getResidual() &&
         getRhs() != getResidual();
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyRank(*this, getInput(), 2, "input")) ||
      failed(verifySameShape(*this, getInput(), "input", getOutput(), "output")))
    return failure();
  Type f32 = Builder(getContext()).getF32Type();
  int64_t columns = typeOf(getOutput()).getDimSize(1);
  if (failed(verifyVector(*this, getGamma(), columns, f32, "gamma")) ||
      failed(verifyVector(*this, getBeta(), columns, f32, "beta")))
    return failure();
  return success();
}

std::string LayerNormOp::kernelName() { return getUncentered() ? "rms_norm" : "layer_norm"; }
int64_t LayerNormOp::flops() { return 8 * elements(getOutput()); }
bool LayerNormOp::canRunInPlace(unsigned operand) { return getOperand(operand) == getInput(); }
