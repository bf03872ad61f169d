//===-- ImageColors.cpp - contrast, saturation, hue and HSV ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The three channels of an image, which is [..., 3], or hue, saturation and value.
struct Colors {
  Value parts[3];
};

/// Returns input 0 by channels in f32; null values after an error.
Colors readColors(TensorMath &m) {
  NodeContext &n = m.n;
  Value image = n.input(0);
  if (n.failed())
    return {};
  if (!NodeContext::hasRank(image) || n.rank(image) < 1) {
    n.failInput(0, "has no known rank of at least 1");
    return {};
  }
  const int64_t channels = n.shape(image).back();
  if (!ShapedType::isDynamic(channels) && channels != 3) {
    n.failInput(0, "has " + Twine(channels) + " channels, expected 3");
    return {};
  }
  // Fails a run whose images have another number of channels.
  if (ShapedType::isDynamic(channels))
    image = m.reshape(image, m.concat({m.dims(image, 0, n.rank(image) - 1), n.intList({3})}, 0));
  Value wide = m.toReal(image);
  Colors colors;
  for (int part : {0, 1, 2})
    colors.parts[part] = m.slice(wide, part, part + 1, n.rank(image) - 1);
  return colors;
}

void setColors(TensorMath &m, const Colors &colors) {
  NodeContext &n = m.n;
  if (n.failed())
    return;
  Value image = m.concat(ArrayRef(colors.parts), n.rank(n.input(0)) - 1);
  n.setOutput(n.cast(image, n.elementType(n.input(0))));
}

Colors toHsv(TensorMath &m, const Colors &rgb) {
  auto [red, green, blue] = rgb.parts;
  Value zero = m.real(0), one = m.real(1);
  Value value = m.max(m.max(red, green), blue), low = m.min(m.min(red, green), blue);
  Value range = m.sub(value, low);
  Value isGray = m.n.compare(range, zero, graph::ComparePredicate::Le);
  Value isBlack = m.n.compare(value, zero, graph::ComparePredicate::Le);
  Value saturation = m.select(isBlack, zero, m.div(range, m.select(isBlack, one, value)));
  Value norm = m.div(m.real(1.0 / 6), m.select(isGray, one, range));
  auto sector = [&](Value a, Value b, double offset) {
    return m.add(m.mul(norm, m.sub(a, b)), m.real(offset));
  };
  Value hue = m.select(
      m.equal(red, value), sector(green, blue, 0),
      m.select(m.equal(green, value), sector(blue, red, 2.0 / 6), sector(red, green, 4.0 / 6)));
  hue = m.select(isGray, zero, m.select(m.less(hue, zero), m.add(hue, one), hue));
  return {{hue, saturation, value}};
}

/// `low` is the value of the weakest channel, `range` what the strongest one has more.
Colors toRgb(TensorMath &m, Value hue, Value low, Value range) {
  Value zero = m.real(0), one = m.real(1), two = m.real(2), turn = m.mul(hue, m.real(6));
  Value shares[] = {
      m.sub(m.abs(m.sub(turn, m.real(3))), one),
      m.sub(two, m.abs(m.sub(turn, two))),
      m.sub(two, m.abs(m.sub(turn, m.real(4)))),
  };
  Colors rgb;
  for (int part : {0, 1, 2}) {
    Value share = m.clamp(shares[part], zero, one);
    rgb.parts[part] = m.add(low, m.mul(range, share));
  }
  return rgb;
}

Colors toRgb(TensorMath &m, const Colors &hsv) {
  auto [hue, saturation, value] = hsv.parts;
  Value range = m.mul(saturation, value);
  return toRgb(m, hue, m.sub(value, range), range);
}

void importRgbToHsv(NodeContext &n) {
  TensorMath m(n);
  setColors(m, toHsv(m, readColors(m)));
}

void importHsvToRgb(NodeContext &n) {
  TensorMath m(n);
  setColors(m, toRgb(m, readColors(m)));
}

void importAdjustSaturation(NodeContext &n) {
  TensorMath m(n);
  Colors hsv = toHsv(m, readColors(m));
  hsv.parts[1] = m.clamp(m.mul(hsv.parts[1], m.toReal(n.input(1))), m.real(0), m.real(1));
  setColors(m, toRgb(m, hsv));
}

/// The channels are not those of a saturation, which is defined for positive ones only: those of
/// images around zero may be negative.
void importAdjustHue(NodeContext &n) {
  TensorMath m(n);
  const Colors rgb = readColors(m);
  auto [red, green, blue] = rgb.parts;
  Value low = m.min(m.min(red, green), blue);
  Value range = m.sub(m.max(m.max(red, green), blue), low);
  Value hue = m.add(toHsv(m, rgb).parts[0], m.toReal(n.input(1)));
  setColors(m, toRgb(m, m.sub(hue, m.floor(hue)), low, range));
}

/// The distance of pixels from the mean of their image and channel.
void importAdjustContrast(NodeContext &n) {
  Value image = n.input(0), factor = n.input(1);
  if (n.failed())
    return;
  if (!NodeContext::hasRank(image) || n.rank(image) < 3)
    return n.failInput(0, "has no known rank of at least 3");
  TensorMath m(n);
  Value wide = m.toReal(image);
  Value mean = n.callHost("ReduceMean", {wide, n.intList({n.rank(image) - 3, n.rank(image) - 2})},
                          {n.hostInts("keepdims", {1})});
  Value result = m.add(m.mul(m.sub(wide, mean), m.toReal(factor)), mean);
  n.setOutput(n.cast(result, n.elementType(image)));
}

