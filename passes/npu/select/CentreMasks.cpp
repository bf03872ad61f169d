//===-- CentreMasks.cpp - rows of masks that hide all keys ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/npu/select/HalfRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace atc::npu {
namespace {

constexpr double kHidesInFloat = 0x1p23; ///< so does f32 beyond it

int64_t sizeOfTensor(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

Value makeFloat(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(float(value)));
}

/// The part of a map's code that makes an addend: its ops in order, and the inputs that they read.
struct MadeAddend {
  SetVector<Operation *> ops;
  SetVector<BlockArgument> arguments;
};

/// Returns how a map makes an addend of inputs that are smaller than its result, together too, and
/// the shape of that; nothing where it does not.
std::optional<std::pair<MadeAddend, SmallVector<int64_t>>> readMadeMask(graph::MapOp map,
                                                                        Value addend) {
  if (!addend.getDefiningOp() || !addend.hasOneUse() || !addend.getType().isF32() ||
      !isMadeOfNumber(addend, kFarFromZero, kHidesInFloat))
    return std::nullopt;
  MadeAddend made;
  SmallVector<Value> values{addend};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value))
      made.arguments.insert(argument);
    else if (made.ops.insert(value.getDefiningOp()))
      llvm::append_range(values, value.getDefiningOp()->getOperands());
  }
  SmallVector<int64_t> shape;
  for (BlockArgument argument : made.arguments) {
    SmallVector<int64_t> wider;
    auto input = cast<RankedTensorType>(map.getInputs()[argument.getArgNumber()].getType());
    if (!OpTrait::util::getBroadcastedShape(shape, input.getShape(), wider))
      return std::nullopt;
    shape = wider;
  }
  if (made.arguments.empty() || shape.empty() ||
      ShapedType::getNumElements(shape) >= sizeOfTensor(map.getResult()))
    return std::nullopt;
  return std::pair(made, shape);
}

/// Computes masks that were fused into the additions to scores apart again, on fewer elements.
void separateMask(graph::MapOp map) {
  Block &body = map.getBody().front();
  SmallVector<OpOperand *> addends;
  for (auto sum : body.getOps<arith::AddFOp>())
    for (OpOperand &operand : sum->getOpOperands())
      addends.push_back(&operand);
  for (OpOperand *addend : addends) {
    auto made = readMadeMask(map, addend->get());
    if (!made)
      continue;
    auto &[code, shape] = *made;
    OpBuilder builder(map);
    Location loc = graph::derivedLoc(map.getLoc(), "mask");
    SmallVector<Value> inputs;
    for (BlockArgument argument : code.arguments)
      inputs.push_back(map.getInputs()[argument.getArgNumber()]);
    auto mask = graph::MapOp::create(builder, loc,
                                     RankedTensorType::get(shape, builder.getF32Type()), inputs);
    Block *block = builder.createBlock(&mask.getBody());
    IRMapping mapping;
    for (BlockArgument argument : code.arguments)
      mapping.map(argument, block->addArgument(argument.getType(), loc));
    for (Operation &op : body)
      if (code.ops.contains(&op))
        builder.clone(op, mapping);
    graph::YieldOp::create(builder, loc, mapping.lookup(addend->get()));
    map.getInputsMutable().append(mask.getResult());
    addend->set(body.addArgument(builder.getF32Type(), loc));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      map.getInputsMutable().erase(i);
    }
}

/// Returns whether a map only adds constants to an argument, and scales it: what is taken off a
/// whole row of it does not change a softmax.
bool isOnlyShifted(BlockArgument argument) {
  Value value = argument;
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    if (isa<graph::YieldOp>(user))
      return true;
    llvm::APFloat number(0.0);
    const bool isScale = isa<arith::MulFOp, arith::DivFOp>(user) && user->getOperand(0) == value &&
                         matchPattern(user->getOperand(1), m_ConstantFloat(&number));
    if (!isScale && !isa<arith::AddFOp>(user))
      return false;
    value = user->getResult(0);
  }
  return false;
}

