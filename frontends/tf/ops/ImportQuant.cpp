//===-- ImportQuant.cpp - numbers stored as small integers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/BinaryOps.h"
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
    double least = step == 0 ? min : std::round(min / narrow) * narrow;
    return Range{-low, step, least};
  }
  if (mode == "SCALED") {
    double least = n.boolAttr("narrow_range", false) ? low + 1 : low;
    return Range{0, low < 0 ? std::max(min / least, max / high) : max / high, 0};
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
/// of the integers stands for 0. All is computed in f32, as the numbers halfway between two of them
/// depend on it.
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
  SmallVector<float> least, most, steps, inverses;
  for (auto [min, max] : llvm::zip_equal(mins, maxes)) {
    const float first = static_cast<float>(min), last = static_cast<float>(max);
    if (!(first <= 0 && last >= 0))
      return n.failNode(
          llvm::formatv("has the range [{0}, {1}], which must include 0", first, last).str());
    // A range of nothing but 0 has one number.
    const bool isZero = first == last;
    const float step = isZero ? 1 : (last - first) / (high - low);
    const float zero = std::clamp(std::round(low - first / step), low, high);
    least.push_back(isZero ? 0 : (low - zero) * step);
    most.push_back(isZero ? 0 : (high - zero) * step);
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
  Value from = constant(least);
  Value offset =
      n.sub(n.create<graph::MinOp>(n.create<graph::MaxOp>(input, from), constant(most)), from);
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

} // namespace

ArrayRef<OpRow> quantRows() {
  static const OpRow rows[] = {
      {"Dequantize", importDequantize, "a range for the whole tensor that is known"},
      {"FakeQuantWithMinMaxArgs", importFakeQuantizeStated},
      {"FakeQuantWithMinMaxVars", importFakeQuantize<0>, "a range that is known"},
      {"FakeQuantWithMinMaxVarsPerChannel", importFakeQuantize<1>, "ranges that are known"},
  };
  return rows;
}

} // namespace atc::tf_import
