//===-- ImageColors.cpp - contrast, saturation, hue and HSV ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  Value value = m.max(m.max(red, green), blue), least = m.min(m.min(red, green), blue);
  Value range = m.sub(value, least);
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

/// `least` is the value of the weakest channel, `range` what the strongest one has more.
Colors toRgb(TensorMath &m, Value hue, Value least, Value range) {
  Value zero = m.real(0), one = m.real(1), two = m.real(2), turn = m.mul(hue, m.real(6));
  Value shares[] = {
      m.sub(m.abs(m.sub(turn, m.real(3))), one),
      m.sub(two, m.abs(m.sub(turn, two))),
      m.sub(two, m.abs(m.sub(turn, m.real(4)))),
  };
  Colors rgb;
  for (int part : {0, 1, 2}) {
    Value share = m.clamp(shares[part], zero, one);
    rgb.parts[part] = m.add(least, m.mul(range, share));
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
  Value least = m.min(m.min(red, green), blue);
  Value range = m.sub(m.max(m.max(red, green), blue), least);
  Value hue = m.add(toHsv(m, rgb).parts[0], m.toReal(n.input(1)));
  setColors(m, toRgb(m, m.sub(hue, m.floor(hue)), least, range));
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

} // namespace

ArrayRef<OpRow> colorRows() {
  static const OpRow rows[] = {
      {"AdjustContrastv2", importAdjustContrast},
      {"AdjustHue", importAdjustHue},
      {"AdjustSaturation", importAdjustSaturation},
      {"HSVToRGB", importHsvToRgb},
      {"RGBToHSV", importRgbToHsv},
  };
  return rows;
}

} // namespace atc::tf_import
