//===-- ImageSampling.cpp - resized and cropped images of any size --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A resize is linear and acts on rows and columns by themselves: a product with a matrix of weights
// per axis. Here the matrices are computed from sizes that may be known only when the model runs.

#include <cmath>
#include <limits>

#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// An axis of a resize: sizes as f32 of rank 0, outputs as a column and inputs as a row of
/// numbers.
struct Axis {
  Axis(TensorMath &m, Value image, Value size, int64_t dim)
      : outputs(m.toReal(size)), inputs(m.toReal(m.dim(image, dim))),
        output(m.unsqueeze(m.toReal(m.count(size)), {1})),
        input(m.unsqueeze(m.toReal(m.count(m.dim(image, dim))), {0})) {}
  Value outputs, inputs, output, input;
};

/// Multiplies rows and columns of an image [N, H, W, C] by matrices [new size, size].
Value resizeBy(TensorMath &m, Value image, Value rows, Value columns) {
  NodeContext &n = m.n;
  // [H', H] x [N, H, W * C], then [W', W] x [N, H', W, C].
  Value lines = n.callHost("MatMul", {rows, m.reshape(image, ArrayRef<int64_t>{0, 0, -1})});
  Value shape = m.concat({m.dims(image, 0, 1), m.dims(rows, 0, 1), m.dims(image, 2, 4)}, 0);
  return n.callHost("MatMul", {columns, m.reshape(lines, shape)});
}

/// Imports an operator of an image and a new size, input 1, by the matrix of weights of each axis.
template <Value (*weights)(TensorMath &, const Axis &, bool, bool)>
void importByAxes(NodeContext &n) {
  Value image = withRank(n, 0, 4), size = n.input(1);
  const bool alignCorners = n.boolAttr("align_corners", false);
  const bool halfPixel = n.boolAttr("half_pixel_centers", false);
  if (n.failed())
    return;
  TensorMath m(n);
  image = m.toReal(image);
  Value sizes = indexVector(n, size);
  Value matrices[2];
  for (int dim : {0, 1})
    matrices[dim] =
        weights(m, Axis(m, image, m.element(sizes, dim), dim + 1), alignCorners, halfPixel);
  n.setOutput(resizeBy(m, image, matrices[0], matrices[1]));
}

/// Returns input pixels per output pixel.
Value scaleOf(TensorMath &m, const Axis &axis, bool alignCorners) {
  Value plain = m.div(axis.inputs, axis.outputs);
  if (!alignCorners)
    return plain;
  Value one = m.real(1);
  Value between = m.div(m.sub(axis.inputs, one), m.max(m.sub(axis.outputs, one), one));
  return m.select(m.greater(axis.outputs, one), between, plain);
}

