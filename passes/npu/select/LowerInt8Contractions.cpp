//===-- LowerInt8Contractions.cpp - int8 contractions on the cube ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/npu/Npu.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/kernel/pack/PackIntegers.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/select/Int8Contractions.h"

using namespace mlir;
using atc::kernel::GraphLowering;
using atc::kernel::IntegerWeights;
using atc::kernel::kCubeByteBlock;
using atc::kernel::Storage;
using atc::kernel::tensorType;

namespace atc::npu {

namespace {

/// The weights and bias of one op; the bias is for products with the bytes as they are stored.
struct Sums {
  IntegerWeights weights;
  std::vector<int32_t> bias;
  int64_t outputs() const { return llvm::alignTo(weights.outputs, kCubeByteBlock); }
};

template <typename OpT> std::optional<Sums> readSums(OpT op) {
  Sums sums;
  std::optional<IntegerWeights> weights =
      IntegerWeights::read(op.getFilter(), op.getFilterZeroPoints());
  std::vector<int32_t> bias;
  if (op.getBias()) {
    std::optional<std::vector<int32_t>> numbers = kernel::readNumbers<int32_t>(op.getBias());
    if (!numbers)
      return std::nullopt;
    bias = std::move(*numbers);
  }
  if (!weights)
    return std::nullopt;
  sums.weights = std::move(*weights);
  sums.bias = kernel::sumBias(bias, sums.weights.sums(op.getZeroPoint(), sums.outputs()));
  return sums;
}

/// Packs [outputs][inputs / groups][taps] to [G][C1 / G * taps][N1 / G][16 n][32 k], zero where the
/// groups of the convolution do not meet; `blockGroups` is G.
ElementsAttr packBytes(const Sums &sums, const ChannelGroups &channels, int64_t blockGroups,
                       int64_t taps, MLIRContext *context) {
  const int64_t partInputs = channels.inputBlocks() / blockGroups,
                partOutputs = sums.outputs() / kFractal / blockGroups,
                groupInputs = channels.inputs / channels.groups,
                groupOutputs = channels.outputs / channels.groups;
  auto type =
      RankedTensorType::get({blockGroups, partInputs * taps, partOutputs, kFractal, kCubeByteBlock},
                            IntegerType::get(context, 8));
  std::vector<char> packed(type.getNumElements(), 0);
  for (int64_t output = 0; output < channels.outputs; ++output) {
    const int16_t *row = sums.weights.row(output);
    const int64_t column = output / kFractal, part = column / partOutputs;
    for (int64_t i = 0; i < groupInputs; ++i) {
      const int64_t input = output / groupOutputs * groupInputs + i;
      for (int64_t tap = 0; tap < taps; ++tap) {
        // All parts have as many blocks, so that those of the depth are numbered through.
        const int64_t k1 = input / kCubeByteBlock * taps + tap;
        packed[((k1 * partOutputs + column - part * partOutputs) * kFractal + output % kFractal) *
                   kCubeByteBlock +
               input % kCubeByteBlock] = char(row[i * taps + tap]);
      }
    }
  }
  return graph::makeConstant(type, std::move(packed), "packed");
}

/// Packs [outputs][inputs / groups][taps] to [1][K1][N1][16 n][16 k], 4 channels per tap, in f16.
ElementsAttr packImage(const Sums &sums, const ChannelGroups &channels, int64_t taps,
                       MLIRContext *context) {
  const int64_t groupInputs = channels.inputs / channels.groups,
                groupOutputs = channels.outputs / channels.groups;
  int64_t depth = llvm::divideCeil(taps * 4, kFractal), columns = sums.outputs() / kFractal;
  auto type =
      RankedTensorType::get({1, depth, columns, kFractal, kFractal}, Float16Type::get(context));
  std::vector<char> bytes(type.getNumElements() * 2, 0);
  auto *packed = reinterpret_cast<uint16_t *>(bytes.data());
  for (int64_t output = 0; output < sums.weights.outputs; ++output)
    for (int64_t i = 0; i < groupInputs; ++i)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t k = tap * 4 + output / groupOutputs * groupInputs + i;
        packed[((k / kFractal * columns + output / kFractal) * kFractal + output % kFractal) *
                   kFractal +
               k % kFractal] = halfOf(float(sums.weights.row(output)[i * taps + tap]));
      }
  return graph::makeConstant(type, std::move(bytes), "packed");
}

ElementsAttr biasOf(const Sums &sums, bool isImage, MLIRContext *context) {
  if (!isImage)
    return graph::makeConstant(RankedTensorType::get(sums.outputs(), IntegerType::get(context, 32)),
                               ArrayRef<int32_t>(sums.bias), "bias");
  std::vector<float> floats(sums.bias.begin(), sums.bias.end());
  return graph::makeConstant(RankedTensorType::get(sums.outputs(), Float32Type::get(context)),
                             ArrayRef<float>(floats), "bias");
}

/// Returns one factor per channel, zero past the last one.
template <typename OpT>
FailureOr<ElementsAttr> scalesOf(OpT op, const SumEpilogue &epilogue, const Sums &sums) {
  std::vector<float> numbers{float(epilogue.scale)};
  if (epilogue.scales) {
    std::optional<std::vector<float>> known =
        kernel::readNumbers<float>(op.getInputs()[*epilogue.scales]);
    if (!known)
      return failure();
    numbers = std::move(*known);
  }
  if (numbers.size() == 1)
    numbers.resize(sums.weights.outputs, numbers.front());
  numbers.resize(sums.outputs(), 0.0f);
  auto type = RankedTensorType::get(sums.outputs(), Float32Type::get(op.getContext()));
  return graph::makeConstant(type, ArrayRef<float>(numbers), "scales");
}

/// Rows of bytes as images of one pixel, channels in whole blocks.
Storage pixelsOf(GraphLowering &lowering, const Storage &rows) {
  int64_t count = rows.shape[0], channels = rows.shape[1],
          whole = llvm::alignTo(channels, kCubeByteBlock);
  Storage source = rows;
  if (whole != channels) {
    source = lowering.temporary({count, whole}, rows.element);
    lowering.fill(source, 0.0);
    lowering.copy(rows, source.slice(1, 0, channels));
  } else if (!rows.isContiguous()) {
    source = lowering.contiguous(rows);
  }
  return *source.reshaped({count, whole / kCubeByteBlock, 1, 1, kCubeByteBlock});
}

/// Writes a convolution from `input` to `output`, for both ops.
template <typename OpT> class SumLowering {
public:
  SumLowering(GraphLowering &lowering, OpT op) : lowering(lowering), op(op) {}

  bool read() {
    epilogue = sumEpilogueOf(op);
    if (std::optional<Sums> known = readSums(op); known && epilogue)
      sums = std::move(*known);
    else
      return false;
    return true;
  }

  LogicalResult convolve(Value result, const Storage &input, const Storage &output,
                         std::optional<Storage> residual, bool isImage,
                         const ChannelGroups &channels, ArrayRef<int64_t> kernel,
                         ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                         ArrayRef<int64_t> pads) {
    OpBuilder &builder = lowering.builder;
    MLIRContext *context = op.getContext();
    int64_t taps = kernel[0] * kernel[1];
    FailureOr<ElementsAttr> scales = scalesOf(op, *epilogue, sums);
    if (failed(scales))
      return failure();
    const int64_t blockGroups = isImage ? 1 : channels.blockGroups();
    ElementsAttr filter = isImage ? packImage(sums, channels, taps, context)
                                  : packBytes(sums, channels, blockGroups, taps, context);
    bool isUnsigned = tensorType(op.getInput()).getElementType().isUnsignedInteger();
    ArrayRef<int64_t> filterShape = tensorType(op.getFilter()).getShape();
    int64_t macs = tensorType(op.getResult()).getNumElements() *
                   ShapedType::getNumElements(filterShape.drop_front());
    FloatAttr factor = epilogue->rest ? builder.getF64FloatAttr(epilogue->first.factor) : nullptr;
    auto conv = lowering.kernel<ir::Conv2DOp>(
        result, output, lowering.buffer(input), lowering.weight(filter),
        lowering.weight(biasOf(sums, isImage, context)),
        residual ? lowering.buffer(*residual) : Value(), Value(), lowering.weight(*scales),
        /*identity=*/Value(), lowering.buffer(output), kernel, strides, dilations, pads,
        blockGroups, isImage, macs, graph::ActivationAttr(), /*residual_last=*/false,
        TypeAttr::get(epilogue->first.stored), epilogue->first.relu,
        int64_t(epilogue->first.offset), factor, isUnsigned, op.getZeroPoint(),
        /*image_scale=*/FloatAttr(), ir::PixelsAttr(), ir::TileAttr());
    if (epilogue->rest)
      conv.getBody().push_back(epilogue->rest.release());
    return success();
  }

  GraphLowering &lowering;
  OpT op;
  std::optional<SumEpilogue> epilogue;
  Sums sums;
};

LogicalResult lowerConv(GraphLowering &lowering, graph::IntegerConvOp op) {
  SumLowering<graph::IntegerConvOp> sums(lowering, op);
  if (!sums.read())
    return failure();
  bool isImage = op->getAttrOfType<StringAttr>(kernel::kCubeSumsAttr).getValue() == "image";
  auto dense = [&](Value value) {
    Storage source = lowering.storageOf(value);
    int64_t step = isImage && value == op.getInput() ? 1 : kCubeByteBlock;
    return source.shape[3] == 1 || source.strides[3] == step ? source : lowering.contiguous(source);
  };
  std::optional<Storage> residual;
  if (sums.epilogue->residual)
    residual = dense(op.getInputs()[*sums.epilogue->residual]);
  return sums.convolve(op.getResult(), dense(op.getInput()), lowering.storageOf(op.getResult()),
                       residual, isImage, byteChannelsOf(op),
                       tensorType(op.getFilter()).getShape().drop_front(2), op.getStrides(),
                       op.getDilations(), op.getPads());
}

LogicalResult lowerProduct(GraphLowering &lowering, graph::IntegerFullyConnectedOp op) {
  SumLowering<graph::IntegerFullyConnectedOp> sums(lowering, op);
  if (!sums.read())
    return failure();
  int64_t depth = sums.sums.weights.columns, columns = sums.sums.weights.outputs;
  int64_t rows = tensorType(op.getInput()).getNumElements() / depth, whole = sums.sums.outputs();
  auto matrix = [&](Value value, int64_t width) {
    return lowering.reshaped(lowering.storageOf(value), {rows, width});
  };
  std::optional<Storage> residual;
  if (sums.epilogue->residual)
    residual = pixelsOf(lowering, matrix(op.getInputs()[*sums.epilogue->residual], columns));
  Storage result = *lowering.storageOf(op.getResult()).reshaped({rows, columns});
  bool isPart = whole != columns;
  Storage output = isPart ? lowering.temporary({rows, whole}, result.element) : result;
  if (failed(sums.convolve(
          isPart ? Value() : op.getResult(), pixelsOf(lowering, matrix(op.getInput(), depth)),
          *output.reshaped({rows, whole / kCubeByteBlock, 1, 1, kCubeByteBlock}), residual,
          /*isImage=*/false, {1, depth, columns, kCubeByteBlock}, {1, 1}, {1, 1}, {1, 1},
          {0, 0, 0, 0})))
    return failure();
  if (isPart)
    lowering.copy(output.slice(1, 0, columns), result);
  return success();
}

} // namespace

ChannelGroups byteChannelsOf(graph::IntegerConvOp op) {
  return {int64_t(op.getGroups()), tensorType(op.getInput()).getDimSize(1),
          op.getType().getDimSize(1), kCubeByteBlock};
}

bool sumsAreExactInFloats(graph::IntegerConvOp op) {
  std::optional<Sums> sums = readSums(op);
  if (!sums || tensorType(op.getInput()).getDimSize(1) > 4)
    return false;
  for (int64_t output = 0; output < sums->weights.outputs; ++output) {
    int64_t max = std::abs(int64_t(sums->bias[output]));
    for (int64_t column = 0; column < sums->weights.columns; ++column)
      max += 255 * std::abs(int64_t(sums->weights.row(output)[column]));
    if (max >= 1 << 24)
      return false;
  }
  return true;
}

LogicalResult lowerCubeSums(GraphLowering &lowering, Operation *op) {
  if (auto conv = dyn_cast<graph::IntegerConvOp>(op))
    return lowerConv(lowering, conv);
  return lowerProduct(lowering, cast<graph::IntegerFullyConnectedOp>(op));
}

} // namespace atc::npu
