//===-- ResizeMatrices.cpp - resizing as two matrix products --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resize is linear and acts on rows and columns by themselves: a product with a matrix of weights
// per axis. Its gradient, and that of a mean over windows, is a product with the transposed
// matrices.

#include "frontends/tf/ops/ResizeMatrices.h"

#include <cmath>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/tf/ops/Window.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The weights [outputs, inputs] of one axis.
struct AxisWeights {
  AxisWeights(int64_t outputs, int64_t inputs)
      : outputs(outputs), inputs(inputs), values(outputs * inputs, 0.0f) {}
  float &at(int64_t output, int64_t input) { return values[output * inputs + input]; }
  AxisWeights transposed() {
    AxisWeights other(inputs, outputs);
    for (int64_t output = 0; output < outputs; ++output)
      for (int64_t input = 0; input < inputs; ++input)
        other.at(input, output) = at(output, input);
    return other;
  }
  int64_t outputs, inputs;
  std::vector<float> values;
};

/// Returns input pixels per output pixel as TensorFlow computes them.
float scaleOf(int64_t inputs, int64_t outputs, bool alignCorners) {
  if (alignCorners && outputs > 1)
    return static_cast<float>(inputs - 1) / static_cast<float>(outputs - 1);
  return static_cast<float>(inputs) / static_cast<float>(outputs);
}

/// Returns the four weights of a pixel between the second and the third; `a` is the kernel's
/// parameter. TensorFlow rounds the position to 1/1024 pixel.
std::array<double, 4> cubicWeights(float position, double a) {
  constexpr double steps = 1024;
  double x = std::nearbyint(position * float(steps)) / steps;
  auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(x + 1), near(x), near(1 - x), far(2 - x)};
}

AxisWeights cubicAxis(int64_t outputs, int64_t inputs, bool alignCorners, bool halfPixel) {
  AxisWeights weights(outputs, inputs);
  const float scale = scaleOf(inputs, outputs, alignCorners);
  for (int64_t output = 0; output < outputs; ++output) {
    float center = halfPixel ? (static_cast<float>(output) + 0.5f) * scale - 0.5f
                             : static_cast<float>(output) * scale;
    auto first = static_cast<int64_t>(std::floor(center));
    auto four = cubicWeights(center - static_cast<float>(first), halfPixel ? -0.5 : -0.75);
    // With half-pixel centers, pixels outside do not count; else they repeat the edge.
    double sum = 0;
    for (int64_t tap = 0; tap < 4; ++tap) {
      int64_t input = first - 1 + tap;
      if (!halfPixel || (input >= 0 && input < inputs))
        sum += four[tap];
    }
    for (int64_t tap = 0; tap < 4; ++tap) {
      int64_t input = first - 1 + tap;
      if (halfPixel && (input < 0 || input >= inputs))
        continue;
      weights.at(output, std::clamp<int64_t>(input, 0, inputs - 1)) +=
          static_cast<float>(halfPixel ? four[tap] / sum : four[tap]);
    }
  }
  return weights;
}

AxisWeights areaAxis(int64_t outputs, int64_t inputs, bool alignCorners, bool) {
  AxisWeights weights(outputs, inputs);
  const float scale = scaleOf(inputs, outputs, alignCorners);
  for (int64_t output = 0; output < outputs; ++output) {
    // Between the corners of one pixel there is nothing to cover.
    if (inputs == 1) {
      weights.at(output, 0) = 1;
      continue;
    }
    float begin = static_cast<float>(output) * scale, end = static_cast<float>(output + 1) * scale;
    auto first = static_cast<int64_t>(std::floor(begin));
    auto last = static_cast<int64_t>(std::ceil(end));
    for (int64_t input = first; input < last; ++input) {
      float covered =
          std::min(end, static_cast<float>(input + 1)) - std::max(begin, static_cast<float>(input));
      // Behind the edge its pixel repeats.
      weights.at(output, std::clamp<int64_t>(input, 0, inputs - 1)) += covered / scale;
    }
  }
  return weights;
}

AxisWeights linearAxis(int64_t outputs, int64_t inputs, bool alignCorners, bool halfPixel) {
  AxisWeights weights(outputs, inputs);
  const float scale = scaleOf(inputs, outputs, alignCorners);
  for (int64_t output = 0; output < outputs; ++output) {
    const float position = halfPixel ? (static_cast<float>(output) + 0.5f) * scale - 0.5f
                                     : static_cast<float>(output) * scale;
    const float first = std::floor(position), lerp = position - first;
    auto clamped = [&](float at) {
      return std::clamp<int64_t>(static_cast<int64_t>(at), 0, inputs - 1);
    };
    weights.at(output, clamped(first)) += 1 - lerp;
    weights.at(output, clamped(first + 1)) += lerp;
  }
  return weights;
}

