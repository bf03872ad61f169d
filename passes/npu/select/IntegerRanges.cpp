//===-- IntegerRanges.cpp - how large integers can be ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/IntegerRanges.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/IndexBound.h"
#include "dialects/om/Om.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace atc::npu {

namespace {

using MaybeRange = std::optional<IntegerRange>;

/// Returns the range, or nothing where it reaches out of 32 bits: products of two ranges that are
/// kept fit into 64 bits.
MaybeRange limited(int64_t min, int64_t max) {
  constexpr int64_t limit = INT32_MAX;
  if (min < -limit || max > limit)
    return std::nullopt;
  return IntegerRange{min, max};
}

template <typename T> MaybeRange rangeOf(ArrayRef<T> numbers) {
  if (numbers.empty())
    return std::nullopt;
  auto [min, max] = std::minmax_element(numbers.begin(), numbers.end());
  return limited(int64_t(*min), int64_t(*max));
}

MaybeRange rangeOfWeight(om::WeightOp weight) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(weight.getValue());
  if (failed(bytes))
    return std::nullopt;
  Type element = weight.getValue().getElementType();
  if (element.isSignlessInteger(64))
    return rangeOf(bytes->expandedAs<int64_t>());
  if (element.isSignlessInteger(32))
    return rangeOf(bytes->expandedAs<int32_t>());
  return std::nullopt;
}

/// Returns the range that an attribute of an argument of @main gives: a run refuses other indices.
MaybeRange rangeOfArgument(BlockArgument argument) {
  if (auto indices = graph::IndexRange::of(argument)) {
    const int64_t size = *std::max_element(indices->sizes.begin(), indices->sizes.end());
    return limited(indices->wraps ? -size : 0, size - 1);
  }
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto bound = function ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                                 graph::kIndicesBelowAttr)
                        : IntegerAttr();
  return bound ? limited(0, bound.getInt() - 1) : std::nullopt;
}

MaybeRange productOf(const IntegerRange &a, const IntegerRange &b) {
  const int64_t products[] = {a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max};
  return limited(*std::min_element(products, std::end(products)),
                 *std::max_element(products, std::end(products)));
}

/// Returns the range of a quotient, which is no farther from 0 than the dividend.
MaybeRange quotientOf(const IntegerRange &a, const IntegerRange &b) {
  if (b.min <= 0 && b.max >= 0)
    return std::nullopt;
  if (b.min > 0)
    return limited(a.min < 0 ? a.min / b.min : a.min / b.max,
                   a.max < 0 ? a.max / b.max : a.max / b.min);
  return limited(-a.size(), a.size());
}

/// Returns the range of a remainder, which has the sign of the dividend.
MaybeRange remainderOf(const IntegerRange &a, const IntegerRange &b) {
  if (b.min <= 0 && b.max >= 0)
    return std::nullopt;
  const int64_t max = b.size() - 1;
  return limited(std::max(std::min<int64_t>(a.min, 0), -max),
                 std::min(std::max<int64_t>(a.max, 0), max));
}

/// Returns the number of a constant; nothing for other values.
std::optional<double> numberOf(Value value) {
  FloatAttr number;
  APInt integer;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  if (matchPattern(value, m_ConstantInt(&integer)) && integer.getSignificantBits() <= 32)
    return double(integer.getSExtValue());
  return std::nullopt;
}

/// Returns the range that a number has between constants to which it is clamped.
MaybeRange rangeOfClamped(Value value) {
  double min = -INFINITY, max = INFINITY;
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    const bool isAbove = isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op);
    if (!isAbove && !isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
      break;
    std::optional<double> number = numberOf(op->getOperand(1));
    if (!number)
      break;
    // A bound that is applied later holds for those before it.
    if (isAbove && std::isinf(min))
      min = std::min(*number, max);
    else if (!isAbove && std::isinf(max))
      max = std::max(*number, min);
  }
  constexpr double tooLarge = 1e9;
  if (!(std::abs(min) < tooLarge && std::abs(max) < tooLarge))
    return std::nullopt;
  return limited(int64_t(min), int64_t(max));
}

