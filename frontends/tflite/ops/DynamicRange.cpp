//===-- DynamicRange.cpp - products of weights in bytes with real values --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/ops/DynamicRange.h"

namespace atc::tflite {
namespace {

/// Returns the function that is fused into an operator.
fb::Activation fusedActivation(const fb::Operator &op, fb::BuiltinOperator code) {
  using enum fb::BuiltinOperator;
  auto of = [](const auto *options) {
    return options ? options->activation() : fb::Activation::NONE;
  };
  switch (code) {
  case ADD:
    return of(op.builtin_options_as_AddOptions());
  case CONV_2D:
    return of(op.builtin_options_as_Conv2DOptions());
  case DEPTHWISE_CONV_2D:
    return of(op.builtin_options_as_DepthwiseConv2DOptions());
  case FULLY_CONNECTED:
    return of(op.builtin_options_as_FullyConnectedOptions());
  case MUL:
    return of(op.builtin_options_as_MulOptions());
  default:
    return fb::Activation::NONE;
  }
}

/// Reports whether no element of a tensor is negative, judged by the operators that make it.
bool isNotNegative(const OpContext &c, int32_t tensor) {
  using enum fb::BuiltinOperator;
  // What only moves elements or averages them, one behind the other.
  constexpr int kMaxSteps = 8;
  for (int step = 0; step < kMaxSteps; ++step) {
    const fb::Operator *op = c.graph.producers.lookup(tensor);
    if (!op)
      return false;
    const fb::BuiltinOperator code = c.model.reader.code(*op);
    switch (code) {
    case ABS:
    case LOGISTIC:
    case RELU:
    case RELU6:
    case RELU_0_TO_1:
    case SOFTMAX:
      return true;
    case AVERAGE_POOL_2D:
    case MAX_POOL_2D:
    case MEAN:
    case PAD:
    case RESHAPE:
    case TRANSPOSE:
      if (!op->inputs() || op->inputs()->size() == 0)
        return false;
      tensor = op->inputs()->Get(0);
      continue;
    default:
      const fb::Activation fused = fusedActivation(*op, code);
      return fused == fb::Activation::RELU || fused == fb::Activation::RELU6;
    }
  }
  return false;
}

/// Bytes that stand for real values by scales that are computed at run time.
struct Bytes {
  Value values;
  Value range; ///< what `levels` stands for: one value for each index of the first dim
  float levels;
  Value zeroPoint;
};

/// Rounds `x`, the values of input 0 in some order, to bytes of the range that its elements have
/// for each index of the first dim. Bytes of values that are never negative are those without
/// sign; others are symmetric, so that zeros around an image are bytes 0 in either case.
Bytes roundToBytes(OpContext &c, Value x, int64_t rank) {
  const bool isUnsigned = isNotNegative(c, c.proto.inputs()->Get(0));
  Bytes result;
  result.levels = isUnsigned ? 255 : 127;
  const int type = isUnsigned ? onnx::TensorProto::UINT8 : onnx::TensorProto::INT8;
  result.zeroPoint = c.constant(type, {}, llvm::StringRef("\0", 1));
  // Zeros alone have the bytes 0 with any scale.
  constexpr float kMinRange = 1e-30F;
  Value largest = isUnsigned ? x : c.node("Abs", {x});
  // The pixels first, in whatever order the channels are stored.
  const OnnxAttributes keep = {{"keepdims", int64_t(1)}};
  if (rank == 4)
    largest = c.node("ReduceMax", {largest, c.ints({2, 3})}, keep);
  largest = c.node("ReduceMax", {largest, c.ints({1})}, keep);
  result.range = c.node("Max", {largest, c.scalar(kMinRange)});
  Value inverse = c.node("Div", {c.scalar(result.levels), result.range});
  result.values =
      c.node("QuantizeLinear", {c.node("Mul", {x, inverse}), c.scalar(1), result.zeroPoint});
  return result;
}

/// Returns the real values of sums of products of bytes, plus the bias. `dims` brings a value for
/// each output to their shape.
Value toReal(OpContext &c, Value sums, const Bytes &bytes, const Dims &dims) {
  const auto &scales = *c.inputTensor(1).quantization()->scale();
  std::vector<float> factors;
  for (const float scale : scales)
    factors.push_back(scale / bytes.levels);
  Value factor =
      scales.size() == 1 ? c.scalar(factors.front()) : c.reshape(c.floats(factors), dims);
  Value real = c.node("Mul", {c.cast(sums, onnx::TensorProto::FLOAT), bytes.range});
  real = c.node("Mul", {real, factor});
  if (!c.hasInput(2))
    return real;
  // One value would broadcast.
  const int64_t outputs = c.dims(1)[0];
  int64_t count = 1;
  for (const int64_t dim : c.dims(2))
    count *= dim;
  if (count != outputs)
    c.fail("its bias has " + llvm::Twine(count) + " values, expected " + llvm::Twine(outputs));
  return c.node("Add", {real, c.reshape(c.bias(2), dims)});
}

} // namespace

bool hasDynamicRange(OpContext &c) {
  if (!c.model.roundsToBytes || c.inputTensor(0).type() != fb::TensorType::FLOAT32)
    return false;
  const fb::Tensor &filter = c.inputTensor(1);
  if (filter.type() != fb::TensorType::INT8 || !isQuantized(filter) ||
      c.model.reader.data(filter).empty())
    return false;
  const fb::QuantizationParameters &quantization = *filter.quantization();
  const auto *zeros = quantization.zero_point();
  if (zeros && llvm::any_of(*zeros, [](int64_t zero) { return zero != 0; }))
    return false;
  // Outputs are the first dim of filters that have one scale for each of them.
  return quantization.scale()->size() == 1 || quantization.quantized_dimension() == 0;
}

Value convolveBytes(OpContext &c, Value image, const Dims &permutation,
                    const OnnxAttributes &attributes) {
  const Bytes bytes = roundToBytes(c, image, 4);
  Value sums = c.node("ConvInteger", {bytes.values, c.elements(1, permutation), bytes.zeroPoint},
                      attributes);
  return toReal(c, sums, bytes, {-1, 1, 1});
}

Value multiplyBytes(OpContext &c, Value rows) {
  const Bytes bytes = roundToBytes(c, rows, 2);
  Value sums = c.node("MatMulInteger", {bytes.values, c.elements(1, {1, 0}), bytes.zeroPoint});
  return toReal(c, sums, bytes, {-1});
}

} // namespace atc::tflite
