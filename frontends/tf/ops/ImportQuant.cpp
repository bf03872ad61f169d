//===-- ImportQuant.cpp - numbers stored as small integers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>

#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"

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

} // namespace

ArrayRef<OpRow> quantRows() {
  static const OpRow rows[] = {
      {"Dequantize", importDequantize, "a range for the whole tensor that is known"},
  };
  return rows;
}

} // namespace atc::tf_import
