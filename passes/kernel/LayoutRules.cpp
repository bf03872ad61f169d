//===-- LayoutRules.cpp - which storage an operator can work on -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LayoutRules.h"

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/FiniteElements.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

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

namespace {

/// Constants with more elements are data.
constexpr int64_t kMaxScalars = 1 << 16;
constexpr unsigned kMaxFormulas = 3;

std::optional<Growth> growthOfResult(Operation *op, unsigned depth);

/// Returns the growth of the elements of a tensor that a formula reads: bounds where constants and
/// functions with finite ranges make it.
std::optional<Growth> growthOfTensor(Value tensor, unsigned depth) {
  Operation *op = tensor.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return tensorType(tensor).getNumElements() <= kMaxScalars ? growthOf(constant.getValue())
                                                              : Growth();
  if (!op || depth == kMaxFormulas)
    return Growth();
  if (isa<ReshapeOp, CastOp, SliceOp, ResizeOp, MaxPoolOp, AveragePoolOp>(op))
    return growthOfTensor(op->getOperand(0), depth + 1);
  auto activation = op->getAttrOfType<ActivationAttr>("activation");
  const bool isSigmoid = activation && (activation.getKind() == ActivationKind::Sigmoid ||
                                        activation.getKind() == ActivationKind::HardSigmoid ||
                                        activation.getKind() == ActivationKind::Tanh);
  if (isSigmoid && op->hasTrait<IsContraction>() && !op->getAttr("residual_last"))
    return Growth::between(-1, 1);
  // What another formula makes of large numbers is its own matter.
  std::optional<Growth> growth =
      isElementwise(op) ? growthOfResult(op, depth + 1) : std::optional<Growth>();
  return growth && std::isfinite(growth->bound()) ? growth : Growth();
}

std::optional<Growth> growthOfResult(Operation *op, unsigned depth) {
  SmallVector<std::optional<Growth>> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(growthOfTensor(operand, depth));
  if (auto map = dyn_cast<MapOp>(op))
    return growthOf(map.getBody().front(), arguments);
  Block body;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&body);
  for (Value operand : op->getOperands()) {
    Type type = tensorType(operand).getElementType();
    if (auto integer = dyn_cast<IntegerType>(type))
      type = builder.getIntegerType(integer.getWidth());
    body.addArgument(type, op->getLoc());
  }
  Value result =
      cast<ElementwiseOpInterface>(op).buildScalar(builder, op->getLoc(), body.getArguments());
  YieldOp::create(builder, op->getLoc(), result);
  return growthOf(body, arguments);
}

/// Returns whether formulas make numbers of f16 of `value`.
bool becomesHalf(Value value) {
  SmallVector<Value> values{value};
  llvm::SmallDenseSet<Value> seen{value};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers())
      for (Value result : user->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (type && type.getElementType().isF16())
          return true;
        if (type && type.getElementType().isF32() && !user->hasTrait<IsContraction>() &&
            seen.insert(result).second)
          values.push_back(result);
      }
  return false;
}

} // namespace

/// Returns whether lanes past the last channel may become infinite or NaN, which the cube would
/// multiply by zero. Numbers of f32 reach the cube once they are f16.
static bool canBecomeInfinite(Operation *op) {
  Value result = op->getResult(0);
  Type element = tensorType(result).getElementType();
  if (!element.isF16() && !(element.isF32() && becomesHalf(result)))
    return false;
  return !growthOfResult(op, 0);
}

static LayoutRule elementwiseRule(Operation *op, int64_t block) {
  Value result = op->getResult(0);
  if (tensorType(result).getDimSize(1) % block != 0 && (canTrap(op) || canBecomeInfinite(op)))
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

static LayoutRule reduceRule(ReduceOp op, int64_t block) {
  // The logarithm of zero, and what powers make of lanes past the last channel.
  const bool isRisky = op.getKind() == ReduceKind::LogSum || op.getKind() == ReduceKind::Prod ||
                       op.getKind() == ReduceKind::SumSquare;
  if (isRisky && isa<FloatType>(tensorType(op.getResult()).getElementType()) &&
      isRank4(op.getInput()) && tensorType(op.getInput()).getDimSize(1) % block != 0)
    return {};
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
      .Case([&](ReduceOp reduce) { return reduceRule(reduce, block); })
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
