//===-- ElementBits.cpp - operators on the bits of elements ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// Returns the bits of each element as another type of the same width.
Value bitsAs(NodeContext &n, Value value, Type type) {
  if (NodeContext::elementType(value) == type)
    return value;
  return n.callHost("BitCast", {value}, {n.hostInts("to", {graph::dtypeOf(type)})});
}

/// The bits of each element as another type. An element of more bits becomes several along one more
/// last dim, the lowest bits first; all along the last dim become one of more bits.
void importBitcast(NodeContext &n) {
  Value input = n.input(0);
  Type type = n.typeAttr("type", pb::DT_FLOAT);
  if (n.failed())
    return;
  Type from = n.elementType(input);
  if (!from.isIntOrFloat() || !type.isIntOrFloat() || from.isInteger(1) || type.isInteger(1))
    return n.failAttribute("type", "is no type of numbers, or the input holds none");
  const unsigned before = from.getIntOrFloatBitWidth(), after = type.getIntOrFloatBitWidth();
  if (before == after)
    return n.setOutput(n.callHost("BitCast", {input}, {n.hostInts("to", {graph::dtypeOf(type)})}));
  if (!NodeContext::hasRank(input))
    return n.failInput(0, "has no known rank");
  SmallVector<int64_t> shape(n.shape(input));
  const int64_t rank = n.rank(input), parts = std::max(before, after) / std::min(before, after);
  const Type narrow = n.builder().getIntegerType(std::min(before, after), false),
             wide = n.builder().getIntegerType(std::max(before, after), false);
  SmallVector<int64_t> positions;
  for (int64_t part = 0; part < parts; ++part)
    positions.push_back(part * narrow.getIntOrFloatBitWidth());
  Value shifts = n.cast(n.intList(positions), wide);
  auto shifted = [&](Value value, StringRef direction) {
    return n.callHost("BitShift", {value, shifts}, {n.hostText("direction", direction)});
  };
  if (before > after) {
    Value whole = n.callHost("Unsqueeze", {bitsAs(n, input, wide), n.intList({rank})});
    const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(after);
    Value lowest =
        n.callHost("BitwiseAnd", {shifted(whole, "RIGHT"),
                                  n.cast(n.intList({static_cast<int64_t>(mask)}), wide)});
    shape.push_back(parts);
    return n.setOutput(withKnownDims(n, bitsAs(n, n.cast(lowest, narrow), type), shape, 0));
  }
  if (rank == 0 || (!ShapedType::isDynamic(shape.back()) && shape.back() != parts))
    return n.failInput(0, "has " + Twine(rank ? shape.back() : 1) +
                              " elements along its last dim, expected the " + Twine(parts) +
                              " of one element");
  // A run with another number of parts fails; the bits of the parts are disjoint.
  Value sized = n.callHost(
      "Reshape", {input, n.callHost("Concat",
                                    {n.callHost("Shape", {input}, {n.hostInts("end", {-1})}),
                                     n.intList({parts})},
                                    {n.hostInts("axis", {0})})});
  Value whole = n.callHost(
      "ReduceSum", {shifted(n.cast(bitsAs(n, sized, narrow), wide), "LEFT"), n.intList({rank - 1})},
      {n.hostInts("keepdims", {0})});
  shape.pop_back();
  n.setOutput(withKnownDims(n, bitsAs(n, whole, type), shape, 0));
}

/// The neighbor of x towards y. The bits of floats of one sign, as integers, rise with their size.
void importNextAfter(NodeContext &n) {
  Value x = n.input(0), y = n.input(1);
  if (n.failed())
    return;
  const Type element = n.elementType(x);
  const Type bits = n.builder().getIntegerType(element.getIntOrFloatBitWidth());
  TensorMath m(n);
  Value one = n.scalar(1, bits), minus = n.scalar(-1, bits), zero = n.scalar(0, element);
  Value isUp = m.greater(y, x), isPositive = m.greater(x, zero);
  Value step = m.select(isUp, m.select(isPositive, one, minus), m.select(isPositive, minus, one));
  Value moved = bitsAs(n, m.add(bitsAs(n, x, bits), step), element);
  Value min = bitsAs(n, one, element);
  Value fromZero = m.select(isUp, min, m.sub(zero, min));
  Value result = m.select(m.equal(x, y), y, m.select(m.equal(x, zero), fromZero, moved));
  // NaN is equal to nothing.
  n.setOutput(m.select(m.equal(x, x), m.select(m.equal(y, y), result, y), x));
}

/// The number of bits of each integer that are set.
void importPopulationCount(NodeContext &n) {
  Value input = n.input(0);
  if (n.failed())
    return;
  const unsigned width = n.elementType(input).getIntOrFloatBitWidth();
  const Type wide = n.builder().getIntegerType(64, false);
  TensorMath m(n);
  Value bits = n.cast(bitsAs(n, input, n.builder().getIntegerType(width, false)), wide);
  Value positions =
      n.cast(n.intList(llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(width)))), wide);
  Value shifted =
      n.callHost("BitShift", {n.callHost("Unsqueeze", {bits, n.intList({-1})}), positions},
                 {n.hostText("direction", "RIGHT")});
  Value set = m.toIndex(n.callHost("BitwiseAnd", {shifted, n.cast(m.index(1), wide)}));
  Value count = n.callHost("ReduceSum", {set, n.intList({-1})}, {n.hostInts("keepdims", {0})});
  count = n.cast(count, n.builder().getIntegerType(8, false));
  n.setOutput(NodeContext::hasRank(input) ? withKnownDims(n, count, n.shape(input), 0) : count);
}

} // namespace

ArrayRef<OpRow> bitRows() {
  static const OpRow rows[] = {
      {"Bitcast", importBitcast, "numbers"},
      {"NextAfter", importNextAfter},
      {"PopulationCount", importPopulationCount},
  };
  return rows;
}

} // namespace atc::tf_import