AxisWeights nearestAxis(int64_t outputs, int64_t inputs, bool alignCorners, bool halfPixel) {
  AxisWeights weights(outputs, inputs);
  const float scale = scaleOf(inputs, outputs, alignCorners);
  for (int64_t output = 0; output < outputs; ++output) {
    const float position = (static_cast<float>(output) + (halfPixel ? 0.5f : 0.0f)) * scale;
    const auto nearest =
        static_cast<int64_t>(alignCorners ? std::round(position) : std::floor(position));
    weights.at(output, std::clamp<int64_t>(nearest, 0, inputs - 1)) = 1;
  }
  return weights;
}

/// Returns the shares of the pixels in the means over windows, which do not count pads.
AxisWeights meanAxis(int64_t outputs, int64_t inputs, const Window &window, unsigned dim) {
  AxisWeights weights(outputs, inputs);
  for (int64_t output = 0; output < outputs; ++output) {
    const int64_t first = output * window.strides[dim] - window.pads[dim];
    const int64_t begin = std::max<int64_t>(first, 0);
    const int64_t end = std::min(first + window.kernel[dim], inputs);
    for (int64_t input = begin; input < end; ++input)
      weights.at(output, input) = 1 / static_cast<float>(end - begin);
  }
  return weights;
}

Value makeMatrix(NodeContext &n, const AxisWeights &weights) {
  auto type = RankedTensorType::get({weights.outputs, weights.inputs}, n.builder().getF32Type());
  return n.constant(graph::makeConstant(type, ArrayRef<float>(weights.values)));
}

/// Returns `value` with rows of `dims`; the number of rows follows.
Value reshapeRows(NodeContext &n, Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape{-1};
  llvm::append_range(shape, dims);
  if (n.failed() || NodeContext::isStatic(value))
    return n.failed() ? Value() : n.reshapeAs(value, shape, /*copyZeros=*/false);
  return n.callHost("Reshape", {value, n.intList(shape)});
}

/// Whether the sizes before and after are known, so that the weights are constants.
bool hasKnownSizes(NodeContext &n) {
  Value image = n.input(0), size = n.input(1);
  return n.failed() || (NodeContext::hasRank(image) && n.rank(image) == 4 &&
                        !ShapedType::isDynamic(n.shape(image)[1]) &&
                        !ShapedType::isDynamic(n.shape(image)[2]) && n.shape(image)[3] > 0 &&
                        n.shape(image)[0] != 0 && size.getDefiningOp<graph::ConstantOp>());
}

/// The max number of pixels of an axis whose weights become a matrix.
constexpr int64_t maxAxis = 1 << 13;

/// Returns an image [N, H, W, C] of floats with a product along H and one along W.
Value byMatrices(NodeContext &n, Value image, const AxisWeights &vertical,
                 const AxisWeights &horizontal) {
  // [N, H, W, C] -> [N, H', W * C] -> [N * H', W', C]: products with the matrices from the left.
  image = n.cast(image, n.builder().getF32Type());
  const int64_t channels = n.shape(image)[3];
  Value rows = n.create<graph::MatMulOp>(
      makeMatrix(n, vertical),
      reshapeRows(n, image, {vertical.inputs, horizontal.inputs * channels}));
  Value columns = n.create<graph::MatMulOp>(makeMatrix(n, horizontal),
                                            reshapeRows(n, rows, {horizontal.inputs, channels}));
  return withKnownDims(n, reshapeRows(n, columns, {vertical.outputs, horizontal.outputs, channels}),
                       {ShapedType::kDynamic, vertical.outputs, horizontal.outputs, channels}, 1);
}

template <AxisWeights (*axis)(int64_t, int64_t, bool, bool)> void importByAxes(NodeContext &n) {
  n.requireRank(0, 4, 4);
  SmallVector<int64_t> size = n.constantInts(1);
  const bool alignCorners = n.boolAttr("align_corners", false);
  const bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (!n.failed() && size.size() != 2)
    n.failInput(1, "has " + Twine(size.size()) + " elements, expected height and width");
  if (n.failed())
    return;
  constexpr int64_t max = maxAxis;
  SmallVector<int64_t> shape(n.shape(n.input(0)));
  for (int dim = 0; dim < 2; ++dim) {
    if (size[dim] < 1 || size[dim] > max)
      return n.failInput(1,
                         "asks for the size " + Twine(size[dim]) + ", expected 1 to " + Twine(max));
    if (shape[1 + dim] < 1 || shape[1 + dim] > max)
      return n.failInput(0, "has " + Twine(shape[1 + dim]) + " pixels along axis " +
                                Twine(1 + dim) + ", expected 1 to " + Twine(max));
  }
  n.setOutput(byMatrices(n, n.input(0), axis(size[0], shape[1], alignCorners, halfPixel),
                         axis(size[1], shape[2], alignCorners, halfPixel)));
}

