//===-- HalfRange.cpp - numbers beyond the range of f16 -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/select/HalfRange.h"
#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::npu {
namespace {

constexpr double kLargestHalf = 65504;
constexpr double kSmallestMask = -49152; ///< leaves room for scores

/// Returns whether `value` is made of a number that is too large for f16.
bool isMadeOfTooLarge(Value value) {
  return isMadeOfNumber(value, kLargestHalf, std::numeric_limits<double>::max());
}

Value makeNumber(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
}

int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns whether a mask may be finite and beyond f16.
bool mayBeTooLarge(Value mask) {
  if (auto constant = mask.getDefiningOp<graph::ConstantOp>())
    return countTooLarge(constant);
  if (auto map = mask.getDefiningOp<graph::MapOp>())
    return isMadeOfTooLarge(map.getBody().front().getTerminator()->getOperand(0));
  return isa<BlockArgument>(mask);
}

/// Returns whether a row of a mask is finite and so far from zero that f16 rounds scores which are
/// added to it.
bool hasMaskedRow(graph::ConstantOp constant) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant.getValue());
  if (failed(bytes) || !bytes->getType().getElementType().isF32() ||
      bytes->getType().getRank() == 0 || bytes->getType().getNumElements() == 0)
    return false;
  auto values = bytes->expandedAs<float>();
  const int64_t columns = bytes->getType().getShape().back();
  // A row of -inf alone is NaN in any type.
  int64_t column = 0, masked = 0;
  bool isFinite = false;
  for (float value : values) {
    isFinite |= std::isfinite(value);
    masked += value <= float(-kFarFromZero);
    if (++column < columns)
      continue;
    if (masked == columns && isFinite)
      return true;
    column = masked = 0;
    isFinite = false;
  }
  return false;
}

} // namespace

bool isMadeOfNumber(Value value, double min, double max) {
  // Each once, however often it is read.
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::APFloat number(0.0);
    if (matchPattern(values[i], m_ConstantFloat(&number)) && number.isFinite() &&
        std::abs(number.convertToDouble()) > min && std::abs(number.convertToDouble()) <= max)
      return true;
    if (Operation *op = values[i].getDefiningOp();
        isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
                        arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
                        arith::SelectOp>(op))
      values.insert_range(op->getOperands());
  }
  return false;
}

void forEachMask(func::FuncOp function,
                 llvm::function_ref<void(Value mask, ArrayRef<Operation *> ops)> visit) {
  for (Operation &op : function.getOps()) {
    if (!isa<graph::SoftmaxOp, graph::LogSoftmaxOp>(op))
      continue;
    SmallVector<Operation *> ops{&op};
    Operation *maker = op.getOperand(0).getDefiningOp();
    for (; isa_and_nonnull<graph::ReshapeOp>(maker); maker = maker->getOperand(0).getDefiningOp())
      ops.push_back(maker);
    auto map = dyn_cast_or_null<graph::MapOp>(maker);
    if (!map)
      continue;
    ops.push_back(map);
    for (auto [input, argument] : llvm::zip(map.getInputs(), map.getBody().getArguments())) {
      Value mask = input;
      while (auto reshape = mask.getDefiningOp<graph::ReshapeOp>())
        mask = reshape.getInput();
      if (argument.getType().isF32() && countElements(mask) < countElements(map.getResult()) &&
          llvm::all_of(argument.getUsers(), llvm::IsaPred<arith::AddFOp>) &&
          llvm::all_of(mask.getUsers(), llvm::IsaPred<graph::MapOp, graph::ReshapeOp>))
        visit(mask, ops);
    }
  }
}

int64_t countTooLarge(graph::ConstantOp constant) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant.getValue());
  if (failed(bytes) || !bytes->getType().getElementType().isF32())
    return 0;
  auto tooLarge = [](float value) {
    return std::isfinite(value) && std::abs(value) > float(kLargestHalf);
  };
  if (bytes->isSplat())
    return tooLarge(bytes->as<float>().front()) ? bytes->getType().getNumElements() : 0;
  return llvm::count_if(bytes->expandedAs<float>(), tooLarge);
}

Value keepFinite(OpBuilder &builder, Value value) {
  if (!isMadeOfTooLarge(value))
    return value;
  Location loc = value.getLoc();
  llvm::APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return makeNumber(builder, loc, constant.isNegative() ? -kLargestHalf : kLargestHalf);
  if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    Value yes = keepFinite(builder, select.getTrueValue());
    Value no = keepFinite(builder, select.getFalseValue());
    return arith::SelectOp::create(builder, loc, select.getCondition(), yes, no);
  }
  value = arith::MinimumFOp::create(builder, loc, value, makeNumber(builder, loc, kLargestHalf));
  return arith::MaximumFOp::create(builder, loc, value, makeNumber(builder, loc, -kLargestHalf));
}

SetVector<Value> findMasks(func::FuncOp function) {
  SetVector<Value> masks;
  forEachMask(function, [&](Value mask, ArrayRef<Operation *>) {
    if (mayBeTooLarge(mask))
      masks.insert(mask);
  });
  return masks;
}

DenseSet<Operation *> findSoftmaxesOfMaskedRows(func::FuncOp function) {
  DenseSet<Operation *> found;
  forEachMask(function, [&](Value mask, ArrayRef<Operation *> ops) {
    auto constant = mask.getDefiningOp<graph::ConstantOp>();
    if (constant && hasMaskedRow(constant))
      found.insert_range(ops);
  });
  return found;
}

Value clampMask(OpBuilder &builder, Value value) {
  Location loc = value.getLoc();
  Value infinite = makeNumber(builder, loc, -std::numeric_limits<double>::infinity());
  Value isInfinite =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, infinite);
  Value clamped =
      arith::MaximumFOp::create(builder, loc, value, makeNumber(builder, loc, kSmallestMask));
  return arith::SelectOp::create(builder, loc, isInfinite, value, clamped);
}

ElementsAttr clampMask(graph::ConstantOp constant) {
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant.getValue());
  SmallVector<float> values;
  for (float value : bytes->expandedAs<float>())
    values.push_back(std::isfinite(value) ? std::max(value, float(kSmallestMask)) : value);
  return graph::makeConstant(cast<RankedTensorType>(constant.getType()), ArrayRef(values), "mask");
}

} // namespace atc::npu
