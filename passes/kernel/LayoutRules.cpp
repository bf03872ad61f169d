//===-- LayoutRules.cpp - which storage an operator can work on -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LayoutRules.h"

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::graph;

namespace atc::kernel {

namespace {

bool isRank4(Value value) { return tensorType(value).getRank() == 4; }

/// Returns how many bytes a blocked tensor takes more than a plain one.
int64_t growth(Value value, int64_t block) {
  RankedTensorType type = tensorType(value);
  return storedBytes(type, block) - storedBytes(type, 0);
}

bool isTrapping(Operation &op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// Lanes past the last channel hold anything, so an op that divides integers
/// could trap on them.
bool canTrap(Operation *op) {
  if (isa<DivOp, ModOp>(op))
    return !isa<FloatType>(tensorType(op->getResult(0)).getElementType());
  auto map = dyn_cast<MapOp>(op);
  return map && llvm::any_of(map.getBody().front(), isTrapping);
}

} // namespace

bool isElementwise(Operation *op) { return isa<MapOp, ElementwiseOpInterface>(op); }

bool isCubeContraction(Operation *op) {
  return op && op->hasTrait<IsContraction>() && !isa<ConvTransposeOp>(op) &&
         tensorType(op->getOperand(0)).getElementType().isF16() &&
         tensorType(op->getOperand(1)).getElementType().isF16();
}

bool readsImage(ConvOp conv) {
  return isCubeContraction(conv) && isRank4(conv.getInput()) && conv.getGroups() == 1 &&
         tensorType(conv.getInput()).getDimSize(1) <= 4;
}

bool isSliceView(SliceOp slice, int64_t block) {
  if (llvm::any_of(slice.getSteps(), [](int64_t step) { return step < 0; }))
    return false;
  return block == 0 || (slice.getSteps()[1] == 1 && slice.getStarts()[1] % block == 0);
}

/// The cube multiplies lanes past the last channel by zero, and that is zero only
/// for what is finite.
bool canBecomeInfinite(Operation *op) {
  if (!tensorType(op->getResult(0)).getElementType().isF16())
    return false;
  auto isRisky = [](Operation &inner) {
    // A quotient by a constant other than zero is a product.
    llvm::APFloat divisor(0.0);
    if (isa<arith::DivFOp>(inner) && matchPattern(inner.getOperand(1), m_ConstantFloat(&divisor)))
      return !divisor.isFiniteNonZero();
    return isa<arith::DivFOp, math::LogOp, math::Log1pOp, math::Log2Op, math::RsqrtOp, math::SqrtOp,
               math::PowFOp, math::TanOp>(inner);
  };
  auto map = dyn_cast<MapOp>(op);
  return map ? llvm::any_of(map.getBody().front(), isRisky)
             : isa<DivOp, LogOp, RsqrtOp, ReciprocalOp, SqrtOp, PowOp, TanOp>(op);
}

static LayoutRule elementwiseRule(Operation *op, int64_t block) {
  Value result = op->getResult(0);
  bool risky = canTrap(op) || canBecomeInfinite(op);
  if (risky && tensorType(result).getDimSize(1) % block != 0)
    return {};
  LayoutRule rule{LayoutRule::Either};
  rule.blockedCost = growth(result, block);
  for (OpOperand &operand : op->getOpOperands())
    if (isRank4(operand.get()) && wishOf(operand) == Wish::AsResult)
      rule.blockedCost += growth(operand.get(), block);
  return rule;
}

/// Channels that do not start at a block boundary are copied lane by lane, which is about half as
/// fast as copying them in the plain form.
static LayoutRule concatRule(ConcatOp op, int64_t block) {
  LayoutRule rule{LayoutRule::Either};
  rule.blockedCost = growth(op.getResult(), block);
  if (op.getAxis() != 1)
    return rule;
  int64_t channel = 0;
  for (Value part : op.getInputs()) {
    if (channel % block != 0)
      rule.blockedCost += 4 * storedBytes(tensorType(part), 0);
    channel += tensorType(part).getDimSize(1);
  }
  return rule;
}

static LayoutRule sliceRule(SliceOp op, int64_t block) {
  if (op.getSteps()[1] != 1 || llvm::any_of(op.getSteps(), [](int64_t step) { return step < 0; }))
    return {};
  LayoutRule rule{LayoutRule::Either};
  if (!isSliceView(op, block))
    rule.blockedCost = 4 * storedBytes(tensorType(op.getResult()), 0);
  return rule;
}

static LayoutRule resizeRule(ResizeOp op) {
  RankedTensorType in = tensorType(op.getInput()), out = tensorType(op.getResult());
  for (int dim : {0, 1})
    if (in.getDimSize(dim) != out.getDimSize(dim) || op.getScales()[dim] != 1.0)
      return {};
  // Plain rows are resampled column by column.
  return {LayoutRule::Either, storedBytes(out, 0), 0};
}

static LayoutRule padRule(PadOp op, int64_t block) {
  bool channels = op.getLow()[1] != 0 || op.getHigh()[1] != 0;
  if (channels || (op.getMode() != PadMode::Constant && (op.getLow()[0] || op.getHigh()[0])))
    return {};
  return {LayoutRule::Either, 0, growth(op.getResult(), block)};
}

static LayoutRule reduceRule(ReduceOp op) {
  bool spatial = llvm::all_of(op.getAxes(), [](int64_t axis) { return axis >= 2; });
  return {spatial && op.getKeepdims() ? LayoutRule::Either : LayoutRule::Plain};
}

LayoutRule layoutRuleOf(Operation *op, int64_t block) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !isRank4(op->getResult(0)))
    return {};
  if (isElementwise(op))
    return elementwiseRule(op, block);
  return llvm::TypeSwitch<Operation *, LayoutRule>(op)
      .Case<ConvOp, IntegerConvOp, MaxPoolOp, AveragePoolOp>(
          [](auto) { return LayoutRule{LayoutRule::Blocked}; })
      .Case([&](ConcatOp concat) { return concatRule(concat, block); })
      .Case([&](SliceOp slice) { return sliceRule(slice, block); })
      .Case([&](ResizeOp resize) { return resizeRule(resize); })
      .Case([&](PadOp pad) { return padRule(pad, block); })
      .Case([&](ReduceOp reduce) { return reduceRule(reduce); })
      .Default(LayoutRule{});
}

