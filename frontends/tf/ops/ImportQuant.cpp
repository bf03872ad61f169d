//===-- ImportQuant.cpp - numbers stored as small integers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <limits>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/Tensors.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The number that an integer q stands for is (q + before) * scale + after.
struct Range {
  double before = 0, scale = 1, after = 0;
};

/// `low` and `high` are the integers of the type at the ends of its range, `min` and `max`
/// the numbers that these stand for.
std::optional<Range> rangeOf(NodeContext &n, double low, double high, double min, double max) {
  std::string mode = n.stringAttr("mode", "MIN_COMBINED");
  double step = (max - min) / (high - low);
  if (mode == "MIN_COMBINED")
    return Range{low < 0 ? (high - low + 1) / 2 : 0, step, min};
  if (mode == "MIN_FIRST") {
    // The smallest number is a multiple of the step, so that 0 is exact.
    auto narrow = static_cast<float>(step);
    double minValue = step == 0 ? min : std::round(min / narrow) * narrow;
    return Range{-low, step, minValue};
  }
  if (mode == "SCALED") {
    double minValue = n.boolAttr("narrow_range", false) ? low + 1 : low;
    return Range{0, low < 0 ? std::max(min / minValue, max / high) : max / high, 0};
  }
  n.failAttribute("mode", "is '" + mode + "', expected MIN_COMBINED, MIN_FIRST or SCALED");
  return std::nullopt;
}

/// Inputs are the integers and the numbers at the ends of their range.
void importDequantize(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<double> min = n.constantFloats(1), max = n.constantFloats(2);
  if (n.intAttr("axis", -1) != -1)
    n.failAttribute("axis", "is set: a range per slice is not supported");
  Type element = n.typeAttr("dtype", pb::DT_FLOAT);
  if (n.failed())
    return;
  auto type = dyn_cast<IntegerType>(n.elementType(input));
  if (!type || type.getWidth() > 32)
    return n.failInput(0, "does not hold integers of 8 to 32 bits");
  if (min.size() != 1 || max.size() != 1)
    return n.failNode("has a range of more than one number");
  double count = std::ldexp(1.0, static_cast<int>(type.getWidth()));
  double low = type.isUnsigned() ? 0 : -count / 2;
  std::optional<Range> range = rangeOf(n, low, low + count - 1, min[0], max[0]);
  if (!range)
    return;
  Type wide = n.builder().getF32Type();
  Value value = n.cast(input, wide);
  if (range->before != 0)
    value = n.add(value, n.scalar(range->before, wide));
  value = n.mul(value, n.scalar(range->scale, wide));
  if (range->after != 0)
    value = n.add(value, n.scalar(range->after, wide));
  n.setOutput(n.cast(value, element));
}

/// Rounds numbers to the nearest of those that integers of `num_bits` stand for. The range [min,
/// max] is one for the whole tensor, or one for each element of the last dim; it moves so that one
/// of the integers stands for 0, also where all of it is on one side of 0. All is computed in f32,
/// as the numbers halfway between two of them depend on it.
void fakeQuantize(NodeContext &n, ArrayRef<double> mins, ArrayRef<double> maxes) {
  Value input = n.input(0);
  const int64_t bits = n.intAttr("num_bits", 8);
  if (bits < 2 || bits > 16)
    n.failAttribute("num_bits", "is " + Twine(bits) + ", expected 2 to 16");
  const float low = n.boolAttr("narrow_range", false) ? 1 : 0,
              high = std::ldexp(1.0f, static_cast<int>(bits)) - 1;
  if (!n.failed() && !n.elementType(input).isF32())
    n.failInput(0, "is no tensor of f32");
  if (mins.size() != maxes.size())
    n.failNode("has " + Twine(mins.size()) + " minima and " + Twine(maxes.size()) + " maxima");
  if (n.failed())
    return;
  SmallVector<float> minValue, maxValue, steps, inverses;
  for (auto [min, max] : llvm::zip_equal(mins, maxes)) {
    const float first = static_cast<float>(min), last = static_cast<float>(max);
    // A range of nothing but 0 has one number.
    const bool isZero = first == 0 && last == 0;
    if (!isZero && !(first < last))
      return n.failNode(
          llvm::formatv("has the range [{0}, {1}], whose end must be above its begin", first, last)
              .str());
    const float step = isZero ? 1 : (last - first) / (high - low);
    const float zero = std::clamp(std::round(low - first / step), low, high);
    minValue.push_back(isZero ? 0 : (low - zero) * step);
    maxValue.push_back(isZero ? 0 : (high - zero) * step);
    steps.push_back(step);
    inverses.push_back(isZero ? 1 : (high - low) / (last - first));
  }
  Type element = n.builder().getF32Type();
  auto constant = [&](ArrayRef<float> values) -> Value {
    if (values.size() == 1)
      return n.scalar(values.front(), element);
    return n.constant(graph::makeConstant<float>(
        RankedTensorType::get({static_cast<int64_t>(values.size())}, element), values));
  };
  Value from = constant(minValue);
  Value offset =
      n.sub(n.create<graph::MinOp>(n.create<graph::MaxOp>(input, from), constant(maxValue)), from);
  Value number =
      n.create<graph::FloorOp>(n.add(n.mul(offset, constant(inverses)), n.scalar(0.5, element)));
  n.setOutput(n.add(n.mul(number, constant(steps)), from));
}

