//===-- ImportWindow.cpp - convolutions, pools, products ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"
#include "frontends/tflite/ops/DynamicRange.h"

using llvm::Twine;

namespace atc::tflite {
namespace {

/// Returns the attributes of a window; with padding SAME the pads follow from the image, and the
/// odd one is behind it.
OnnxAttributes window(OpContext &c, fb::Padding padding, const Dims &kernel, const Dims &strides,
                      const Dims &dilations) {
  for (const Dims &list : {kernel, strides, dilations})
    for (int64_t value : list)
      if (value < 1 || value > (1 << 20))
        c.fail("a kernel size, stride or dilation of " + Twine(value) + " is not allowed");
  if (padding != fb::Padding::SAME && padding != fb::Padding::VALID)
    c.fail("the padding " + Twine(static_cast<int>(padding)) +
           " is neither SAME (0) nor VALID (1)");
  OnnxAttributes attributes = {
      {"auto_pad", std::string(padding == fb::Padding::SAME ? "SAME_UPPER" : "VALID")},
      {"kernel_shape", kernel},
      {"strides", strides}};
  if (llvm::any_of(dilations, [](int64_t value) { return value != 1; }))
    attributes.push_back({"dilations", dilations});
  return attributes;
}

/// Imports a convolution over the inner dims of [n, ..., c]. `permutation` brings the filter to
/// [outputs, channels per group, ...].
void convolve(OpContext &c, fb::Padding padding, const Dims &strides, const Dims &dilations,
              fb::Activation activation, const Dims &permutation, bool isDepthwise) {
  const Dims image = c.dims(0), filter = c.dims(1);
  const auto rank = static_cast<int64_t>(permutation.size());
  if (static_cast<int64_t>(image.size()) != rank || static_cast<int64_t>(filter.size()) != rank)
    c.fail("its image has " + Twine(image.size()) + " dims and its filter " + Twine(filter.size()) +
           ", expected " + Twine(rank));
  if (c.failed())
    return;
  const int64_t channels = image.back();
  const int64_t depth = filter[permutation[1]];
  if (channels < 1 || depth < 1 || channels % depth)
    return c.fail("its filter has " + Twine(depth) + " channels, which " + Twine(channels) +
                  " channels of the image are no multiple of");
  Dims kernel;
  for (int64_t i = 2; i < rank; ++i)
    kernel.push_back(filter[permutation[i]]);
  OnnxAttributes attributes = window(c, padding, kernel, strides, dilations);
  attributes.push_back({"group", isDepthwise ? channels : channels / depth});
  Value x = c.channelsFirst(c.in(0), rank), result;
  if (rank == 4 && !isDepthwise && hasDynamicRange(c)) {
    result = convolveBytes(c, x, permutation, attributes);
  } else {
    std::vector<Value> inputs = {x, c.filter(1, permutation)};
    if (c.hasInput(2))
      inputs.push_back(c.bias(2));
    result = c.node("Conv", inputs, attributes);
  }
  c.setOutput(c.channelsLast(c.activate(result, activation), rank));
}

void importConv2D(OpContext &c) {
  const auto *p = c.options<fb::Conv2DOptions>();
  if (!p)
    return c.fail("has no parameters");
  convolve(c, p->padding(), {p->stride_h(), p->stride_w()}, {p->dilation_h(), p->dilation_w()},
           p->activation(), {0, 3, 1, 2}, false);
}

/// The filter is [1, h, w, outputs]: one channel per group.
void importDepthwise(OpContext &c) {
  const auto *p = c.options<fb::DepthwiseConv2DOptions>();
  if (!p)
    return c.fail("has no parameters");
  if (!c.failed() && (c.rank(1) != 4 || c.dims(1)[0] != 1))
    c.fail("its filter must have 4 dims, the first of them 1");
  if (c.failed())
    return;
  convolve(c, p->padding(), {p->stride_h(), p->stride_w()}, {p->dilation_h(), p->dilation_w()},
           p->activation(), {3, 0, 1, 2}, true);
}

void importConv3D(OpContext &c) {
  const auto *p = c.options<fb::Conv3DOptions>();
  if (!p)
    return c.fail("has no parameters");
  convolve(c, p->padding(), {p->stride_d(), p->stride_h(), p->stride_w()},
           {p->dilation_d(), p->dilation_h(), p->dilation_w()}, p->activation(), {4, 3, 0, 1, 2},
           false);
}

/// Imports a transposed convolution: inputs are the result's shape, the filter, the image and the
/// bias. The pads are those of the convolution that it is the gradient of.
void convolveTransposed(OpContext &c, const Dims &strides, fb::Activation activation,
                        const Dims &permutation) {
  const auto rank = static_cast<int64_t>(permutation.size());
  const Dims filter = c.dims(1), image = c.dims(2), result = c.outputDims();
  if (c.rank(1) != rank || c.rank(2) != rank || static_cast<int64_t>(result.size()) != rank)
    c.fail("its filter, image and result must have " + Twine(rank) + " dims");
  if (c.failed())
    return;
  Dims kernel, pads(2 * (rank - 2)), extra;
  for (int64_t i = 0; i < rank - 2; ++i) {
    const int64_t size = image[i + 1], expected = result[i + 1];
    kernel.push_back(filter[permutation[i + 2]]);
    if (size < 0 || expected < 0)
      return c.fail("the height and width of its image and result must be known");
    const int64_t total = strides[i] * (size - 1) + kernel[i] - expected;
    pads[i] = std::max<int64_t>(total, 0) / 2;
    pads[i + rank - 2] = std::max<int64_t>(total, 0) - pads[i];
    extra.push_back(std::max<int64_t>(-total, 0));
    if (strides[i] < 1 || extra[i] >= std::max<int64_t>(strides[i], 1))
      return c.fail("its result of " + Twine(expected) + " does not follow from an image of " +
                    Twine(size));
  }
  std::vector<Value> inputs = {c.channelsFirst(c.in(2), rank), c.filter(1, permutation)};
  if (c.hasInput(3))
    inputs.push_back(c.bias(3));
  Value made = c.node(
      "ConvTranspose", inputs,
      {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"output_padding", extra}});
  c.setOutput(c.channelsLast(c.activate(made, activation), rank));
}

void importTransposeConv(OpContext &c) {
  const auto *p = c.options<fb::TransposeConvOptions>();
  if (!p)
    return c.fail("has no parameters");
  convolveTransposed(c, {p->stride_h(), p->stride_w()}, p->activation(), {3, 0, 1, 2});
}

void importConv3DTranspose(OpContext &c) {
  const auto *p = c.options<fb::Conv3DOptions>();
  if (!p)
    return c.fail("has no parameters");
  if (p->dilation_d() != 1 || p->dilation_h() != 1 || p->dilation_w() != 1)
    return c.fail("dilations are not supported");
  convolveTransposed(c, {p->stride_d(), p->stride_h(), p->stride_w()}, p->activation(),
                     {4, 3, 0, 1, 2});
}

//===--- Pools ------------------------------------------------------------===//

void pool(OpContext &c, const char *op) {
  const auto *p = c.options<fb::Pool2DOptions>();
  if (!p)
    return c.fail("has no parameters");
  if (c.rank(0) != 4)
    return c.fail("its image has " + Twine(c.rank(0)) + " dims, expected 4");
  const bool isMax = llvm::StringRef(op) == "MaxPool";
  const bool isRoot = c.model.reader.code(c.proto) == fb::BuiltinOperator::L2_POOL_2D;
  // A maximum is one of the integers; activations may need real values, and ONNX has no pool of
  // integers of 16 bits.
  const bool staysInteger = isMax && p->activation() == fb::Activation::NONE &&
                            c.inputTensor(0).type() != fb::TensorType::INT16;
  Value x = staysInteger ? c.moved(0) : c.in(0);
  if (isRoot)
    x = c.node("Mul", {x, x});
  Value result = c.node(op, {c.channelsFirst(x, 4)},
                        window(c, p->padding(), {p->filter_height(), p->filter_width()},
                               {p->stride_h(), p->stride_w()}, {1, 1}));
  if (isRoot)
    result = c.node("Sqrt", {result});
  c.setOutput(c.channelsLast(c.activate(result, p->activation()), 4));
}
void importAveragePool(OpContext &c) { pool(c, "AveragePool"); }
void importMaxPool(OpContext &c) { pool(c, "MaxPool"); }

//===--- Products ---------------------------------------------------------===//

void importFullyConnected(OpContext &c) {
  const auto *p = c.options<fb::FullyConnectedOptions>();
  const Dims weights = c.dims(1);
  if (p && p->weights_format() != fb::WeightsFormat::DEFAULT)
    c.fail("its weights are shuffled; convert the model again without it");
  if (!c.failed() && weights.size() != 2)
    c.fail("its weights have " + Twine(weights.size()) + " dims, expected 2");
  else if (!c.failed() && weights[1] < 1)
    c.fail("its weights have " + (weights[1] < 0 ? Twine("an unknown number of") : Twine("no")) +
           " columns");
  if (c.failed())
    return;
  Value x = c.in(0);
  const Dims dims = c.dims(0), result = c.outputDims();
  if (dims.size() > 2 && dims.size() == result.size() && dims.back() == weights[1] &&
      llvm::count_if(result, [](int64_t dim) { return dim < 0; }) > 1) {
    // Rows of several dynamic dims, as a sequence of a batch has, cannot come back from a matrix.
    Value product = c.node("MatMul", {x, c.filter(1, {1, 0})});
    if (c.hasInput(2))
      product = c.node("Add", {product, c.bias(2)});
    return c.setOutput(c.activate(product, p ? p->activation() : fb::Activation::NONE));
  }
  if (dims.size() != 2 || dims[1] != weights[1])
    x = c.reshape(x, {-1, weights[1]});
  Value made;
  if (hasDynamicRange(c)) {
    made = multiplyBytes(c, x);
  } else {
    std::vector<Value> inputs = {x, c.filter(1, {1, 0})};
    if (c.hasInput(2))
      inputs.push_back(c.bias(2));
    made = c.node("Gemm", inputs);
  }
  made = c.activate(made, p ? p->activation() : fb::Activation::NONE);
  if (result.size() != 2) {
    Dims shape(result.size(), 0);
    for (auto [axis, dim] : llvm::enumerate(result))
      shape[axis] = dim >= 0 ? dim : -1;
    made = c.reshape(made, shape);
  }
  c.setOutput(made);
}

void importBatchMatMul(OpContext &c) {
  const auto *p = c.options<fb::BatchMatMulOptions>();
  auto operand = [&](unsigned index, bool isTransposed) {
    Value value = c.in(index);
    const int64_t rank = c.rank(index);
    if (!isTransposed || rank < 2)
      return value;
    Dims permutation;
    for (int64_t i = 0; i < rank; ++i)
      permutation.push_back(i);
    std::swap(permutation[rank - 1], permutation[rank - 2]);
    return c.transpose(value, permutation);
  };
  c.setOutput(c.node("MatMul", {operand(0, p && p->adj_x()), operand(1, p && p->adj_y())}));
}

} // namespace

llvm::ArrayRef<OpRow> windowOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{AVERAGE_POOL_2D, importAveragePool},
                               {BATCH_MATMUL, importBatchMatMul},
                               {CONV_2D, importConv2D},
                               {CONV_3D, importConv3D},
                               {CONV_3D_TRANSPOSE, importConv3DTranspose},
                               {DEPTHWISE_CONV_2D, importDepthwise},
                               {FULLY_CONNECTED, importFullyConnected},
                               {L2_POOL_2D, importAveragePool},
                               {MAX_POOL_2D, importMaxPool},
                               {TRANSPOSE_CONV, importTransposeConv}};
  return rows;
}

} // namespace atc::tflite