/// Returns a value and what it is a reshape of, down to the first that is none.
SmallVector<Value> reshapesUpTo(Value value) {
  SmallVector<Value> values{value};
  while (auto reshape = values.back().getDefiningOp<graph::ReshapeOp>())
    values.push_back(reshape.getInput());
  return values;
}

/// Returns `mask` with centred rows.
Value centre(Value mask) {
  OpBuilder builder(mask.getContext());
  builder.setInsertionPointAfterValue(mask);
  Location loc = graph::derivedLoc(mask.getLoc(), "centred");
  auto type = cast<RankedTensorType>(mask.getType());
  Value max = graph::ReduceOp::create(builder, loc, mask, graph::ReduceKind::Max,
                                      ArrayRef<int64_t>(type.getRank() - 1), /*keepdims=*/true);
  auto map = graph::MapOp::create(builder, loc, type, ValueRange{mask, max});
  Type f32 = type.getElementType();
  Block *body = builder.createBlock(&map.getBody(), {}, {f32, f32}, {loc, loc});
  Value number = body->getArgument(0), largest = body->getArgument(1);
  auto compare = [&](arith::CmpFPredicate predicate, double limit) {
    return arith::CmpFOp::create(builder, loc, predicate, largest, makeFloat(builder, loc, limit));
  };
  // Not of a row of -inf either, which is NaN in any type.
  Value isFar = compare(arith::CmpFPredicate::OLE, -kFarFromZero);
  Value isExact = compare(arith::CmpFPredicate::OGE, -kHidesInFloat);
  Value zero = makeFloat(builder, loc, 0);
  Value shift = arith::SelectOp::create(builder, loc, isFar, largest, zero);
  shift = arith::SelectOp::create(builder, loc, isExact, shift, zero);
  graph::YieldOp::create(builder, loc,
                         arith::SubFOp::create(builder, loc, number, shift).getResult());
  return map.getResult();
}

} // namespace

SmallVector<CentredMask> centreMasks(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getOps()))
    if (isa<graph::SoftmaxOp, graph::LogSoftmaxOp>(op)) {
      auto map = reshapesUpTo(op.getOperand(0)).back().getDefiningOp<graph::MapOp>();
      if (map && map->hasOneUse())
        separateMask(map);
    }
  // Found before any is centred, whose ops are further users of a mask.
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  forEachMask(function, [&](Value mask, ArrayRef<Operation *> ops) {
    auto map = mask.getDefiningOp<graph::MapOp>();
    const bool mayBeFar = map ? isMadeOfNumber(map.getBody().front().getTerminator()->getOperand(0),
                                               kFarFromZero, kHidesInFloat)
                              : isa<BlockArgument>(mask);
    // Who else reads the sum would see the shift.
    if (!llvm::all_of(llvm::drop_begin(ops), [](Operation *op) { return op->hasOneUse(); }))
      return;
    Operation *softmax = ops.front();
    auto sum = cast<graph::MapOp>(ops.back());
    const int64_t last = sum.getType().getShape().back();
    auto rows = cast<RankedTensorType>(softmax->getResult(0).getType()).getShape();
    const int64_t axis = softmax->getAttrOfType<IntegerAttr>("axis").getInt();
    if (!mayBeFar || axis != int64_t(rows.size()) - 1 || last != rows.back())
      return;
    for (OpOperand &operand : sum->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      if (reshapesUpTo(operand.get()).back() == mask && type.getRank() > 0 &&
          isOnlyShifted(sum.getBody().getArgument(operand.getOperandNumber())))
        uses[operand.get()].push_back(&operand);
    }
  });
  SmallVector<CentredMask> centred;
  for (auto &[mask, operands] : uses) {
    Value result = centre(mask);
    for (OpOperand *operand : operands)
      operand->set(result);
    centred.push_back({result, reshapesUpTo(mask)});
    centred.back().exact.push_back(result.getDefiningOp()->getOperand(1));
  }
  return centred;
}

} // namespace atc::npu
