//===-- EvaluateResize.cpp - resize --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/IndexTables.h"
#include "dialects/graph/interpreter/Positions.h"
#include "dialects/graph/ops/ShapeOps.h"
#include <algorithm>
#include <cmath>

using namespace mlir;

namespace atc::graph::interpreter {

namespace {

/// The inputs and weights of one position of one dim of the result.
struct Sample {
  SmallVector<int64_t, 4> indices;
  SmallVector<double, 4> weights;
};

/// Resampling of one dim.
struct Axis {
  ResizeMode mode;
  CoordinateMode coordinates;
  NearestMode nearestMode;
  double cubicCoefficient;
  int64_t input, output;
  float scale;

  bool isIdentity() const { return input == output && scale == 1.0f; }

  // Computes coordinates in f32, as the source format's runtimes do: a coordinate on a boundary is
  // rounded to the same side as theirs.
  float coordinate(int64_t position) const {
    auto x = static_cast<float>(position);
    switch (coordinates) {
    case CoordinateMode::HalfPixel:
      return (x + 0.5f) / scale - 0.5f;
    case CoordinateMode::PytorchHalfPixel:
      return output > 1 ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case CoordinateMode::Asymmetric:
      return x / scale;
    case CoordinateMode::AlignCorners:
      return output == 1 ? 0.0f
                         : x * static_cast<float>(input - 1) / static_cast<float>(output - 1);
    }
    return x;
  }

  int64_t inside(float index) const {
    return static_cast<int64_t>(std::clamp(index, 0.0f, static_cast<float>(input - 1)));
  }

  int64_t nearest(int64_t position) const {
    if (isIdentity())
      return position;
    float x = coordinate(position);
    switch (nearestMode) {
    case NearestMode::Floor:
      return inside(std::floor(x));
    case NearestMode::Ceil:
      return inside(std::ceil(x));
    case NearestMode::RoundPreferFloor:
      return inside(std::ceil(x - 0.5f));
    case NearestMode::RoundPreferCeil:
      return inside(std::floor(x + 0.5f));
    }
    return inside(x);
  }

  Sample linear(int64_t position) const {
    float x = std::clamp(coordinate(position), 0.0f, static_cast<float>(input - 1));
    int64_t low = inside(std::floor(x)), high = std::min(low + 1, input - 1);
    double fraction = x - static_cast<float>(low);
    return {{low, high}, {1.0 - fraction, fraction}};
  }

  // Keys' cubic convolution; elements outside are those of the edge.
  Sample cubic(int64_t position) const {
    double a = cubicCoefficient;
    float x = coordinate(position), low = std::floor(x);
    double t = x - low;
    auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {{inside(low - 1), inside(low), inside(low + 1), inside(low + 2)},
            {far(1 + t), near(t), near(1 - t), far(2 - t)}};
  }
};

} // namespace

/// Replaces dim `dim` of the row-major `values` of `shape` by its samples.
static void resample(std::vector<double> &values, SmallVectorImpl<int64_t> &shape, size_t dim,
                     const Axis &axis) {
  ArrayRef<int64_t> sizes(shape);
  int64_t outer = product(sizes.take_front(dim)), inner = product(sizes.drop_front(dim + 1));
  bool isLinear = axis.mode == ResizeMode::Linear;
  std::vector<double> result(outer * axis.output * inner, 0.0);
  for (int64_t position = 0; position < axis.output; ++position) {
    Sample sample = isLinear ? axis.linear(position) : axis.cubic(position);
    for (auto [index, weight] : llvm::zip_equal(sample.indices, sample.weights))
      for (int64_t row = 0; row < outer; ++row)
        for (int64_t i = 0; i < inner; ++i)
          result[(row * axis.output + position) * inner + i] +=
              weight * values[(row * axis.input + index) * inner + i];
  }
  values = std::move(result);
  shape[dim] = axis.output;
}

Result evaluateResize(ResizeOp op, const Evaluation &e) {
  SmallVector<int64_t> shape(e.operands[0]->getShape());
  SmallVector<Axis> axes;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    axes.push_back({op.getMode(), op.getCoordinates(), op.getNearest(),
                    op.getCubicCoefficient().convertToDouble(), shape[dim], e.type.getDimSize(dim),
                    static_cast<float>(op.getScales()[dim])});
  if (e.type.getNumElements() > 0 && llvm::is_contained(shape, 0))
    return e.fail("has no elements to sample");

  if (op.getMode() == ResizeMode::Nearest) {
    SmallVector<IndexTable> tables;
    for (const Axis &axis : axes) {
      IndexTable &table = tables.emplace_back();
      for (int64_t position = 0; position < axis.output; ++position)
        table.push_back(axis.nearest(position));
    }
    return moveByTables(e, tables);
  }
  // The weights of a position are products of the weights per dim, so that the dims can be
  // resampled one after the other.
  std::vector<double> values = e.operands[0]->toDoubles();
  for (auto [dim, axis] : llvm::enumerate(axes))
    if (!axis.isIdentity())
      resample(values, shape, dim, axis);
  return Tensor::fromDoubles(e.type, values);
}

} // namespace atc::graph::interpreter
