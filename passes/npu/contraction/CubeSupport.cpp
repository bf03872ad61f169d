//===-- CubeSupport.cpp - which contractions the NPU can run ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/CubeSupport.h"

#include "passes/ValueTypes.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/contraction/TileCosts.h"
#include "passes/npu/vector/VectorCode.h"

using namespace mlir;

namespace atc::npu {

namespace {

/// Strides in bytes.
SmallVector<int64_t> byteStrides(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  for (int64_t &stride : strides)
    stride *= type.getElementTypeBitWidth() / 8;
  return strides;
}

/// Returns whether channels are in blocks of 32 bytes and the pixels of a row are dense.
bool isBlocked(MemRefType type, Type element) {
  auto strides = byteStrides(type);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return type.getElementType() == element && type.getRank() == 5 &&
         type.getDimSize(4) == 32 / bytes && strides[4] == bytes &&
         (type.getDimSize(3) == 1 || strides[3] == 32);
}

bool isDense(MemRefType type) {
  auto strides = byteStrides(type);
  int64_t expected = type.getElementTypeBitWidth() / 8;
  for (int64_t d = type.getRank(); d-- > 0;) {
    if (type.getDimSize(d) != 1 && strides[d] != expected)
      return false;
    expected *= type.getDimSize(d);
  }
  return true;
}

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// Checks the epilogue, common to both ops.
std::string whyUnsupportedEpilogue(Contraction &c, const SocTable &soc) {
  if (c.scales && !isDense(bufferTypeOf(c.scales)))
    return "the scales are not contiguous";
  if (soc.split) {
    bool relu =
        !c.activation || (c.activation.getKind() == graph::ActivationKind::Relu && !c.residualLast);
    const bool isAdded = !c.residual.value || c.identity;
    if (!relu || !isAdded || c.scale != 1 || c.body)
      return "results leave the cube of a split core with relu and scales at most";
  } else if (c.identity) {
    return "the vector unit of this SoC adds residuals";
  }
  if (c.bias && c.scale != 1)
    return "scale and bias together";
  if (c.bias && !isDense(bufferTypeOf(c.bias)))
    return "the bias is not contiguous";
  if (c.identity && !isDense(bufferTypeOf(c.identity)))
    return "the identity is not contiguous";
  if (c.slope && !isDense(bufferTypeOf(c.slope)))
    return "the slope is not contiguous";
  if (c.residual.value && bufferTypeOf(c.residual.value).getElementType() != c.outputType)
    return "residual and output have different element types";
  if (c.addition)
    c.vectorCycles = 4.0 / 256;
  if (c.needsVector()) {
    std::unique_ptr<Block> body = epilogueBody(c);
    // Code that the vector unit has no instructions for has no costs either.
    if (std::string why = whyUnsupportedScalarCode(*body); !why.empty())
      return why;
    c.scratchPerElement = llvm::divideCeil(scratchBytes(*body, 4096), 4096);
    c.vectorCycles = vectorCyclesPerElement(*body);
  }
  return "";
}

ResultLayout blockedLayout(Value value) {
  auto strides = byteStrides(bufferTypeOf(value));
  return {value, strides[0], 0, strides[1], bufferTypeOf(value).getDimSize(3) * 32};
}

/// Describes the common parts of convolutions and products.
template <typename OpT>
void describeBoth(OpT op, MemRefType lhs, MemRefType output, Contraction &c) {
  c.bias = op.getBias();
  c.lhsType = lhs.getElementType();
  c.outputType = output.getElementType();
  c.activation = op.getActivationAttr();
  c.residualLast = op.getResidualLast();
}

/// Describes the scales and element types of a convolution of int8.
void describeIntegers(ir::Conv2DOp op, Contraction &c) {
  MLIRContext *context = op.getContext();
  c.isInteger = !op.getImage();
  c.requantization = {*op.getStored(), op.getStoredRelu(), double(op.getOffset()),
                      op.getFactor() ? op.getFactor()->convertToDouble() : 0.0};
  c.lhsType = op.getUnsignedInput() ? IntegerType::get(context, 8, IntegerType::Unsigned)
                                    : IntegerType::get(context, 8);
  if (op.getImageScale()) {
    c.lhsType = bufferTypeOf(op.getInput()).getElementType();
    c.imageQuantization = {op.getImageScale()->convertToDouble(), double(op.getPadValue()),
                           !op.getUnsignedInput()};
  }
  if (!op.getBody().empty()) {
    c.addition = additionOf(op.getBody().front());
    c.body = c.addition ? nullptr : &op.getBody().front();
  }
}

/// Describes the result and the residual of a convolution, whose blocks hold `element`. Returns
/// false with the reason in `errorText` where the NPU cannot write or read them.
bool describeOutput(ir::Conv2DOp op, Type element, Contraction &c, std::string &errorText) {
  MemRefType out = bufferTypeOf(op.getOutput());
  auto dense = [](MemRefType type) {
    return type.getDimSize(2) == 1 || byteStrides(type)[2] == type.getDimSize(3) * 32;
  };
  c.output = blockedLayout(op.getOutput());
  c.output.row = byteStrides(out)[2];
  c.denseResult = dense(out);
  if (Value residual = op.getResidual()) {
    if (!isBlocked(bufferTypeOf(residual), element)) {
      errorText = "the residual's channels do not stand in blocks: " + text(residual.getType());
      return false;
    }
    c.residual = blockedLayout(residual);
    c.residual.row = byteStrides(bufferTypeOf(residual))[2];
    c.denseResult &= dense(bufferTypeOf(residual));
  }
  c.outers = out.getDimSize(0);
  c.groups = op.getBlockGroups();
  c.rowUnit = out.getDimSize(3);
  c.rows = out.getDimSize(2) * c.rowUnit;
  c.columns = out.getDimSize(1) * c.lanes();
  if (!isBlocked(out, element)) {
    errorText = "output channels do not stand in blocks: " + text(out);
    return false;
  }
  return true;
}

/// Describes the window of a convolution: sizes in positions.
void describeWindow(ir::Conv2DOp op, Img2ColShape &w) {
  MemRefType out = bufferTypeOf(op.getOutput());
  const SmallVector<int64_t> in = op.inputShape();
  w.kernelH = op.getKernel()[0];
  w.kernelW = op.getKernel()[1];
  w.strideH = op.getStrides()[0];
  w.strideW = op.getStrides()[1];
  w.dilationH = op.getDilations()[0];
  w.dilationW = op.getDilations()[1];
  w.padTop = op.getPads()[0];
  w.padLeft = op.getPads()[1];
  w.height = in[2];
  w.width = in[3];
  w.outHeight = out.getDimSize(2);
  w.outWidth = out.getDimSize(3);
}

/// Describes a convolution that reads the rows of an image. Returns false with the reason in
/// `errorText` for rows that the NPU cannot read.
bool describeImage(ir::Conv2DOp op, Contraction &c, std::string &errorText) {
  MemRefType in = bufferTypeOf(op.getInput());
  Type pixel = in.getElementType();
  Img2ColShape &w = c.window;
  bool isByte = pixel.isUnsignedInteger(8) || (c.scales && pixel.isInteger(8));
  const int64_t step = byteStrides(in)[3];
  const bool isDenseRow = w.width == 1 || step * 8 == in.getElementTypeBitWidth();
  const int64_t plane = byteStrides(in)[1];
  const bool isInterleaved =
      plane * 8 == in.getElementTypeBitWidth() && step == in.getDimSize(1) * plane;
  if (!(pixel.isF32() || pixel.isF16() || isByte) ||
      !(isDenseRow || isInterleaved || op.getPixels())) {
    errorText = "an image must be rows of f32, f16 or ui8: " + text(in);
    return false;
  }
  c.pixels.step = isDenseRow ? 0 : step;
  if (std::optional<ir::PixelsAttr> pixels = op.getPixels()) {
    llvm::append_range(c.pixels.means, pixels->getMeans().asArrayRef());
    llvm::append_range(c.pixels.factors, pixels->getFactors().asArrayRef());
    if (ir::YuvAttr yuv = pixels->getYuv()) {
      ArrayRef<int64_t> crop = yuv.getCrop().asArrayRef();
      const int64_t lumaRows = in.getDimSize(2) / 3 * 2, row = in.getDimSize(3);
      c.colours = {crop[0] * row + crop[1], (lumaRows + crop[0] / 2) * row + crop[1], crop[2] / 2,
                   llvm::to_vector<9>(yuv.getMatrix().asArrayRef()),
                   llvm::to_vector<3>(yuv.getBias().asArrayRef())};
    }
  }
  c.channels = op.inputShape()[1];
  c.img2col = true;
  w.c0 = 4;
  w.pad = halfOf(float(op.getPadValue()));
  w.channels1 = 1;
  return true;
}

/// Describes a convolution that reads channels in blocks of `element`. Returns false with the
/// reason in `errorText` for other layouts.
bool describeBlocks(ir::Conv2DOp op, Type element, Contraction &c, std::string &errorText) {
  MemRefType in = bufferTypeOf(op.getInput());
  Img2ColShape &w = c.window;
  if (!isBlocked(in, element)) {
    errorText = "input channels do not stand in blocks: " + text(in);
    return false;
  }
  if (c.isInteger) {
    w.c0 = 32;
    w.elementBytes = 1;
    w.pad = op.getPadValue() & 255;
  }
  w.channels1 = in.getDimSize(1) / c.groups;
  c.depthUnit = w.kernelH * w.kernelW;
  c.denseImage = w.height == 1 || byteStrides(in)[2] == w.width * 32;
  bool single = w.kernelH == 1 && w.kernelW == 1, unpadded = true;
  for (int64_t pad : op.getPads())
    unpadded &= pad == 0;
  if (single && unpadded && w.strideH > 1) {
    // Only the rows that count are moved.
    c.lhsRow *= w.strideH;
    c.denseImage = false;
    w.height = w.outHeight;
    w.strideH = 1;
  }
  c.img2col = !(single && unpadded && w.strideH == 1 && w.strideW == 1);
  if (!c.img2col && c.denseImage && c.denseResult) {
    // Positions are rows of their own then: chunks may end anywhere.
    w.height = w.outHeight = c.rows;
    w.width = w.outWidth = 1;
    c.rowUnit = 1;
    c.lhsRow = 32;
    c.output.row = c.residual.row = 32;
  }
  c.joinsOuters = c.denseImage && c.denseResult && c.outers > 1;
  return true;
}

} // namespace

Contraction describe(ir::Conv2DOp op, const SocTable &soc, std::string &errorText) {
  Contraction c;
  MemRefType in = bufferTypeOf(op.getInput()), out = bufferTypeOf(op.getOutput());
  auto inStrides = byteStrides(in);
  c.lhsForm = op.getImage() ? LhsForm::Image : LhsForm::Blocks;
  c.lhs = op.getInput();
  c.rhs = op.getFilter();
  describeBoth(op, in, out, c);
  c.slope = op.getSlope();
  c.identity = op.getIdentity();
  MLIRContext *context = op.getContext();
  Type element = Float16Type::get(context);
  if ((c.scales = op.getScales())) {
    element = IntegerType::get(context, 8);
    describeIntegers(op, c);
  } else if (!op.getBody().empty()) {
    c.body = &op.getBody().front();
  }
  if (!describeOutput(op, element, c, errorText))
    return c;
  c.depth = bufferTypeOf(op.getFilter()).getDimSize(1) * 16;
  Type weights = c.isInteger ? element : Float16Type::get(context);
  if (!isDense(bufferTypeOf(op.getFilter())) ||
      bufferTypeOf(op.getFilter()).getElementType() != weights) {
    errorText = "the filter is not contiguous: " + text(op.getFilter().getType());
    return c;
  }
  describeWindow(op, c.window);
  c.lhsOuter = inStrides[0];
  c.lhsBlock = inStrides[1];
  c.lhsRow = inStrides[2];
  c.depthUnit = c.depthBlocks();
  if (!(op.getImage() ? describeImage(op, c, errorText)
                      : describeBlocks(op, element, c, errorText)))
    return c;
  const Img2ColShape &w = c.window;
  for (int64_t size : {w.height, w.width, w.outHeight, w.outWidth, w.kernelH, w.kernelW, w.strideH,
                       w.strideW, w.dilationH, w.dilationW})
    if (c.img2col && size > 65535)
      errorText = "an extent of " + std::to_string(size) + " is above 65535";
  if (errorText.empty())
    errorText = whyUnsupportedEpilogue(c, soc);
  return c;
}

Contraction describe(ir::MatMulOp op, const SocTable &soc, std::string &errorText) {
  Contraction c;
  MemRefType lhs = bufferTypeOf(op.getLhs()), rhs = bufferTypeOf(op.getRhs()),
             out = bufferTypeOf(op.getOutput());
  auto lhsStrides = byteStrides(lhs), rhsStrides = byteStrides(rhs);
  c.lhsForm = LhsForm::Rows;
  c.rhsForm = op.getPacked()         ? RhsForm::Packed
              : op.getTransposeRhs() ? RhsForm::TransposedRows
                                     : RhsForm::Rows;
  c.lhs = op.getLhs();
  c.rhs = op.getRhs();
  describeBoth(op, lhs, out, c);
  c.scale = op.getScale().convertToDouble();
  auto denseRows = [](MemRefType type) {
    return type.getDimSize(3) == 1 || byteStrides(type)[3] * 8 == type.getElementTypeBitWidth();
  };
  for (Value value : {op.getLhs(), op.getRhs(), op.getResidual(), op.getOutput()})
    if (value && !denseRows(bufferTypeOf(value)))
      errorText = "rows are not dense: " + text(value.getType());
  if (!lhs.getElementType().isF16() || !rhs.getElementType().isF16() ||
      !(c.outputType.isF16() || c.outputType.isF32()))
    errorText = "operands must be f16 and the result f16 or f32";
  if (op.getPacked() && !isDense(rhs))
    errorText = "packed weights are not contiguous: " + text(rhs);
  if (!errorText.empty())
    return c;
  // Products along the dim that has more of them are shared by the cores.
  unsigned outer = lhs.getDimSize(0) >= lhs.getDimSize(1) ? 0 : 1, other = 1 - outer;
  auto address = [&](Value value) {
    auto strides = byteStrides(bufferTypeOf(value));
    return ResultLayout{value, strides[outer], strides[other], 32, strides[2]};
  };
  c.output = address(op.getOutput());
  if (op.getResidual())
    c.residual = address(op.getResidual());
  c.outers = lhs.getDimSize(outer);
  c.others = lhs.getDimSize(other);
  c.rows = lhs.getDimSize(2);
  c.columns = out.getDimSize(3);
  c.depth = lhs.getDimSize(3);
  c.lhsOuter = lhsStrides[outer];
  c.lhsOther = lhsStrides[other];
  c.lhsRow = lhsStrides[2];
  if (!op.getPacked()) {
    c.rhsOuter = rhs.getDimSize(outer) == 1 ? 0 : rhsStrides[outer];
    c.rhsOther = rhs.getDimSize(other) == 1 ? 0 : rhsStrides[other];
    c.rhsRow = rhsStrides[2];
  }
  // Products with the same right operand and evenly spaced rows are one.
  for (bool isOther : {false, true, false}) {
    int64_t &count = isOther ? c.others : c.outers;
    int64_t lhsStep = isOther ? c.lhsOther : c.lhsOuter,
            rhsStep = isOther ? c.rhsOther : c.rhsOuter;
    auto joins = [&](const ResultLayout &result) {
      return !result.value || (isOther ? result.other : result.outer) == c.rows * result.row;
    };
    if (count > 1 && rhsStep == 0 && lhsStep == c.rows * c.lhsRow && joins(c.output) &&
        joins(c.residual)) {
      c.rows *= count;
      count = 1;
    }
  }
  if (c.outers == 1)
    std::swap(c.outers, c.others), std::swap(c.lhsOuter, c.lhsOther),
        std::swap(c.rhsOuter, c.rhsOther), std::swap(c.output.outer, c.output.other),
        std::swap(c.residual.outer, c.residual.other);
  errorText = whyUnsupportedEpilogue(c, soc);
  return c;
}

template <typename OpT> static std::string whyUnsupported(OpT op, const SocTable &soc) {
  std::string errorText;
  Contraction contraction = describe(op, soc, errorText);
  if (errorText.empty() && !hasPlan(contraction, soc))
    errorText = "no tile of it fits into the buffers";
  return errorText;
}

std::string whyUnsupportedConv2D(ir::Conv2DOp op, const SocTable &soc) {
  return whyUnsupported(op, soc);
}
std::string whyUnsupportedMatMul(ir::MatMulOp op, const SocTable &soc) {
  return whyUnsupported(op, soc);
}

} // namespace atc::npu