/// The colors [c, channels] of boxes; box i gets color i modulo c.
Value boxColors(TensorMath &m, int64_t channels) {
  NodeContext &n = m.n;
  Value given;
  if (n.numInputs() > 2) {
    given = m.toReal(withRank(n, 2, 2));
    if (n.failed())
      return {};
    const int64_t rows = n.shape(given)[0], columns = n.shape(given)[1];
    if (!ShapedType::isDynamic(columns) && columns < channels) {
      n.failInput(2, "has colors of " + Twine(columns) + " channels for images with " +
                         Twine(channels) + ", expected at least as many");
      return {};
    }
    // Indices, unlike the ends of a slice, fail a run whose colors have fewer channels.
    given = m.gather(given, n.intList(llvm::to_vector(llvm::seq<int64_t>(0, channels))), 1);
    if (!ShapedType::isDynamic(rows) && rows > 0)
      return given;
  }
  // Two times the colors of a model that gives none; images with one channel get white boxes.
  static constexpr int64_t table[10][4] = {{2, 2, 0, 2}, {0, 0, 2, 2}, {2, 0, 0, 2}, {0, 2, 0, 2},
                                           {1, 0, 1, 2}, {1, 1, 0, 2}, {1, 0, 0, 2}, {0, 0, 1, 2},
                                           {0, 2, 2, 2}, {2, 0, 2, 2}};
  SmallVector<int64_t> doubled;
  for (const auto &row : table)
    for (int64_t channel = 0; channel < channels; ++channel)
      doubled.push_back(channels == 1 ? 2 : row[channel]);
  Value colors =
      m.reshape(m.mul(m.toReal(n.intList(doubled)), m.real(0.5)), ArrayRef<int64_t>{10, channels});
  if (!given)
    return colors;
  Value count = m.mul(m.toIndex(m.equal(m.dim(given, 0), m.index(0))), m.index(10));
  return m.concat({given, m.firstOf(colors, count)}, 0);
}

/// Draws the frames of boxes [b, count, 4] (top, left, bottom and right, 1 is the last pixel) into
/// images; of several ones on a pixel, the last one is seen.
void importDrawBoxes(NodeContext &n) {
  Value image = withRank(n, 0, 4), boxes = withRank(n, 1, 3);
  if (n.failed())
    return;
  const int64_t channels = n.shape(image)[3];
  if (channels != 1 && channels != 3 && channels != 4)
    return n.failInput(0, "must have a known number of channels: 1, 3 or 4");
  TensorMath m(n);
  Value zero = m.index(0), one = m.index(1), wide = m.toReal(boxes);
  // For each box [b, count, 1, 1]: its sides as pixels, and whether pixels [b, count, h, w] are on
  // them. Numbers are truncated, not rounded.
  Value first[2], last[2], inside[2], isFirst[2], isLast[2], fits;
  for (int axis : {0, 1}) {
    Value size = m.dim(image, axis + 1), limit = m.toReal(m.sub(size, one));
    auto side = [&](int64_t part) {
      return m.unsqueeze(m.toIndex(m.mul(m.slice(wide, part, part + 1, 2), limit)), {3});
    };
    first[axis] = side(axis);
    last[axis] = side(axis + 2);
    Value pixel = m.unsqueeze(m.count(size),
                              axis == 0 ? ArrayRef<int64_t>{0, 1, 3} : ArrayRef<int64_t>{0, 1, 2});
    isFirst[axis] = m.equal(pixel, first[axis]);
    isLast[axis] = m.equal(pixel, last[axis]);
    inside[axis] = m.both(n.compare(pixel, first[axis], graph::ComparePredicate::Ge),
                          n.compare(pixel, last[axis], graph::ComparePredicate::Le));
    Value isBox = n.compare(first[axis], last[axis], graph::ComparePredicate::Le);
    fits = axis == 0 ? isBox : m.both(fits, isBox);
  }
  auto either = [&](Value a, Value b) { return n.create<graph::OrOp>(a, b); };
  Value onFrame = m.both(fits, either(m.both(either(isFirst[0], isLast[0]), inside[1]),
                                      m.both(either(isFirst[1], isLast[1]), inside[0])));
  // The number of the last box on each pixel, from 1 on; 0 where there is none.
  Value number = m.unsqueeze(m.add(m.count(m.dim(boxes, 1)), one), {0, 2, 3});
  Value numbers = m.select(onFrame, number, zero);
  // Without boxes there is nothing to take the largest one of.
  Value none = m.expand(zero, m.shapeOf({m.dim(image, 0), one, m.dim(image, 1), m.dim(image, 2)}));
  Value seen = n.callHost("ReduceMax", {m.concat({none, numbers}, 1), n.intList({1})},
                          {n.hostInts("keepdims", {0})});
  Value colors = boxColors(m, channels);
  if (n.failed())
    return;
  Value color = n.callHost("Mod", {m.max(m.sub(seen, one), zero), m.dim(colors, 0)});
  Value drawn = m.select(m.unsqueeze(m.greater(seen, zero), {3}), m.gather(colors, color, 0),
                         m.toReal(image));
  n.setOutput(n.cast(drawn, NodeContext::elementType(image)));
}

} // namespace

ArrayRef<OpRow> colorRows() {
  static constexpr llvm::StringLiteral boxLimit = "a known number of channels: 1, 3 or 4";
  static const OpRow rows[] = {
      {"AdjustContrastv2", importAdjustContrast},
      {"AdjustHue", importAdjustHue},
      {"AdjustSaturation", importAdjustSaturation},
      {"DrawBoundingBoxes", importDrawBoxes, boxLimit},
      {"DrawBoundingBoxesV2", importDrawBoxes, boxLimit},
      {"HSVToRGB", importHsvToRgb},
      {"RGBToHSV", importRgbToHsv},
  };
  return rows;
}

} // namespace atc::tf_import
