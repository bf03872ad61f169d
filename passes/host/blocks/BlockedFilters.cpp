//===-- BlockedFilters.cpp - filters of images in blocks of channels ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/blocks/BlockedFilters.h"

#include "dialects/graph/ConstantData.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::host {
namespace {

/// The channels per word, and the output blocks whose weights are side by side:
/// those of kernels/conv/ByteBlocks.h and BlockedByteConv.cpp.
constexpr int64_t wordSize = 4, sideBlocks = 4;
/// The maximum for groups of bytes of `groupsPerBlock`.
constexpr int64_t maxJoined = 8;

/// The integers of a constant of 8 or 32 bits; nothing for other values.
std::optional<SmallVector<int32_t>> integersIn(Value value) {
  ElementsAttr elements = value ? graph::getConstant(value) : ElementsAttr();
  auto type = elements ? dyn_cast<IntegerType>(elements.getElementType()) : IntegerType();
  if (!type || (type.getWidth() != 8 && type.getWidth() != 32))
    return {};
  auto data = graph::ConstantBytes::get(elements);
  if (failed(data))
    return {};
  if (type.getWidth() == 32)
    return llvm::to_vector(data->expandedAs<int32_t>());
  return llvm::map_to_vector(data->expanded(), [&](char byte) {
    return type.isUnsigned() ? int32_t(uint8_t(byte)) : int32_t(int8_t(byte));
  });
}

/// The sizes of a convolution, and those of its packed weights.
struct Shape {
  int64_t outputs, channels, rows,
      columns; ///< channels: per group of the model
  int64_t groups,
      joined = 1; ///< groups of the model; of them, in one packed group

  int64_t taps() const { return rows * columns; }
  int64_t outBlocks() const { return blocksOf(outputs); }

  /// Joins groups until their channels fill blocks. Returns false where that
  /// costs too much.
  bool joinGroups() {
    joined = groupsPerBlock(outputs, channels, groups, maxJoined);
    return joined > 0;
  }
};

std::vector<char> packByteDense(ArrayRef<int8_t> from, const Shape &shape) {
  const int64_t packedGroups = shape.groups / shape.joined, taps = shape.taps();
  const int64_t words = llvm::divideCeil(shape.channels * shape.joined, wordSize);
  const int64_t groupBlocks = shape.outBlocks() / packedGroups, steps = taps * words;
  const int64_t perGroup = shape.outputs / shape.groups;
  std::vector<char> bytes(shape.outBlocks() * steps * blockSize * wordSize);
  for (int64_t o = 0, at = 0; o < shape.outputs; ++o) {
    const int64_t block = o / blockSize, first = block % groupBlocks / sideBlocks * sideBlocks;
    const int64_t side = std::min(sideBlocks, groupBlocks - first);
    char *to = bytes.data() +
               ((block / groupBlocks * groupBlocks + first) * steps * blockSize + o % blockSize) *
                   wordSize;
    for (int64_t i = 0; i < shape.channels; ++i)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t channel = o / perGroup % shape.joined * shape.channels + i;
        const int64_t step =
            (tap * words + channel / wordSize) * side + block % groupBlocks - first;
        to[step * blockSize * wordSize + channel % wordSize] = from[at++];
      }
  }
  return bytes;
}

std::vector<char> packByteDepthwise(ArrayRef<int8_t> from, const Shape &shape) {
  const int64_t words = llvm::divideCeil(shape.columns, wordSize);
  std::vector<char> bytes(shape.outBlocks() * shape.rows * words * blockSize * wordSize);
  for (int64_t o = 0, at = 0; o < shape.outputs; ++o)
    for (int64_t row = 0; row < shape.rows; ++row)
      for (int64_t column = 0; column < shape.columns; ++column)
        bytes[(((o / blockSize * shape.rows + row) * words + column / wordSize) * blockSize +
               o % blockSize) *
                  wordSize +
              column % wordSize] = from[at++];
  return bytes;
}

} // namespace

bool isElementwise(StringRef kernel) {
  return llvm::is_contained({"Clip", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",
                             "Relu", "Sigmoid", "Softplus", "Swish", "Tanh"},
                            kernel);
}

int64_t groupsPerBlock(int64_t outputs, int64_t channels, int64_t groups, int64_t max) {
  for (int64_t joined = 1; joined <= max && joined <= groups; ++joined)
    if (groups % joined == 0 && (joined == groups || (channels * joined % blockSize == 0 &&
                                                      outputs / groups * joined % blockSize == 0)))
      return joined;
  return 0;
}

ElementsAttr joinGroups(ElementsAttr weights, int64_t groups, int64_t joined) {
  if (joined == 1)
    return weights;
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  ArrayRef<float> from = data->expandedAs<float>();
  SmallVector<int64_t> shape(weights.getShapedType().getShape());
  const int64_t outputs = shape[0], perGroup = outputs / groups;
  const int64_t row = ShapedType::getNumElements(shape) / outputs;
  shape[1] *= joined;
  std::vector<char> bytes(ShapedType::getNumElements(shape) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t o = 0; o < outputs; ++o)
    llvm::copy(from.slice(o * row, row), to + (o * joined + o / perGroup % joined) * row);
  return graph::makeConstant(RankedTensorType::get(shape, weights.getShapedType().getElementType()),
                             std::move(bytes), "joined");
}

