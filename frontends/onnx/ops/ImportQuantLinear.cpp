//===-- ImportQuantLinear.cpp - quantized operators of com.microsoft ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantizers that write operators instead of pairs of QuantizeLinear and DequantizeLinear use
// these. Each means: dequantize, the operator, quantize; passes make integers of it. Scales that
// are not known at compile time are left to host kernels.

#include <cmath>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"
#include "frontends/onnx/ops/AlongRows.h"
#include "frontends/onnx/ops/QuantValues.h"
#include "frontends/onnx/ops/Window.h"

using namespace mlir;
using llvm::APFloat;

namespace atc::onnx_import {
namespace {

constexpr llvm::StringLiteral kNeedsKnown =
    "needs 8-bit integers, and scales and zero points that are known at compile time";

/// Returns the numbers of the tensor `index`, whose scale and zero point are the next two inputs.
Value realInput(NodeContext &n, unsigned index) {
  Value value = n.input(index);
  Type type = n.failed() ? Type()
                         : knownType(n, index + 1, index + 2, n.elementType(value), 0,
                                     /*perAxis=*/false);
  if (!type) {
    n.failNode(kNeedsKnown);
    return {};
  }
  return dequantize(n, value, type);
}

/// Sets the output to `value`, in integers like those of input `like`.
void setQuantized(NodeContext &n, Value value, unsigned scaleIndex, unsigned like = 0) {
  if (n.failed())
    return;
  Type type = knownType(n, scaleIndex, scaleIndex + 1, n.elementType(n.input(like)), 0,
                        /*perAxis=*/false);
  if (!type)
    return n.failNode(kNeedsKnown);
  n.setOutput(quantize(n, value, type));
}

template <typename OpTy> void importBinary(NodeContext &n) {
  Value lhs = realInput(n, 0), rhs = realInput(n, 3);
  setQuantized(n, n.create<OpTy>(lhs, rhs), 6);
}

void importSigmoid(NodeContext &n) {
  setQuantized(n, n.create<graph::SigmoidOp>(realInput(n, 0)), 3);
}

void importLeakyRelu(NodeContext &n) {
  const APFloat alpha(n.floatAttr("alpha", 0.01));
  setQuantized(n, n.create<graph::LeakyReluOp>(realInput(n, 0), alpha), 3);
}

/// By the rules of opsets below 13, all dims from the axis on are one row.
void importSoftmax(NodeContext &n) {
  const bool isFlat = n.intAttr("opset", latestOpset) < 13;
  int64_t axis = n.intAttr("axis", isFlat ? 1 : -1);
  Value input = realInput(n, 0);
  if (n.failed())
    return;
  // The host kernel multiplies by an integer, to which it rounds the scale's reciprocal.
  if (std::optional<SmallVector<double>> scale = n.constantFloats(3); scale && scale->size() == 1)
    if (const float steps = 1 / static_cast<float>(scale->front()); steps != std::floor(steps))
      return n.failNode("has steps that are not one part of a whole number, which a host kernel "
                        "rounds");
  const auto softmax = [&](Value value, int64_t dim) {
    return n.create<graph::SoftmaxOp>(value, dim);
  };
  setQuantized(n,
               isFlat ? alongRows(n, input, axis, softmax)
                      : softmax(input, n.normalizeAxis(axis, n.rank(input))),
               3);
}

/// The scale and zero point of the result come first, those of each part behind it.
void importQuantizedConcat(NodeContext &n) {
  int64_t axis = n.requiredInt("axis");
  SmallVector<Value> parts;
  for (unsigned index = 2; index + 2 < n.numInputs(); index += 3)
    parts.push_back(realInput(n, index));
  if (parts.empty() || n.numInputs() % 3 != 2)
    n.failNode("has " + Twine(n.numInputs()) + " inputs, expected 2 and 3 for each part");
  if (n.failed())
    return;
  axis = n.normalizeAxis(axis, n.rank(parts.front()));
  setQuantized(n, n.create<graph::ConcatOp>(ValueRange(parts), axis), 0, 2);
}

/// Returns images with their channels behind the batch, where they are the last dim.
Value channelsFirst(NodeContext &n, Value images) {
  if (n.failed())
    return {};
  SmallVector<int64_t> order = {0, n.rank(images) - 1};
  for (int64_t dim = 1; dim < n.rank(images) - 1; ++dim)
    order.push_back(dim);
  return n.transpose(images, order);
}

Value channelsLast(NodeContext &n, Value images) {
  if (n.failed())
    return {};
  SmallVector<int64_t> order = {0};
  for (int64_t dim = 2; dim < n.rank(images); ++dim)
    order.push_back(dim);
  order.push_back(1);
  return n.transpose(images, order);
}

/// Pads images at their ends as far as the last windows of ceil_mode reach: ONNX Runtime counts the
/// elements behind the pads, too, where this operator counts pads.
void padToLastWindow(Window &window, ArrayRef<int64_t> spatial) {
  const size_t dims = spatial.size();
  for (size_t d = 0; d < dims; ++d) {
    const int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1, begin = window.pads[d],
                  stride = window.strides[d];
    int64_t &end = window.pads[dims + d];
    int64_t steps =
        llvm::divideCeil(std::max<int64_t>(spatial[d] + begin + end - extent, 0), stride);
    // No window starts behind the image and its first pad.
    if (steps * stride >= spatial[d] + begin)
      --steps;
    end = std::max<int64_t>(steps * stride + extent - spatial[d] - begin, 0);
  }
}

void importQLinearAveragePool(NodeContext &n) {
  n.requireRank(0, 3, 5);
  const bool isLast = n.boolAttr("channels_last", false),
             countPads = n.boolAttr("count_include_pad", false);
  Value images = realInput(n, 0);
  if (isLast)
    images = channelsFirst(n, images);
  std::optional<Window> window = readPoolWindow(n, images);
  if (!window)
    return;
  bool isCeil = readCeilMode(n, *window);
  if (isCeil && countPads) {
    padToLastWindow(*window, n.shape(images).drop_front(2));
    isCeil = false;
  }
  Value pooled = n.create<graph::AveragePoolOp>(images, window->kernel, window->strides,
                                                window->pads, window->dilations, isCeil, countPads);
  setQuantized(n, isLast ? channelsLast(n, pooled) : pooled, 3);
}

void importGlobalAveragePool(NodeContext &n) {
  n.requireRank(0, 3, INT64_MAX);
  const bool isLast = n.boolAttr("channels_last", false);
  Value images = realInput(n, 0);
  if (n.failed())
    return;
  SmallVector<int64_t> axes;
  for (int64_t dim = isLast ? 1 : 2, end = n.rank(images) - (isLast ? 1 : 0); dim < end; ++dim)
    axes.push_back(dim);
  setQuantized(n, n.reduce(graph::ReduceKind::Mean, images, axes), 3);
}

/// Integers are compared as they are; the channels are last.
void importNhwcMaxPool(NodeContext &n) {
  n.requireRank(0, 4, 4);
  Value images = n.failed() ? Value() : channelsFirst(n, n.input(0));
  std::optional<Window> window = readPoolWindow(n, images);
  if (!window)
    return;
  Value pooled = n.create<graph::MaxPoolOp>(images, window->kernel, window->strides, window->pads,
                                            window->dilations, readCeilMode(n, *window));
  n.setOutput(channelsLast(n, pooled));
}

/// A layer whose matrix is known; without a scale of the result that is f32.
void importGemm(NodeContext &n) {
  const bool isTurned = n.boolAttr("transB", false);
  if (n.boolAttr("transA", false) || n.floatAttr("alpha", 1) != 1)
    return n.failNode("with transA or alpha is no layer");
  n.requireRank(0, 2, 2);
  n.requireRank(3, 2, 2);
  Value input = n.input(0), filter = n.input(3);
  for (unsigned index : {1u, 2u, 4u, 5u})
    n.input(index);
  Value bias = n.optionalInput(6);
  if (n.failed())
    return;
  if (!n.isConstantInput(3))
    return n.failInput(3, "must be known at compile time");
  if (!isTurned)
    filter = n.transpose(filter, {1, 0});
  Type inputType = knownType(n, 1, 2, n.elementType(input), 0, /*perAxis=*/false);
  Type filterType = knownType(n, 4, 5, n.elementType(filter), 0, /*perAxis=*/true);
  if (n.failed())
    return;
  const int64_t width = n.shape(filter)[0];
  if (bias && cast<RankedTensorType>(bias.getType()).getNumElements() != width)
    return n.failInput(6, "is not one number per column");
  if (!inputType || !filterType)
    return n.failNode(kNeedsKnown);
  Value realBias =
      bias ? dequantizeBias(n, n.reshape(bias, {width}), inputType, filterType) : Value();
  Value sum = n.create<graph::FullyConnectedOp>(dequantize(n, input, inputType),
                                                dequantize(n, filter, filterType), realBias,
                                                graph::ActivationAttr());
  if (!n.hasInput(7))
    return n.setOutput(sum);
  setQuantized(n, sum, 7);
}

} // namespace

ArrayRef<OpRow> quantLinearRows() {
  static constexpr llvm::StringLiteral known = "scales and zero points known";
  static const OpRow rows[] = {
      {"com.microsoft.NhwcMaxPool", 7, latestOpset, importNhwcMaxPool},
      {"com.microsoft.QGemm", 7, latestOpset, importGemm,
       "matrix, scales and zero points known; no transA, no alpha"},
      {"com.microsoft.QLinearAdd", 7, latestOpset, importBinary<graph::AddOp>, known},
      {"com.microsoft.QLinearAveragePool", 7, latestOpset, importQLinearAveragePool, known},
      {"com.microsoft.QLinearConcat", 7, latestOpset, importQuantizedConcat, known},
      {"com.microsoft.QLinearGlobalAveragePool", 7, latestOpset, importGlobalAveragePool, known},
      {"com.microsoft.QLinearLeakyRelu", 7, latestOpset, importLeakyRelu, known},
      {"com.microsoft.QLinearMul", 7, latestOpset, importBinary<graph::MulOp>, known},
      {"com.microsoft.QLinearSigmoid", 7, latestOpset, importSigmoid, known},
      {"com.microsoft.QLinearSoftmax", 7, latestOpset, importSoftmax, known},
  };
  return rows;
}

} // namespace atc::onnx_import