Wish wishOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isElementwise(op)) {
    RankedTensorType type = tensorType(operand.get()), result = tensorType(op->getResult(0));
    if (result.getRank() != 4)
      return Wish::Plain;
    bool oneChannel = type.getRank() == 4 && type.getDimSize(1) == 1 && result.getDimSize(1) != 1;
    return type.getRank() < 4 || oneChannel ? Wish::Broadcast : Wish::AsResult;
  }
  if (auto conv = dyn_cast<IntegerConvOp>(op)) {
    // Operands that are added to the accumulators have the accumulators' layout; scalars and
    // per-channel values are packed as vectors.
    unsigned index = operand.getOperandNumber();
    bool isSums = tensorType(operand.get()).getShape() == conv.getType().getShape();
    auto cube = op->getAttrOfType<StringAttr>(kCubeSumsAttr);
    if (index == 0 && cube && cube.getValue() == "image")
      return Wish::Plain;
    bool isInput = index >= op->getNumOperands() - conv.getInputs().size();
    return index == 0 || (isInput && isSums && conv.getType().getNumElements() > 1) ? Wish::Blocked
                                                                                    : Wish::Plain;
  }
  if (auto conv = dyn_cast<ConvOp>(op)) {
    Value value = operand.get();
    if (operand.getOperandNumber() == 0 && readsImage(conv))
      return Wish::Plain;
    bool image = isRank4(conv.getInput()) &&
                 (operand.getOperandNumber() == 0 || value == conv.getResidual());
    return image ? Wish::Blocked : Wish::Plain;
  }
  if (isa<ConcatOp, SliceOp, ResizeOp, PadOp, ReduceOp, MaxPoolOp, AveragePoolOp>(op))
    return isRank4(operand.get()) ? Wish::AsResult : Wish::Plain;
  // Whatever the storage, transposing is one copy.
  if (isa<TransposeOp>(op) && isRank4(operand.get()))
    return Wish::Any;
  return Wish::Plain;
}

} // namespace atc::kernel