ElementsAttr packWeights(ElementsAttr weights, int64_t lanes, ArrayRef<int64_t> images) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  ArrayRef<float> from = data->expandedAs<float>();
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t outputs = shape[0], inputs = shape[1], taps = shape[2] * shape[3];
  int64_t inBlocks = 0;
  SmallVector<int64_t> lanesOf; // of each input channel, counted from the first block on
  for (int64_t channels : images) {
    llvm::append_range(lanesOf, llvm::seq(inBlocks * lanes, inBlocks * lanes + channels));
    inBlocks += llvm::divideCeil(channels, lanes);
  }
  assert(int64_t(lanesOf.size()) == inputs && "every channel is in one image");
  const SmallVector<int64_t> dims = {blocksOf(outputs), inBlocks, taps, lanes, blockSize};
  std::vector<char> bytes(ShapedType::getNumElements(dims) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        to[(((o / blockSize * inBlocks + lanesOf[i] / lanes) * taps + tap) * lanes +
            lanesOf[i] % lanes) *
               blockSize +
           o % blockSize] = from[(o * inputs + i) * taps + tap];
  return graph::makeConstant(RankedTensorType::get(dims, weights.getShapedType().getElementType()),
                             std::move(bytes), "blocked");
}

ElementsAttr packDepthwise(ElementsAttr weights) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  ArrayRef<float> from = data->expandedAs<float>();
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t channels = shape[0], taps = shape[2] * shape[3];
  const SmallVector<int64_t> dims = {blocksOf(channels), taps, blockSize};
  std::vector<char> bytes(ShapedType::getNumElements(dims) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      to[(c / blockSize * taps + tap) * blockSize + c % blockSize] = from[c * taps + tap];
  return graph::makeConstant(RankedTensorType::get(dims, weights.getShapedType().getElementType()),
                             std::move(bytes), "blocked");
}

ByteFilters packByteFilters(graph::HostCallOp call, int64_t groups) {
  const SmallVector<Value> inputs = inputsOf(call, 9);
  auto type = inputs[3] ? dyn_cast<RankedTensorType>(inputs[3].getType()) : RankedTensorType();
  if (!type || type.getRank() != 4 || type.getNumElements() == 0 || groups < 1 ||
      !type.getElementType().isInteger(8))
    return {};
  Shape shape{type.getDimSize(0), type.getDimSize(1), type.getDimSize(2), type.getDimSize(3),
              groups};
  ByteFilters made;
  made.isDepthwise = groups > 1 && shape.channels == 1 && shape.outputs == groups;
  if (shape.outputs % groups || (!made.isDepthwise && !shape.joinGroups()))
    return {};
  made.groups = made.isDepthwise ? 1 : groups / shape.joined;
  const auto weights = integersIn(inputs[3]), zeroX = integersIn(inputs[2]),
             zeroW = integersIn(inputs[5]), zeroY = integersIn(inputs[7]);
  const auto scaleX = inputs[1] ? graph::getVectorConstant(inputs[1]) : std::nullopt,
             scaleW = inputs[4] ? graph::getVectorConstant(inputs[4]) : std::nullopt,
             scaleY = inputs[6] ? graph::getVectorConstant(inputs[6]) : std::nullopt;
  const auto bias = inputs[8] ? integersIn(inputs[8]) : std::nullopt;
  const size_t outputs = shape.outputs;
  auto isPerChannel = [&](size_t count) { return count == 1 || count == outputs; };
  if (!weights || !zeroX || zeroX->size() != 1 || !zeroW || !isPerChannel(zeroW->size()) ||
      !zeroY || zeroY->size() != 1 || !scaleX || scaleX->size() != 1 || !scaleW ||
      !isPerChannel(scaleW->size()) || !scaleY || scaleY->size() != 1 ||
      (inputs[8] && (!bias || bias->size() != outputs)))
    return {};
  const int32_t zero = type.getElementType().isUnsignedInteger() ? 128 : 0;
  if (llvm::any_of(*zeroW, [&](int32_t each) { return each != zero; }))
    return {};
  const SmallVector<int8_t> filters =
      llvm::map_to_vector(*weights, [&](int32_t weight) { return int8_t(weight - zero); });
  // The kernel reads signed data plus 128.
  const bool isUnsigned = getElementTypeOrSelf(inputs[2].getType()).isUnsignedInteger();
  const auto dataZero = uint32_t(zeroX->front() + (isUnsigned ? 0 : 128));
  const int64_t perOutput = shape.channels * shape.taps(), padded = shape.outBlocks() * blockSize;
  std::vector<int32_t> biases(padded);
  std::vector<float> factors(padded);
  for (int64_t o = 0; o < shape.outputs; ++o) {
    uint32_t sum = 0;
    for (int8_t weight : ArrayRef(filters).slice(o * perOutput, perOutput))
      sum += uint32_t(int32_t(weight));
    biases[o] = int32_t((bias ? uint32_t((*bias)[o]) : 0) - dataZero * sum);
    factors[o] = float(scaleX->front() * (*scaleW)[scaleW->size() == 1 ? 0 : o] / scaleY->front());
  }
  Builder builder(call.getContext());
  SmallVector<int64_t> dims;
  if (made.isDepthwise)
    dims = {shape.outBlocks(), shape.rows, int64_t(llvm::divideCeil(shape.columns, wordSize))};
  else
    dims = {shape.outBlocks(), shape.taps(),
            int64_t(llvm::divideCeil(shape.channels * shape.joined, wordSize))};
  dims.append({blockSize, wordSize});
  made.weights = graph::makeConstant(RankedTensorType::get(dims, builder.getIntegerType(8)),
                                     made.isDepthwise ? packByteDepthwise(filters, shape)
                                                      : packByteDense(filters, shape),
                                     "blocked");
  made.bias = graph::makeConstant(RankedTensorType::get({padded}, builder.getI32Type()),
                                  ArrayRef(biases), "blocked");
  made.factors = graph::makeConstant(RankedTensorType::get({padded}, builder.getF32Type()),
                                     ArrayRef(factors), "blocked");
  return made;
}

} // namespace atc::host