/// Inputs are the numbers and the ends of their range.
template <int isPerChannel> void importFakeQuantize(NodeContext &n) {
  Value input = n.input(0);
  SmallVector<double> mins = n.constantFloats(1), maxes = n.constantFloats(2);
  if (n.failed())
    return;
  if (!isPerChannel && mins.size() != 1)
    return n.failInput(1, "has " + Twine(mins.size()) + " elements, expected 1");
  if (isPerChannel && NodeContext::hasRank(input)) {
    n.requireRank(0, 1, maxRank);
    if (n.failed())
      return;
    const int64_t channels = NodeContext::shape(input).back();
    if (channels >= 0 && channels != static_cast<int64_t>(mins.size()))
      return n.failInput(1, "has " + Twine(mins.size()) + " elements for " + Twine(channels) +
                                " channels");
  }
  fakeQuantize(n, mins, maxes);
}

void importFakeQuantizeStated(NodeContext &n) {
  fakeQuantize(n, {n.floatAttr("min", -6)}, {n.floatAttr("max", 6)});
}

/// The integers of a QuantizeAndDequantize, read from its attributes.
struct Integers {
  int64_t axis;    ///< one scale per slice along it; -1: one for the tensor
  bool hasRange;   ///< in inputs 1 and 2, else that of the values counts
  bool halvesUp;   ///< else halves go to the even neighbour
  double min, max; ///< of the integers
};

/// Reads the attributes of `n`, whose failure is reported and leaves n.failed().
Integers readIntegers(NodeContext &n) {
  const bool isThird = n.op() == "QuantizeAndDequantizeV3";
  const SmallVector<int64_t> bits =
      isThird ? n.constantInts(3) : SmallVector<int64_t>{n.intAttr("num_bits", 8)};
  const std::string mode = n.stringAttr("round_mode", "HALF_TO_EVEN");
  if (mode != "HALF_TO_EVEN" && mode != "HALF_UP")
    n.failAttribute("round_mode", "is '" + mode + "', expected HALF_TO_EVEN or HALF_UP");
  n.requireRank(0, 0, maxRank);
  Integers integers{n.intAttr("axis", -1), n.boolAttr("range_given", isThird), mode == "HALF_UP", 0,
                    0};
  if (n.failed())
    return integers;
  const int64_t axis = integers.axis, rank = NodeContext::rank(n.input(0));
  if (axis < -1 || axis >= rank)
    n.failAttribute("axis", "is " + Twine(axis) + " for a tensor of rank " + Twine(rank));
  else if (integers.hasRange && axis >= 0 && NodeContext::shape(n.input(0))[axis] < 0)
    n.failInput(0, "has a dynamic dim " + Twine(axis) + ", which the scales are along");
  else if (bits.size() != 1 || bits[0] < 2 || bits[0] > 24)
    n.failNode("needs 2 to 24 bits");
  if (n.failed())
    return integers;
  const double count = std::ldexp(1.0, static_cast<int>(bits[0]));
  const bool isSigned = n.boolAttr("signed_input", true);
  integers.min = isSigned ? -count / 2 + (n.boolAttr("narrow_range", false) ? 1 : 0) : 0;
  integers.max = isSigned ? count / 2 - 1 : count - 1;
  return integers;
}