/// Returns the range of what an op of a body computes.
MaybeRange rangeOfOp(Operation &op, const ValueRanges &ranges) {
  APInt number;
  if (matchPattern(op.getResult(0), m_ConstantInt(&number)))
    return number.getSignificantBits() > 32 ? MaybeRange()
                                            : limited(number.getSExtValue(), number.getSExtValue());
  auto of = [&](unsigned index) { return ranges.lookup(op.getOperand(index)); };
  auto both = [&](auto compute) -> MaybeRange {
    MaybeRange a = of(0), b = of(1);
    return a && b ? compute(*a, *b) : std::nullopt;
  };
  auto clamped = [&](auto compute) {
    MaybeRange range = both(compute);
    return range ? range : rangeOfClamped(op.getResult(0));
  };
  return llvm::TypeSwitch<Operation *, MaybeRange>(&op)
      .Case<arith::AddIOp>([&](auto) {
        return both([](auto a, auto b) { return limited(a.min + b.min, a.max + b.max); });
      })
      .Case<arith::SubIOp>([&](auto) {
        return both([](auto a, auto b) { return limited(a.min - b.max, a.max - b.min); });
      })
      .Case<arith::MulIOp>([&](auto) { return both(productOf); })
      .Case<arith::DivSIOp>([&](auto) { return both(quotientOf); })
      .Case<arith::RemSIOp>([&](auto) { return both(remainderOf); })
      .Case<arith::MaxSIOp>([&](auto) {
        return clamped(
            [](auto a, auto b) { return limited(std::max(a.min, b.min), std::max(a.max, b.max)); });
      })
      .Case<arith::MinSIOp>([&](auto) {
        return clamped(
            [](auto a, auto b) { return limited(std::min(a.min, b.min), std::min(a.max, b.max)); });
      })
      .Case<arith::SelectOp>([&](auto) -> MaybeRange {
        MaybeRange yes = of(1), no = of(2);
        return yes && no ? MaybeRange(yes->joined(*no)) : std::nullopt;
      })
      .Case<arith::ExtUIOp>([&](arith::ExtUIOp extension) -> MaybeRange {
        const unsigned bits = extension.getIn().getType().getIntOrFloatBitWidth();
        if (bits <= 8)
          return IntegerRange{0, (1 << bits) - 1};
        MaybeRange range = of(0);
        return range && range->min >= 0 ? range : std::nullopt;
      })
      .Case<arith::ExtSIOp>([&](arith::ExtSIOp extension) -> MaybeRange {
        return extension.getIn().getType().isInteger(8) ? IntegerRange{-128, 127} : of(0);
      })
      .Case<arith::FPToSIOp>([&](auto) { return rangeOfClamped(op.getOperand(0)); })
      .Case<arith::TruncIOp>([&](arith::TruncIOp truncation) -> MaybeRange {
        // Ranges that are known fit into 32 bits, so a truncation to these keeps the value.
        return truncation.getType().isInteger(32) ? of(0) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool isInteger(Value buffer) {
  return isa<IntegerType>(cast<MemRefType>(buffer.getType()).getElementType());
}

} // namespace

ValueRanges IntegerRanges::ofBody(kernel::MapOp map) {
  ValueRanges ranges;
  for (auto [argument, input] : llvm::zip_equal(map.getBody().getArguments(), map.getInputs()))
    if (isa<IntegerType>(argument.getType()))
      ranges[argument] = ofBuffer(input);
  for (Operation &op : map.getBody().front().without_terminator())
    if (op.getNumResults() == 1 && isa<IntegerType>(op.getResult(0).getType()))
      ranges[op.getResult(0)] = rangeOfOp(op, ranges);
  return ranges;
}

std::optional<IntegerRange> IntegerRanges::ofBuffer(Value buffer) {
  Value root = om::resolveViews(buffer).root;
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (element != cast<MemRefType>(root.getType()).getElementType())
    return std::nullopt;
  auto [entry, isNew] = known.try_emplace(root, std::nullopt);
  if (!isNew)
    return entry->second;
  if (auto weight = root.getDefiningOp<om::WeightOp>())
    entry->second = rangeOfWeight(weight);
  else if (auto argument = dyn_cast<BlockArgument>(root))
    entry->second = rangeOfArgument(argument);
  return entry->second;
}

MaybeRange IntegerRanges::ofResult(kernel::KernelOpInterface op) {
  return llvm::TypeSwitch<Operation *, MaybeRange>(op)
      .Case<kernel::MapOp>([&](kernel::MapOp map) {
        return ofBody(map).lookup(map.getBody().front().getTerminator()->getOperand(0));
      })
      .Case<kernel::CopyOp, kernel::PackOp, kernel::UnpackOp, kernel::PadOp, kernel::GatherOp>(
          [&](auto move) { return ofBuffer(move.getInput()); })
      .Case<kernel::FillOp>([&](kernel::FillOp fill) {
        const double value = fill.getValue().convertToDouble();
        return std::abs(value) < 1e9 ? limited(int64_t(value), int64_t(value)) : MaybeRange();
      })
      .Case<kernel::ArgReduceOp>([&](kernel::ArgReduceOp arg) {
        auto type = cast<MemRefType>(arg.getInput().getType());
        return limited(0, type.getDimSize(arg.getAxis()) - 1);
      })
      .Default([](Operation *) { return std::nullopt; });
}

void IntegerRanges::note(Operation *op) {
  auto kernelOp = dyn_cast<kernel::KernelOpInterface>(op);
  if (!kernelOp) {
    if (!isa<om::ViewOp, om::AllocOp, om::WeightOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()))
          known[om::resolveViews(operand).root] = std::nullopt;
    return;
  }
  Value output = kernelOp.output(), root = om::resolveViews(output).root;
  if (!isInteger(output) || !isInteger(root))
    return;
  const bool isFirst = !known.contains(root);
  MaybeRange range = ofResult(kernelOp);
  std::optional<IntegerRange> &all = known[root];
  if (isFirst)
    all = range;
  else
    all = all && range ? MaybeRange(all->joined(*range)) : std::nullopt;
}

} // namespace atc::npu
