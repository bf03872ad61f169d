//===-- PackNpuWeights.cpp - constants in the form the cube reads ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/contraction/PackNpuWeights.h"

#include "dialects/graph/ConstantData.h"
#include "runtime-lite/abi/SmallFloats.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using atc::graph::ConstantBytes;

namespace atc::npu {

namespace {

/// A zeroed constant that is being written.
template <typename T> class Packed {
public:
  Packed(ArrayRef<int64_t> shape, Type element)
      : type(RankedTensorType::get(shape, element)), bytes(type.getNumElements() * sizeof(T)) {}

  T *data() { return reinterpret_cast<T *>(bytes.data()); }
  ElementsAttr take() { return graph::makeConstant(type, std::move(bytes), "packed"); }

private:
  RankedTensorType type;
  std::vector<char> bytes;
};

FailureOr<ConstantBytes> halvesOf(ElementsAttr attribute) {
  FailureOr<ConstantBytes> bytes = ConstantBytes::get(attribute);
  if (failed(bytes) || !bytes->getType().getElementType().isF16())
    return failure();
  return bytes;
}

} // namespace

int64_t ChannelGroups::inputBlocks() const { return llvm::divideCeil(inputs, block); }
int64_t ChannelGroups::outputBlocks() const { return llvm::divideCeil(outputs, block); }

int64_t ChannelGroups::blockGroups() const {
  int64_t groupInputs = inputs / groups, groupOutputs = outputs / groups;
  auto divides = [&](int64_t parts) {
    if (inputBlocks() % parts || outputBlocks() % parts)
      return false;
    int64_t partInputs = inputBlocks() / parts * block,
            partOutputs = outputBlocks() / parts * block;
    for (int64_t group = 0; group < groups; ++group) {
      int64_t firstInput = group * groupInputs, firstOutput = group * groupOutputs;
      int64_t part = firstInput / partInputs;
      if ((firstInput + groupInputs - 1) / partInputs != part ||
          firstOutput / partOutputs != part ||
          (firstOutput + groupOutputs - 1) / partOutputs != part)
        return false;
    }
    return true;
  };
  int64_t parts = groups == 1 ? 1 : std::min(inputBlocks(), outputBlocks());
  while (parts > 1 && !divides(parts))
    --parts;
  return parts;
}

FailureOr<ElementsAttr> packConvFilter(ElementsAttr filter, const ChannelGroups &channels,
                                       int64_t blockGroups) {
  FailureOr<ConstantBytes> source = halvesOf(filter);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = source->getType().getShape();
  int64_t outputs = shape[0], groupInputs = shape[1], taps = shape[2] * shape[3];
  int64_t groupOutputs = outputs / channels.groups;
  int64_t partInputs = channels.inputBlocks() / blockGroups,
          partOutputs = channels.outputBlocks() / blockGroups;
  Packed<uint16_t> packed({blockGroups, partInputs * taps, partOutputs, kFractal, kFractal},
                          source->getType().getElementType());
  const uint16_t *from = source->expandedAs<uint16_t>().data();
  uint16_t *to = packed.data();
  for (int64_t output = 0; output < outputs; ++output) {
    int64_t firstInput = output / groupOutputs * groupInputs;
    int64_t block = output / kFractal, part = block / partOutputs, n1 = block % partOutputs;
    for (int64_t input = firstInput; input < firstInput + groupInputs; ++input) {
      int64_t c1 = input / kFractal - part * partInputs;
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t k1 = (part * partInputs + c1) * taps + tap;
        to[((k1 * partOutputs + n1) * kFractal + output % kFractal) * kFractal + input % kFractal] =
            *from++;
      }
    }
  }
  return packed.take();
}

FailureOr<ElementsAttr> packImageFilter(ElementsAttr filter, ArrayRef<int64_t> order) {
  constexpr int64_t tapChannels = 4;
  FailureOr<ConstantBytes> source = halvesOf(filter);
  if (failed(source) || source->getType().getDimSize(1) > tapChannels)
    return failure();
  ArrayRef<int64_t> shape = source->getType().getShape();
  int64_t outputs = shape[0], inputs = shape[1], taps = shape[2] * shape[3];
  int64_t depth = llvm::divideCeil(taps * tapChannels, kFractal),
          blocks = llvm::divideCeil(outputs, kFractal);
  Packed<uint16_t> packed({1, depth, blocks, kFractal, kFractal},
                          source->getType().getElementType());
  const uint16_t *from = source->expandedAs<uint16_t>().data();
  uint16_t *to = packed.data();
  for (int64_t output = 0; output < outputs; ++output)
    for (int64_t input = 0; input < inputs; ++input)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t k = tap * tapChannels + (order.empty() ? input : order[input]);
        to[((k / kFractal * blocks + output / kFractal) * kFractal + output % kFractal) * kFractal +
           k % kFractal] = *from++;
      }
  return packed.take();
}

