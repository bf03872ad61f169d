//===-- ResizeMatrices.cpp - resizing as two matrix products --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resize is linear and acts on rows and columns by themselves: a product with a matrix of weights
// per axis.

#include "frontends/tf/ops/ResizeMatrices.h"

#include <cmath>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The weights [outputs, inputs] of one axis.
struct AxisWeights {
  AxisWeights(int64_t outputs, int64_t inputs)
      : outputs(outputs), inputs(inputs), values(outputs * inputs, 0.0f) {}
  float &at(int64_t output, int64_t input) { return values[output * inputs + input]; }
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

template <AxisWeights (*axis)(int64_t, int64_t, bool, bool)> void importByAxes(NodeContext &n) {
  n.requireRank(0, 4, 4);
  SmallVector<int64_t> size = n.constantInts(1);
  const bool alignCorners = n.boolAttr("align_corners", false);
  const bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (!n.failed() && size.size() != 2)
    n.failInput(1, "has " + Twine(size.size()) + " elements, expected height and width");
  if (n.failed())
    return;
  constexpr int64_t max = 1 << 13;
  SmallVector<int64_t> shape(n.shape(n.input(0)));
  for (int dim = 0; dim < 2; ++dim) {
    if (size[dim] < 1 || size[dim] > max)
      return n.failInput(1,
                         "asks for the size " + Twine(size[dim]) + ", expected 1 to " + Twine(max));
    if (shape[1 + dim] < 1 || shape[1 + dim] > max)
      return n.failInput(0, "has " + Twine(shape[1 + dim]) + " pixels along axis " +
                                Twine(1 + dim) + ", expected 1 to " + Twine(max));
  }
  // [N, H, W, C] -> [N, H', W * C] -> [N * H', W', C]: products with the matrices from the left.
  Value image = n.cast(n.input(0), n.builder().getF32Type());
  const int64_t channels = shape[3];
  Value rows =
      n.create<graph::MatMulOp>(makeMatrix(n, axis(size[0], shape[1], alignCorners, halfPixel)),
                                reshapeRows(n, image, {shape[1], shape[2] * channels}));
  Value columns =
      n.create<graph::MatMulOp>(makeMatrix(n, axis(size[1], shape[2], alignCorners, halfPixel)),
                                reshapeRows(n, rows, {shape[2], channels}));
  n.setOutput(withKnownDims(n, reshapeRows(n, columns, {size[0], size[1], channels}),
                            {ShapedType::kDynamic, size[0], size[1], channels}, 1));
}

} // namespace

void importResizeBicubic(NodeContext &n) {
  hasKnownSizes(n) ? importByAxes<cubicAxis>(n) : importCubicOfAnySize(n);
}

void importResizeArea(NodeContext &n) {
  hasKnownSizes(n) ? importByAxes<areaAxis>(n) : importAreaOfAnySize(n);
}

} // namespace atc::tf_import