/// Returns the minimum or maximum of the range, which broadcasts to input 0; null where it failed.
Value rangeEnd(NodeContext &n, const Integers &integers, bool isMax) {
  Value input = n.input(0);
  const int64_t rank = NodeContext::rank(input), axis = integers.axis;
  if (integers.hasRange) {
    Value end = n.input(isMax ? 2 : 1);
    if (!end || axis < 0)
      return end;
    SmallVector<int64_t> shape(rank, 1);
    shape[axis] = NodeContext::shape(input)[axis];
    return n.reshape(end, shape);
  }
  SmallVector<int64_t> along;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      along.push_back(d);
  return n.reduce(isMax ? graph::ReduceKind::Max : graph::ReduceKind::Min, input, along,
                  /*keepdims=*/true);
}

/// The parameters with which values are quantized to integers.
struct Scale {
  Value scale, inverse; ///< the factor of values, and that of integers
  Value min, max;       ///< the values of the minimum and the maximum integer
};

/// Returns the largest scale by which [min, max] fits the integers.
Scale scaleOf(NodeContext &n, const Integers &integers, Value min, Value max) {
  Value unlimited = n.scalarLike(std::numeric_limits<float>::max(), max);
  // An end without the sign of its integer is no limit.
  auto limitOf = [&](Value end, double integer) {
    Value isOfSign =
        n.compare(end, n.scalarLike(0, end),
                  integer < 0 ? graph::ComparePredicate::Lt : graph::ComparePredicate::Gt);
    return n.create<graph::WhereOp>(isOfSign, n.div(n.scalarLike(integer, end), end), unlimited);
  };
  auto times = [&](Value x, double integer) { return n.mul(x, n.scalarLike(integer, x)); };
  Scale byMax{limitOf(max, integers.max), n.div(max, n.scalarLike(integers.max, max)), {}, max};
  byMax.min = times(byMax.inverse, integers.min);
  if (integers.min >= 0)
    return byMax;
  Scale byMin{limitOf(min, integers.min), n.div(min, n.scalarLike(integers.min, min)), min, {}};
  byMin.max = times(byMin.inverse, integers.max);
  Value isMin = n.compare(byMin.scale, byMax.scale, graph::ComparePredicate::Lt);
  auto choose = [&](Value Scale::*part) -> Value {
    return n.create<graph::WhereOp>(isMin, byMin.*part, byMax.*part);
  };
  return {choose(&Scale::scale), choose(&Scale::inverse), choose(&Scale::min), choose(&Scale::max)};
}

/// Rounds values to multiples of a scale, one for the tensor or one per slice along `axis`, which
/// fits integers of `num_bits`, with 0 for 0, to [min, max]: inputs 1 and 2, or where no range is
/// given, that of the values.
void importQuantizeAndDequantize(NodeContext &n) {
  const Integers integers = readIntegers(n);
  if (n.failed())
    return;
  Value min = rangeEnd(n, integers, /*isMax=*/false), max = rangeEnd(n, integers, /*isMax=*/true);
  if (n.failed())
    return;
  const Scale by = scaleOf(n, integers, min, max);
  Value input = n.input(0);
  if (integers.hasRange)
    input = n.create<graph::MaxOp>(n.create<graph::MinOp>(input, by.max), by.min);
  Value scaled = n.mul(input, by.scale);
  Value rounded = integers.halvesUp
                      ? n.create<graph::FloorOp>(n.add(scaled, n.scalarLike(0.5, scaled)))
                      : n.create<graph::RoundOp>(scaled);
  n.setOutput(n.mul(rounded, by.inverse));
}

} // namespace

ArrayRef<OpRow> quantRows() {
  static const OpRow rows[] = {
      {"Dequantize", importDequantize, "a range for the whole tensor"},
      {"FakeQuantWithMinMaxArgs", importFakeQuantizeStated},
      {"FakeQuantWithMinMaxVars", importFakeQuantize<0>, "a range that is known"},
      {"FakeQuantWithMinMaxVarsPerChannel", importFakeQuantize<1>, "ranges that are known"},
      {"QuantizeAndDequantizeV2", importQuantizeAndDequantize},
      {"QuantizeAndDequantizeV3", importQuantizeAndDequantize, "a number of bits that is known"},
      {"QuantizeAndDequantizeV4", importQuantizeAndDequantize},
  };
  return rows;
}

} // namespace atc::tf_import
