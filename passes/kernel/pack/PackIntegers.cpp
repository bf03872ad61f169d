//===-- PackIntegers.cpp - weights of 8-bit integers for the kernels ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/pack/PackIntegers.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/interpreter/Tensor.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/kernel/pack/OutputBlock.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace atc::kernel {

/// The constant as the graph has it: signs count here.
static ElementsAttr rawConstant(Value value) {
  Operation *producer = value.getDefiningOp();
  while (isa_and_nonnull<graph::ReshapeOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<graph::ConstantOp>(producer);
  return constant ? constant.getValue() : ElementsAttr();
}

template <typename T> std::optional<std::vector<T>> readNumbers(Value value) {
  ElementsAttr constant = rawConstant(value);
  if (!constant)
    return std::nullopt;
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return std::nullopt;
  return std::vector<T>(bytes->expandedAs<T>().begin(), bytes->expandedAs<T>().end());
}
template std::optional<std::vector<int32_t>> readNumbers(Value);
template std::optional<std::vector<float>> readNumbers(Value);

std::optional<IntegerWeights> IntegerWeights::read(Value filter, ArrayRef<int64_t> zeroPoints) {
  ElementsAttr constant = rawConstant(filter);
  if (!constant)
    return std::nullopt;
  FailureOr<graph::Tensor> tensor = graph::Tensor::fromAttribute(constant);
  if (failed(tensor) || !tensor->getElementType().isInteger(8))
    return std::nullopt;
  IntegerWeights weights;
  weights.outputs = tensor->getShape()[0];
  weights.columns = tensor->getNumElements() / std::max<int64_t>(weights.outputs, 1);
  weights.values.resize(tensor->getNumElements());
  bool isUnsigned = tensor->getElementType().isUnsignedInteger();
  ArrayRef<char> bytes = tensor->bytes();
  for (int64_t output = 0, i = 0; output < weights.outputs; ++output) {
    int64_t zero = zeroPoints.empty() ? 0 : zeroPoints[output];
    for (int64_t column = 0; column < weights.columns; ++column, ++i)
      weights.values[i] =
          (isUnsigned ? static_cast<uint8_t>(bytes[i]) : static_cast<int8_t>(bytes[i])) - zero;
  }
  return weights;
}

int64_t IntegerWeights::largestSum(bool isSigned) const {
  const int64_t lowest = isSigned ? -128 : 0, highest = lowest + 255;
  int64_t largest = 0;
  for (int64_t output = 0; output < outputs; ++output) {
    // Weights of different signs reach their largest products for different bytes.
    int64_t positive = 0, negative = 0;
    for (int64_t column = 0; column < columns; ++column)
      (row(output)[column] < 0 ? negative : positive) += row(output)[column];
    largest = std::max({largest, highest * positive + lowest * negative,
                        -(lowest * positive + highest * negative)});
  }
  return largest;
}

std::vector<int64_t> IntegerWeights::sums(int64_t factor, int64_t size) const {
  std::vector<int64_t> all(size, 0);
  for (int64_t output = 0; output < outputs; ++output)
    all[output] = factor * std::accumulate(row(output), row(output) + columns, int64_t(0));
  return all;
}

ElementsAttr packWinograd(const IntegerWeights &weights, cpu::Winograd form, MLIRContext *context) {
  int64_t blocks = llvm::divideCeil(weights.outputs, kOutputBlock), channels = weights.columns / 9;
  int64_t points = form.points(), side = form.side();
  ArrayRef<std::array<int, 3>> rows = form.weights();
  std::vector<int16_t> packed(blocks * points * channels * kOutputBlock, 0);
  for (int64_t output = 0; output < weights.outputs; ++output)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int16_t *window = weights.row(output) + channel * 9;
      for (int64_t point = 0; point < points; ++point) {
        int sum = 0;
        for (int64_t tap = 0; tap < 9; ++tap)
          sum += rows[point / side][tap / 3] * rows[point % side][tap % 3] * window[tap];
        int64_t pair = (output / kOutputBlock * points + point) * (channels / 2) + channel / 2;
        packed[(pair * kOutputBlock + output % kOutputBlock) * 2 + channel % 2] =
            static_cast<int16_t>(sum);
      }
    }
  auto type = RankedTensorType::get({blocks, points, channels / 2, kOutputBlock, 2},
                                    IntegerType::get(context, 16));
  return graph::makeConstant(type, ArrayRef<int16_t>(packed), "winograd");
}

std::vector<int32_t> sumBias(ArrayRef<int32_t> bias, ArrayRef<int64_t> excess) {
  std::vector<int32_t> sums;
  for (auto [i, more] : llvm::enumerate(excess)) {
    int64_t first = i < bias.size() ? bias[i] : 0;
    sums.push_back(static_cast<int32_t>(static_cast<uint32_t>(first - more)));
  }
  return sums;
}

ElementsAttr packIntegerDepthwise(const IntegerWeights &weights, int64_t height, int64_t width,
                                  MLIRContext *context) {
  int64_t blocks = llvm::divideCeil(weights.outputs, kOutputBlock), taps = height * width;
  std::vector<int16_t> packed(blocks * taps * kOutputBlock, 0);
  for (int64_t channel = 0; channel < weights.outputs; ++channel)
    for (int64_t tap = 0; tap < taps; ++tap)
      packed[(channel / kOutputBlock * taps + tap) * kOutputBlock + channel % kOutputBlock] =
          weights.row(channel)[tap];
  auto type =
      RankedTensorType::get({blocks, height, width, kOutputBlock}, IntegerType::get(context, 16));
  return graph::makeConstant(type, ArrayRef<int16_t>(packed), "packed");
}

} // namespace atc::kernel