/// Whether the matrix of an axis of this size is made.
bool isAxisSize(int64_t size) { return size >= 1 && size <= maxAxis; }

/// Fails unless the input at `index` is an image [N, H, W, C] whose height and width are known.
bool requireImage(NodeContext &n, unsigned index) {
  n.requireRank(index, 4, 4);
  if (n.failed())
    return false;
  ArrayRef<int64_t> shape = n.shape(n.input(index));
  if (!isAxisSize(shape[1]) || !isAxisSize(shape[2]) || shape[3] < 1)
    n.failInput(index, "has height, width and channels " + Twine(shape[1]) + ", " +
                           Twine(shape[2]) + " and " + Twine(shape[3]) +
                           ", which must be known, and height and width 1 to " + Twine(maxAxis));
  return !n.failed();
}

/// The gradient of a resize of `size` pixels to those of input 0.
template <AxisWeights (*axis)(int64_t, int64_t, bool, bool)>
void importGradient(NodeContext &n, ArrayRef<int64_t> size, Type element) {
  const bool alignCorners = n.boolAttr("align_corners", false);
  const bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (n.failed())
    return;
  ArrayRef<int64_t> shape = n.shape(n.input(0));
  n.setOutput(n.cast(byMatrices(n, n.input(0),
                                axis(shape[1], size[0], alignCorners, halfPixel).transposed(),
                                axis(shape[2], size[1], alignCorners, halfPixel).transposed()),
                     element));
}

} // namespace

void importResizeBicubic(NodeContext &n) {
  hasKnownSizes(n) ? importByAxes<cubicAxis>(n) : importCubicOfAnySize(n);
}

void importResizeArea(NodeContext &n) {
  hasKnownSizes(n) ? importByAxes<areaAxis>(n) : importAreaOfAnySize(n);
}

void importResizeBilinearGrad(NodeContext &n) {
  if (!requireImage(n, 0) || !requireImage(n, 1))
    return;
  Value image = n.input(1);
  importGradient<linearAxis>(n, n.shape(image).slice(1, 2), n.elementType(image));
}

void importResizeNearestGrad(NodeContext &n) {
  if (!requireImage(n, 0))
    return;
  SmallVector<int64_t> size = n.constantInts(1);
  if (!n.failed() && (size.size() != 2 || !llvm::all_of(size, isAxisSize)))
    n.failInput(1, "must be a height and a width from 1 to " + Twine(maxAxis));
  if (!n.failed() && !n.isFloat(n.input(0)))
    n.failInput(0, "must hold floats");
  if (!n.failed())
    importGradient<nearestAxis>(n, size, n.elementType(n.input(0)));
}

void importAvgPoolGrad(NodeContext &n) {
  if (!requireImage(n, 1))
    return;
  SmallVector<int64_t> shape = n.constantInts(0);
  if (!n.failed() && (shape.size() != 4 || !isAxisSize(shape[1]) || !isAxisSize(shape[2])))
    n.failInput(0,
                "must be the shape of an image with height and width from 1 to " + Twine(maxAxis));
  if (n.stringAttr("data_format", "NHWC") != "NHWC" && !n.failed())
    n.failAttribute("data_format", "must be NHWC");
  if (n.failed())
    return;
  ImageLayout layout(n, 4);
  SmallVector<int64_t> kernel = layout.spatial(n, "ksize");
  std::optional<Window> window =
      n.failed() ? std::nullopt : readWindow(n, layout, kernel, ArrayRef(shape).slice(1, 2));
  if (!window)
    return;
  Value gradient = n.input(1);
  ArrayRef<int64_t> outputs = n.shape(gradient);
  for (unsigned dim = 0; dim < 2; ++dim) {
    const int64_t padded = shape[1 + dim] + window->pads[dim] + window->pads[2 + dim];
    const int64_t expected =
        padded < kernel[dim] ? 0 : (padded - kernel[dim]) / window->strides[dim] + 1;
    if (outputs[1 + dim] != expected)
      return n.failInput(1, "has " + Twine(outputs[1 + dim]) + " pixels along axis " +
                                Twine(1 + dim) + ", expected " + Twine(expected));
  }
  n.setOutput(
      n.cast(byMatrices(n, gradient, meanAxis(outputs[1], shape[1], *window, 0).transposed(),
                        meanAxis(outputs[2], shape[2], *window, 1).transposed()),
             n.elementType(gradient)));
}

} // namespace atc::tf_import