FailureOr<ElementsAttr> packCubeMatrix(ElementsAttr matrix, bool transposed) {
  FailureOr<ConstantBytes> source = halvesOf(matrix);
  if (failed(source))
    return failure();
  ArrayRef<int64_t> shape = source->getType().getShape();
  int64_t depth = transposed ? shape[1] : shape[0], columns = transposed ? shape[0] : shape[1];
  int64_t depthStride = transposed ? 1 : columns, columnStride = transposed ? depth : 1;
  int64_t depthBlocks = llvm::divideCeil(depth, kFractal),
          columnBlocks = llvm::divideCeil(columns, kFractal);
  Packed<uint16_t> packed({depthBlocks, columnBlocks, kFractal, kFractal},
                          source->getType().getElementType());
  const uint16_t *from = source->expandedAs<uint16_t>().data();
  uint16_t *to = packed.data();
  for (int64_t first = 0; first < depth; first += kFractal)
    for (int64_t column = 0; column < columnBlocks * kFractal; ++column, to += kFractal) {
      if (column >= columns)
        continue;
      int64_t count = std::min(kFractal, depth - first);
      for (int64_t k = 0; k < count; ++k)
        to[k] = from[(first + k) * depthStride + column * columnStride];
    }
  return packed.take();
}

//===----------------------------------------------------------------------===//
// f16
//===----------------------------------------------------------------------===//

uint16_t halfOf(float value) {
  constexpr float largest = 65504.0f;
  if (std::isfinite(value))
    value = std::min(std::max(value, -largest), largest);
  return floatToHalf(value);
}

FailureOr<ElementsAttr> padChannels(ElementsAttr vector, int64_t size, Type element) {
  FailureOr<ConstantBytes> source = ConstantBytes::get(vector);
  if (failed(source))
    return failure();
  Type from = source->getType().getElementType();
  int64_t length = source->getType().getNumElements();
  if (!(from.isF16() || from.isF32()) || !(element.isF16() || element.isF32()) || length > size)
    return failure();
  auto at = [&](int64_t i) {
    return from.isF32() ? source->expandedAs<float>()[i]
                        : halfToFloat(source->expandedAs<uint16_t>()[i]);
  };
  if (element.isF32()) {
    Packed<float> packed(size, element);
    for (int64_t i = 0; i < length; ++i)
      packed.data()[i] = at(i);
    return packed.take();
  }
  Packed<uint16_t> packed(size, element);
  for (int64_t i = 0; i < length; ++i)
    packed.data()[i] = halfOf(at(i));
  return packed.take();
}

FailureOr<ElementsAttr> narrow(ElementsAttr constant, bool clip) {
  FailureOr<ConstantBytes> source = ConstantBytes::get(constant);
  if (failed(source) || !source->getType().getElementType().isF32())
    return failure();
  auto type = cast<RankedTensorType>(constant.getShapedType());
  Type f16 = Float16Type::get(constant.getContext());
  auto convert = [&](float value) { return clip ? halfOf(value) : floatToHalf(value); };
  if (source->isSplat()) {
    auto narrowType = RankedTensorType::get(type.getShape(), f16, type.getEncoding());
    APFloat value(APFloat::IEEEhalf(), APInt(16, convert(source->as<float>().front())));
    return ElementsAttr(DenseElementsAttr::get(narrowType, value));
  }
  std::vector<char> bytes(type.getNumElements() * sizeof(uint16_t));
  auto *to = reinterpret_cast<uint16_t *>(bytes.data());
  for (float value : source->expandedAs<float>())
    *to++ = convert(value);
  return graph::makeConstant(RankedTensorType::get(type.getShape(), f16, type.getEncoding()),
                             std::move(bytes), "f16");
}

} // namespace atc::npu