/// Evaluates a polynomial by its coefficients, the highest first.
Value polynomial(TensorMath &m, Value x, ArrayRef<double> coefficients) {
  Value result = m.real(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    result = m.add(m.mul(result, x), m.real(coefficient));
  return result;
}

/// Returns the cubic kernel with parameter `a` of distances that are not negative.
Value cubicKernel(TensorMath &m, Value x, double a) {
  Value near = polynomial(m, x, {a + 2, -(a + 3), 0, 1});
  Value far = polynomial(m, x, {a, -5 * a, 8 * a, -4 * a});
  return m.select(m.less(x, m.real(1)), near, m.select(m.less(x, m.real(2)), far, m.real(0)));
}

/// Four pixels around each position, which is rounded to 1/1024 pixel. With half-pixel centers,
/// pixels outside do not count; else they repeat the edge.
Value cubicMatrix(TensorMath &m, const Axis &axis, bool alignCorners, bool halfPixel) {
  NodeContext &n = m.n;
  Value scale = scaleOf(m, axis, alignCorners), half = m.real(0.5);
  Value center =
      halfPixel ? m.sub(m.mul(m.add(axis.output, half), scale), half) : m.mul(axis.output, scale);
  Value first = m.floor(center);
  Value part =
      m.div(n.create<graph::RoundOp>(m.mul(m.sub(center, first), m.real(1024))), m.real(1024));
  Value last = m.sub(axis.inputs, m.real(1)), zero = m.real(0), total, matrix;
  for (int tap = -1; tap <= 2; ++tap) {
    Value at = m.add(first, m.real(tap));
    Value weight = cubicKernel(m, m.abs(m.sub(m.real(tap), part)), halfPixel ? -0.5 : -0.75);
    Value inside = m.clamp(at, zero, last);
    if (halfPixel)
      weight = m.select(m.equal(at, inside), weight, zero);
    total = total ? m.add(total, weight) : weight;
    Value entries = m.select(m.equal(axis.input, inside), weight, zero);
    matrix = matrix ? m.add(matrix, entries) : entries;
  }
  return halfPixel ? m.div(matrix, total) : matrix;
}

/// The share of each pixel that an output covers; behind the edge its pixel repeats.
Value areaMatrix(TensorMath &m, const Axis &axis, bool alignCorners, bool) {
  Value scale = scaleOf(m, axis, alignCorners), one = m.real(1), zero = m.real(0);
  Value begin = m.mul(axis.output, scale), end = m.mul(m.add(axis.output, one), scale);
  Value covered = m.max(m.sub(m.min(end, m.add(axis.input, one)), m.max(begin, axis.input)), zero);
  Value beyond = m.max(m.sub(end, m.max(begin, axis.inputs)), zero);
  Value isLast = m.equal(axis.input, m.sub(axis.inputs, one));
  Value share = m.div(m.add(covered, m.select(isLast, beyond, zero)), scale);
  // Between the corners of one pixel there is nothing to cover.
  return m.select(m.equal(axis.inputs, one), one, share);
}

//===----------------------------------------------------------------------===//
// ScaleAndTranslate
//===----------------------------------------------------------------------===//

Value lanczos(TensorMath &m, Value x, double radius) {
  NodeContext &n = m.n;
  constexpr double pi = 3.14159265358979323846;
  // Near 0 the quotient is not defined and its limit is 1.
  Value isSmall = m.less(x, m.real(1e-3)), safe = m.select(isSmall, m.real(1), x);
  Value turn = m.mul(safe, m.real(pi));
  Value product =
      m.mul(n.create<graph::SinOp>(turn), n.create<graph::SinOp>(m.div(turn, m.real(radius))));
  Value value = m.div(m.mul(product, m.real(radius)), m.mul(turn, turn));
  return m.select(isSmall, m.real(1), m.select(m.greater(x, m.real(radius)), m.real(0), value));
}

/// Returns a kernel of distances that are not negative; null for a name that is not known.
Value kernelByName(TensorMath &m, StringRef name, Value x) {
  Value zero = m.real(0), one = m.real(1);
  if (name == "lanczos1" || name == "lanczos3" || name == "lanczos5")
    return lanczos(m, x, name.back() - '0');
  if (name == "triangle")
    return m.max(m.sub(one, x), zero);
  if (name == "box")
    return m.select(m.less(x, m.real(0.5)), one,
                    m.select(m.equal(x, m.real(0.5)), m.real(0.5), zero));
  if (name == "gaussian") {
    // Three deviations of 0.5 are the radius.
    Value bell = m.n.create<graph::ExpOp>(m.mul(m.mul(x, x), m.real(-2)));
    return m.select(m.less(x, m.real(1.5)), bell, zero);
  }
  if (name == "keyscubic")
    return cubicKernel(m, x, -0.5);
  if (name == "mitchellcubic") {
    Value near = polynomial(m, x, {7.0 / 6, -2, 0, 8.0 / 9});
    Value far = polynomial(m, x, {-7.0 / 18, 2, -10.0 / 3, 16.0 / 9});
    return m.select(m.less(x, one), near, m.select(m.less(x, m.real(2)), far, zero));
  }
  return {};
}

/// Each output pixel is the mean of input pixels around its position, weighted by a kernel;
/// positions outside the image give 0.
void importScaleAndTranslate(NodeContext &n) {
  Value image = withRank(n, 0, 4), size = n.input(1);
  Value scales = n.input(2), translations = n.input(3);
  std::string name = n.stringAttr("kernel_type", "lanczos3");
  const bool antialias = n.boolAttr("antialias", true);
  if (n.failed())
    return;
  TensorMath m(n);
  image = m.toReal(image);
  Value sizes = indexVector(n, size), one = m.real(1), zero = m.real(0), matrices[2];
  for (int dim : {0, 1}) {
    Axis axis(m, image, m.element(sizes, dim), dim + 1);
    Value inverse = m.div(one, m.element(scales, dim));
    Value shift = m.mul(inverse, m.element(translations, dim));
    Value position = m.sub(m.mul(m.add(axis.output, m.real(0.5)), inverse), shift);
    Value distance = m.abs(m.sub(m.add(axis.input, m.real(0.5)), position));
    if (antialias)
      distance = m.div(distance, m.max(inverse, one));
    Value weights = kernelByName(m, name, distance);
    if (!n.failed() && !weights)
      return n.failAttribute("kernel_type",
                             "is '" + name +
                                 "', expected lanczos1, lanczos3, lanczos5, gaussian, "
                                 "box, triangle, keyscubic or mitchellcubic");
    Value isInside = m.both(n.compare(position, zero, graph::ComparePredicate::Ge),
                            n.compare(position, axis.inputs, graph::ComparePredicate::Le));
    weights = m.select(isInside, weights, zero);
    // Weights that sum up to nothing stay as they are.
    Value total = m.sum(weights, 1);
    Value isTiny = m.less(m.abs(total), m.real(1000.0 * std::numeric_limits<float>::min()));
    matrices[dim] = m.div(weights, m.select(isTiny, one, total));
  }
  n.setOutput(resizeBy(m, image, matrices[0], matrices[1]));
}

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

/// The positions of a crop's rows (or columns) in the image, [boxes, crop].
struct CropAxis {
  Value position, isInside, last;
};

CropAxis cropAxis(TensorMath &m, Value image, Value boxes, Value size, int64_t dim) {
  Value one = m.real(1), last = m.sub(m.toReal(m.dim(image, dim + 1)), one);
  Value begin = m.slice(boxes, dim, dim + 1, 1), end = m.slice(boxes, dim + 2, dim + 3, 1);
  Value steps = m.sub(m.toReal(size), one);
  Value number = m.unsqueeze(m.toReal(m.count(size)), {0});
  Value step = m.div(m.mul(m.sub(end, begin), last), m.max(steps, one));
  Value several = m.add(m.mul(begin, last), m.mul(number, step));
  // A single pixel is taken from the middle of the box.
  Value middle = m.mul(m.mul(m.add(begin, end), m.real(0.5)), last);
  Value position = m.select(m.greater(steps, m.real(0)), several, m.add(middle, number));
  Value isInside = m.both(m.n.compare(position, m.real(0), graph::ComparePredicate::Ge),
                          m.n.compare(position, last, graph::ComparePredicate::Le));
  return {m.select(isInside, position, m.real(0)), isInside, last};
}

void importCropAndResize(NodeContext &n) {
  Value image = withRank(n, 0, 4), boxes = withRank(n, 1, 2), number = n.input(2);
  Value size = n.input(3);
  std::string method = n.stringAttr("method", "bilinear");
  const double outside = n.floatAttr("extrapolation_value", 0);
  if (!n.failed() && method != "bilinear" && method != "nearest")
    n.failAttribute("method", "is '" + method + "', expected bilinear or nearest");
  if (n.failed())
    return;
  TensorMath m(n);
  Value sizes = indexVector(n, size);
  boxes = m.toReal(boxes);
  CropAxis rows = cropAxis(m, image, boxes, m.element(sizes, 0), 0);
  CropAxis columns = cropAxis(m, image, boxes, m.element(sizes, 1), 1);
  // The pixels of all images in one list: pixel (image * H + row) * W + column.
  Value pixels = m.reshape(m.toReal(image), m.concat({n.intList({-1}), m.dims(image, 3, 4)}, 0));
  Value first = m.mul(m.unsqueeze(indexVector(n, number), {1}), m.dim(image, 1));
  auto pixelsAt = [&](Value row, Value column) {
    Value line = m.mul(m.add(first, m.toIndex(row)), m.dim(image, 2));
    return m.gather(pixels, m.add(m.unsqueeze(line, {2}), m.unsqueeze(m.toIndex(column), {1})), 0);
  };
  Value result;
  if (method == "nearest") {
    auto nearest = [&](const CropAxis &axis) { return m.floor(m.add(axis.position, m.real(0.5))); };
    result = pixelsAt(nearest(rows), nearest(columns));
  } else {
    Value top = m.floor(rows.position), left = m.floor(columns.position);
    Value bottom = m.ceil(rows.position), right = m.ceil(columns.position);
    Value down = m.unsqueeze(m.sub(rows.position, top), {2, 3});
    Value across = m.unsqueeze(m.sub(columns.position, left), {1, 3});
    auto blend = [&](Value a, Value b, Value share) { return m.add(a, m.mul(m.sub(b, a), share)); };
    result = blend(blend(pixelsAt(top, left), pixelsAt(top, right), across),
                   blend(pixelsAt(bottom, left), pixelsAt(bottom, right), across), down);
  }
  Value isInside =
      m.both(m.unsqueeze(rows.isInside, {2, 3}), m.unsqueeze(columns.isInside, {1, 3}));
  n.setOutput(m.select(isInside, result, m.real(outside)));
}

} // namespace

void importCubicOfAnySize(NodeContext &n) { importByAxes<cubicMatrix>(n); }
void importAreaOfAnySize(NodeContext &n) { importByAxes<areaMatrix>(n); }

ArrayRef<OpRow> samplingRows() {
  static const OpRow rows[] = {
      {"CropAndResize", importCropAndResize},
      {"ImageProjectiveTransformV2", importProjection},
      {"ImageProjectiveTransformV3", importProjection},
      {"ScaleAndTranslate", importScaleAndTranslate},
  };
  return rows;
}

} // namespace atc::tf_import
