//===-- ImageProjection.cpp - images that are rotated, sheared, projected -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each pixel of the result is read at a position of the image that a projective transform gives:
// a / c and b / c of linear functions a, b and c of its column and its row.

#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Positions along an axis of `size` pixels. Those outside are moved to the pixel that the mode
/// repeats there; CONSTANT lets them stay.
Value foldPositions(TensorMath &m, Value position, Value size, StringRef mode) {
  if (mode == "CONSTANT")
    return position;
  Value zero = m.real(0), one = m.real(1), last = m.sub(size, one);
  auto bounded = [&](Value value) { return m.clamp(value, zero, last); };
  if (mode == "NEAREST")
    return bounded(position);
  Value isBefore = m.less(position, zero), isBehind = m.greater(position, last);
  // An axis of one pixel has no period; its positions end at 0 in any case.
  const bool reflects = mode == "REFLECT";
  Value period = reflects ? m.mul(size, m.real(2)) : m.max(last, one);
  Value turns = m.floor(m.div(m.abs(position), period));
  Value before, behind;
  if (reflects) {
    Value moved = m.mul(period, turns);
    before = m.add(position, moved);
    before = m.select(m.less(before, m.sub(zero, size)), m.add(before, period),
                      m.sub(m.sub(zero, before), one));
    behind = m.sub(position, moved);
    behind = m.select(m.less(behind, size), behind, m.sub(m.sub(period, behind), one));
  } else {
    // Turns are counted between the first pixel and the last, and each is as long as the axis.
    before = m.add(position, m.mul(size, m.add(turns, one)));
    behind = m.sub(position, m.mul(size, turns));
  }
  return bounded(m.select(isBefore, before, m.select(isBehind, behind, position)));
}

/// The nearest pixel, and of two the one farther from 0.
Value nearestPixel(TensorMath &m, Value position) {
  Value below = m.floor(position), part = m.sub(position, below), half = m.real(0.5);
  Value isAbove = m.select(m.less(position, m.real(0)), m.greater(part, half),
                           m.n.compare(part, half, graph::ComparePredicate::Ge));
  return m.select(isAbove, m.add(below, m.real(1)), below);
}

/// Reads pixels of images [N, H, W, C] at rows and columns [N, H', W'], numbers of f32.
struct PixelReader {
  PixelReader(TensorMath &m, Value image, Value fill)
      : m(m), fill(fill), height(m.dim(image, 1)), width(m.dim(image, 2)),
        pixels(m.reshape(image, m.concat({m.n.intList({-1}), m.dims(image, 3, 4)}, 0))),
        first(m.unsqueeze(m.mul(m.count(m.dim(image, 0)), m.mul(height, width)), {1, 2})) {}

  Value isInside(Value position, Value size) const {
    return m.both(m.n.compare(position, m.real(0), graph::ComparePredicate::Ge),
                  m.less(position, m.toReal(size)));
  }
  Value at(Value row, Value column) const {
    Value inside = m.both(isInside(row, height), isInside(column, width));
    Value line = m.mul(m.toIndex(m.select(inside, row, m.real(0))), width);
    Value number = m.add(m.add(first, line), m.toIndex(m.select(inside, column, m.real(0))));
    return m.select(m.unsqueeze(inside, {3}), m.gather(pixels, number, 0), fill);
  }

  TensorMath &m;
  Value fill, height, width, pixels, first;
};

/// The mean of the four pixels around each position, weighted by how near they are.
Value blendPixels(TensorMath &m, const PixelReader &reader, Value row, Value column) {
  Value top = m.floor(row), left = m.floor(column), one = m.real(1);
  Value bottom = m.add(top, one), right = m.add(left, one);
  auto share = [&](Value high, Value low) { return m.unsqueeze(m.sub(high, low), {3}); };
  auto across = [&](Value line) {
    return m.add(m.mul(share(right, column), reader.at(line, left)),
                 m.mul(share(column, left), reader.at(line, right)));
  };
  return m.add(m.mul(share(bottom, row), across(top)), m.mul(share(row, top), across(bottom)));
}

} // namespace

void importProjection(NodeContext &n) {
  Value image = withRank(n, 0, 4), transforms = withRank(n, 1, 2), size = n.input(2);
  Value fill = n.numInputs() > 3 ? n.input(3) : Value();
  const std::string method = n.stringAttr("interpolation", "");
  const std::string mode = n.stringAttr("fill_mode", "CONSTANT");
  if (!n.failed() && method != "NEAREST" && method != "BILINEAR")
    return n.failAttribute("interpolation", "is '" + method + "', expected NEAREST or BILINEAR");
  if (!n.failed() && !llvm::is_contained({"CONSTANT", "NEAREST", "REFLECT", "WRAP"}, mode))
    return n.failAttribute("fill_mode",
                           "is '" + mode + "', expected CONSTANT, NEAREST, REFLECT or WRAP");
  if (n.failed())
    return;
  TensorMath m(n);
  const Type type = NodeContext::elementType(image);
  Value sizes = indexVector(n, size);
  Value x = m.unsqueeze(m.toReal(m.count(m.element(sizes, 1))), {0, 1});
  Value y = m.unsqueeze(m.toReal(m.count(m.element(sizes, 0))), {0, 2});
  // Coefficients [N, 1, 1], or [1, 1, 1] of a transform for all images.
  auto coefficient = [&](int64_t number) {
    return m.unsqueeze(m.slice(transforms, number, number + 1, 1), {2});
  };
  auto linear = [&](int64_t number, Value constant) {
    Value variable = m.add(m.mul(coefficient(number), x), m.mul(coefficient(number + 1), y));
    return m.add(variable, constant);
  };
  Value divisor = linear(6, m.real(1)), isNowhere = m.equal(divisor, m.real(0));
  divisor = m.select(isNowhere, m.real(1), divisor);
  auto position = [&](int64_t number, int64_t axis) {
    return foldPositions(m, m.div(linear(number, coefficient(number + 2)), divisor),
                         m.toReal(m.dim(image, axis)), mode);
  };
  Value column = position(0, 2), row = position(3, 1);
  fill = n.cast(fill ? fill : m.real(0), type);
  Value result;
  if (method == "NEAREST") {
    result = PixelReader(m, image, fill).at(nearestPixel(m, row), nearestPixel(m, column));
  } else {
    PixelReader reader(m, m.toReal(image), m.toReal(fill));
    result = n.cast(blendPixels(m, reader, row, column), type);
  }
  n.setOutput(m.select(m.unsqueeze(isNowhere, {3}), fill, result));
}

} // namespace atc::tf_import
