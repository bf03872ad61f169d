//===-- SelectInt8Contractions.cpp - selects contractions for the cube ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/kernel/LayoutRules.h"
#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"
#include "passes/npu/select/Int8Contractions.h"
#include "passes/npu/vector/VectorCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using atc::kernel::tensorType;

namespace atc::npu {
#define GEN_PASS_DEF_NPUSELECTINT8CONTRACTIONS
#include "passes/npu/Passes.h.inc"

namespace {

std::optional<double> knownNumber(Value value) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// `value` is op(x, constant): x and the constant.
template <typename OpT> std::optional<std::pair<Value, double>> matchWithConstant(Operation *op) {
  if (!isa_and_nonnull<OpT>(op))
    return std::nullopt;
  std::optional<double> number = knownNumber(op->getOperand(1));
  return number ? std::optional(std::pair(op->getOperand(0), *number)) : std::nullopt;
}

Operation *onlyUser(Value value) { return value.hasOneUse() ? *value.getUsers().begin() : nullptr; }

/// Matches the op with `x` = value along the only use, and advances `value`.
template <typename OpT> std::optional<double> follow(Value &value) {
  Operation *user = onlyUser(value);
  auto match = matchWithConstant<OpT>(user);
  if (!match || match->first != value)
    return std::nullopt;
  value = user->getResult(0);
  return match->second;
}

bool isKnownBias(Value bias) { return !bias || kernel::isKnown(bias); }

/// The filter's integers as the cube multiplies them: bytes with zero points of 0.
template <typename OpT> bool hasByteWeights(OpT op) {
  return llvm::all_of(op.getFilterZeroPoints(), [](int64_t zero) { return zero == 0; }) &&
         tensorType(op.getFilter()).getElementType().isSignlessInteger(8) &&
         kernel::isKnown(op.getFilter()) && isKnownBias(op.getBias());
}

/// Copies the code of the body that follows `value`, as which the first stored value is read.
template <typename OpT>
std::optional<SumEpilogue> readRest(OpT op, SumEpilogue epilogue, Value value) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  if (epilogue.first.factor == 0)
    epilogue.first.factor = 1;
  epilogue.rest = std::make_unique<Block>();
  IRMapping mapping;
  mapping.map(value, epilogue.rest->addArgument(value.getType(), op.getLoc()));
  for (unsigned i = 1; i < body.getNumArguments(); ++i) {
    if (epilogue.scales == i - 1)
      continue;
    RankedTensorType type = tensorType(op.getInputs()[i - 1]);
    if (epilogue.residual || type.getShape() != op.getType().getShape() ||
        type.getElementTypeBitWidth() != 8)
      return std::nullopt;
    epilogue.residual = i - 1;
    BlockArgument argument = body.getArgument(i);
    mapping.map(argument, epilogue.rest->addArgument(argument.getType(), op.getLoc()));
  }
  for (Operation &inner : body) {
    // Code that computes the first stored value is not copied.
    if (!llvm::all_of(inner.getOperands(),
                      [&](Value operand) { return mapping.contains(operand); }))
      continue;
    if (&inner == yield) {
      OpBuilder builder(op.getContext());
      builder.setInsertionPointToEnd(epilogue.rest.get());
      ir::YieldOp::create(builder, op.getLoc(), mapping.lookup(inner.getOperand(0)));
    } else {
      epilogue.rest->push_back(inner.clone(mapping));
    }
  }
  Operation *last = epilogue.rest->empty() ? nullptr : &epilogue.rest->back();
  if (!isa_and_nonnull<ir::YieldOp>(last) || !last->getOperand(0).getType().isInteger(8) ||
      !whyUnsupportedScalarCode(*epilogue.rest).empty())
    return std::nullopt;
  // Removes constants that are not used any more.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*epilogue.rest)))
    if (&inner != last && inner.use_empty())
      inner.erase();
  return epilogue;
}

/// Reads the beginning of a body, which scales the accumulators, up to the scaled value.
template <typename OpT> std::optional<std::pair<SumEpilogue, Value>> readScale(OpT op) {
  if (op.getBody().empty())
    return std::nullopt;
  Block &body = op.getBody().front();
  SumEpilogue epilogue;
  auto real = dyn_cast_or_null<arith::SIToFPOp>(onlyUser(body.getArgument(0)));
  auto scaled = real ? dyn_cast_or_null<arith::MulFOp>(onlyUser(real.getResult())) : nullptr;
  if (!scaled)
    return std::nullopt;
  Value scale = scaled.getLhs() == real ? scaled.getRhs() : scaled.getLhs();
  if (auto argument = dyn_cast<BlockArgument>(scale)) {
    epilogue.scales = argument.getArgNumber() - 1;
    Value input = op.getInputs()[*epilogue.scales];
    if (!argument.hasOneUse() || !kernel::isKnown(input) ||
        !tensorType(input).getElementType().isF32())
      return std::nullopt;
  } else if (std::optional<double> number = knownNumber(scale)) {
    epilogue.scale = *number;
  } else {
    return std::nullopt;
  }
  return std::pair(std::move(epilogue), Value(scaled.getResult()));
}

/// Reads the rounding and the bounds behind the scaled value, and advances `value` to the result,
/// which is an 8-bit integer as f32.
std::optional<Requantization> readRounding(Value &value, Requantization first) {
  auto round = dyn_cast_or_null<math::RoundEvenOp>(onlyUser(value));
  if (!round)
    return std::nullopt;
  value = round.getResult();
  first.offset = follow<arith::AddFOp>(value).value_or(0);
  std::optional<double> min = follow<arith::MaximumFOp>(value),
                        max = follow<arith::MinimumFOp>(value);
  bool isUnsigned = min == 0.0 && max == 255.0;
  if (!isUnsigned && !(min == -128.0 && max == 127.0))
    return std::nullopt;
  first.stored = IntegerType::get(round.getContext(), 8,
                                  isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  return first;
}

template <typename OpT> std::optional<SumEpilogue> readBody(OpT op) {
  auto start = readScale(op);
  if (!start)
    return std::nullopt;
  Block &body = op.getBody().front();
  auto &[epilogue, value] = *start;
  if (std::optional<double> bound = follow<arith::MaximumFOp>(value)) {
    if (*bound != 0)
      return std::nullopt;
    epilogue.first.relu = true;
  }
  // Also matches an upper bound: bounds and rounding may be exchanged where both bounds are 8-bit
  // integers, so that the rest of the code finds a rounded value.
  if (auto bound = matchWithConstant<arith::MinimumFOp>(onlyUser(value));
      bound && epilogue.first.relu && bound->first == value && bound->second > 0 &&
      bound->second <= 255) {
    epilogue.first.stored = IntegerType::get(op.getContext(), 8, IntegerType::Unsigned);
    return readRest(op, std::move(epilogue), value);
  }
  std::optional<Requantization> first = readRounding(value, epilogue.first);
  if (!first)
    return std::nullopt;
  epilogue.first = *first;
  bool isUnsigned = cast<IntegerType>(first->stored).isUnsigned();
  unsigned used = (epilogue.scales ? 1 : 0) + 1;
  Operation *store = onlyUser(value), *yield = body.getTerminator();
  if (isUnsigned ? isa_and_nonnull<arith::FPToUIOp>(store)
                 : isa_and_nonnull<arith::FPToSIOp>(store)) {
    if (yield->getOperand(0) != store->getResult(0) || used != body.getNumArguments())
      return std::nullopt;
    return std::move(epilogue);
  }

  // It is read again: less the zero point, times its scale.
  if (epilogue.first.offset != 0) {
    std::optional<double> zero = follow<arith::SubFOp>(value);
    if (zero != epilogue.first.offset)
      return std::nullopt;
  }
  epilogue.first.factor = follow<arith::MulFOp>(value).value_or(1);
  return readRest(op, std::move(epilogue), value);
}

/// Stores an f32 that a body computes from an 8-bit value as that value: the f32 is computed by a
/// map behind it, which is fused into other bodies.
struct StoredResult {
  Value number; ///< what is stored
  bool isUnsigned;
};

std::optional<StoredResult> storedResultOf(Block &body) {
  Value value = body.getTerminator()->getOperand(0);
  if (!value.getType().isF32())
    return std::nullopt;
  for (unsigned steps = 0; steps < 3; ++steps) {
    Operation *op = value.getDefiningOp();
    if (auto max = matchWithConstant<arith::MinimumFOp>(op)) {
      auto min = matchWithConstant<arith::MaximumFOp>(max->first.getDefiningOp());
      if (!min || !value.hasOneUse())
        return std::nullopt;
      if (min->second == 0 && max->second == 255)
        return StoredResult{value, true};
      if (min->second == -128 && max->second == 127)
        return StoredResult{value, false};
      return std::nullopt;
    }
    auto shift = matchWithConstant<arith::SubFOp>(op),
         factor = matchWithConstant<arith::MulFOp>(op);
    if (!shift && !factor)
      return std::nullopt;
    value = shift ? shift->first : factor->first;
  }
  return std::nullopt;
}

/// Returns whether a map computes each number of one stored byte.
bool readsStoredBytes(graph::MapOp map) {
  if (!map || map.getInputs().size() != 1)
    return false;
  RankedTensorType bytes = tensorType(map.getInputs()[0]);
  return bytes.getElementTypeBitWidth() == 8 && bytes.getShape() == map.getType().getShape();
}

/// Fuses the map of stored bytes that computes an operand into the body that reads it.
template <typename OpT> void joinMap(OpT op, OpOperand &use) {
  auto map = cast<graph::MapOp>(use.get().getDefiningOp());
  const unsigned first = op->getNumOperands() - op.getInputs().size();
  if (op.getBody().empty() || use.getOperandNumber() < first)
    return;
  Block &body = op.getBody().front(), &code = map.getBody().front();
  BlockArgument argument = body.getArgument(use.getOperandNumber() - first + 1);
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  BlockArgument number =
      body.insertArgument(argument.getArgNumber(), code.getArgument(0).getType(), map.getLoc());
  IRMapping mapping;
  mapping.map(code.getArgument(0), number);
  for (Operation &inner : code.without_terminator())
    builder.clone(inner, mapping);
  argument.replaceAllUsesWith(mapping.lookup(code.getTerminator()->getOperand(0)));
  body.eraseArgument(argument.getArgNumber());
  use.set(map.getInputs()[0]);
  if (map->use_empty())
    map->erase();
}

/// Fuses the map into the bodies of the contractions that read it.
void joinReaders(graph::MapOp map) {
  if (map->use_empty())
    return map->erase();
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : map.getResult().getUses())
    uses.push_back(&use);
  for (OpOperand *use : uses)
    TypeSwitch<Operation *>(use->getOwner())
        .Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
            [&](auto op) { joinMap(op, *use); });
}

/// Creates the real value of a stored integer.
Value createRealOf(OpBuilder &builder, Location loc, Value integer, bool isUnsigned) {
  Type f32 = builder.getF32Type();
  return isUnsigned ? arith::UIToFPOp::create(builder, loc, f32, integer).getResult()
                    : arith::SIToFPOp::create(builder, loc, f32, integer).getResult();
}

/// Creates the stored integer of a value between its bounds.
Value createByteOf(OpBuilder &builder, Location loc, Value real, bool isUnsigned) {
  Type byte = builder.getIntegerType(8);
  return isUnsigned ? arith::FPToUIOp::create(builder, loc, byte, real).getResult()
                    : arith::FPToSIOp::create(builder, loc, byte, real).getResult();
}

template <typename OpT> void storeBytes(OpT op) {
  if (op.getBody().empty())
    return;
  Block &body = op.getBody().front();
  std::optional<StoredResult> stored = storedResultOf(body);
  if (!stored)
    return;
  MLIRContext *context = op.getContext();
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Type byte = IntegerType::get(context, 8);
  RankedTensorType realType = op.getType();
  auto map = graph::MapOp::create(builder, op.getLoc(), realType, ValueRange(op.getResult()));
  op.getResult().replaceAllUsesExcept(map.getResult(), map);
  Block *code = builder.createBlock(&map.getBody(), {}, byte, op.getLoc());
  IRMapping mapping;
  Value argument = code->getArgument(0);
  mapping.map(stored->number, createRealOf(builder, op.getLoc(), argument, stored->isUnsigned));
  bool behind = false;
  SmallVector<Operation *> moved;
  Operation *yield = body.getTerminator();
  for (Operation &inner : body.without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      builder.clone(inner, mapping);
    else if (behind) {
      bool uses = llvm::any_of(inner.getOperands(), [&](Value operand) {
        return operand == stored->number || llvm::is_contained(moved, operand.getDefiningOp());
      });
      if (uses) {
        builder.clone(inner, mapping);
        moved.push_back(&inner);
      }
    }
    behind |= inner.getNumResults() && inner.getResult(0) == stored->number;
  }
  graph::YieldOp::create(builder, op.getLoc(), mapping.lookup(yield->getOperand(0)));
  builder.setInsertionPoint(yield);
  yield->setOperand(0, createByteOf(builder, op.getLoc(), stored->number, stored->isUnsigned));
  for (Operation *inner : llvm::reverse(moved))
    inner->erase();
  for (Operation &inner : llvm::make_early_inc_range(*code))
    if (isa<arith::ConstantOp>(inner) && inner.use_empty())
      inner.erase();
  Type element = IntegerType::get(
      context, 8, stored->isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  op.getResult().setType(RankedTensorType::get(realType.getShape(), element));
  // The name is that of the real values; dumps of stored integers must not have it.
  op->setLoc(graph::derivedLoc(op.getLoc(), "stored"));
  joinReaders(map);
}

/// Lets the body of a contraction read bytes where it reads numbers that a map computes of them,
/// as an epilogue of the cube has to. A map that rounds to a byte and goes on is divided there.
template <typename OpT> void readBytes(OpT op) {
  for (OpOperand &operand : op->getOpOperands())
    if (auto map = operand.get().template getDefiningOp<graph::MapOp>()) {
      if (readsStoredBytes(map))
        joinMap(op, operand);
      else
        storeBytes(map);
    }
}

/// Divides a body that the epilogue of the cube does not support, because it adds several tensors
/// or factors per channel, behind the first stored value: the contraction stores that as bytes, and
/// a map on the vector cores reads them and does the rest.
template <typename OpT> void divideBody(OpT op) {
  auto start = readScale(op);
  if (!start)
    return;
  auto &[epilogue, value] = *start;
  if (std::optional<double> bound = follow<arith::MaximumFOp>(value); bound && *bound != 0)
    return;
  std::optional<Requantization> first = readRounding(value, epilogue.first);
  if (!first || isa_and_nonnull<arith::FPToUIOp, arith::FPToSIOp>(onlyUser(value)))
    return;
  Block &body = op.getBody().front();
  Operation *stored = value.getDefiningOp(), *yield = body.getTerminator();
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  RankedTensorType resultType = op.getType();
  const bool isUnsigned = cast<IntegerType>(first->stored).isUnsigned();
  Type byte = builder.getIntegerType(8);

  SmallVector<Value> inputs{op.getResult()};
  SmallVector<Type> types{byte};
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    if (index != epilogue.scales) {
      inputs.push_back(input);
      types.push_back(body.getArgument(index + 1).getType());
    }
  auto map = graph::MapOp::create(builder, op.getLoc(), resultType, inputs);
  op.getResult().replaceAllUsesExcept(map.getResult(), map);
  Block *code = builder.createBlock(&map.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), op.getLoc()));
  IRMapping mapping;
  mapping.map(value, createRealOf(builder, op.getLoc(), code->getArgument(0), isUnsigned));
  for (unsigned index = 0, number = 1; index < op.getInputs().size(); ++index)
    if (index != epilogue.scales)
      mapping.map(body.getArgument(index + 1), code->getArgument(number++));
  // What computes the stored value stays: it is what reads the accumulators.
  llvm::SmallPtrSet<Operation *, 16> kept{stored};
  for (Operation &inner : llvm::reverse(body))
    if (llvm::any_of(inner.getUsers(), [&](Operation *user) { return kept.contains(user); }))
      kept.insert(&inner);
  SmallVector<Operation *> moved;
  for (Operation &inner : body.without_terminator())
    if (isa<arith::ConstantOp>(inner) || !kept.contains(&inner)) {
      builder.clone(inner, mapping);
      if (!kept.contains(&inner))
        moved.push_back(&inner);
    }
  graph::YieldOp::create(builder, op.getLoc(), mapping.lookup(yield->getOperand(0)));
  for (Operation &inner : llvm::make_early_inc_range(*code))
    if (isa<arith::ConstantOp>(inner) && inner.use_empty())
      inner.erase();

  builder.setInsertionPoint(yield);
  yield->setOperand(0, createByteOf(builder, op.getLoc(), value, isUnsigned));
  for (Operation *inner : llvm::reverse(moved))
    inner->erase();
  for (unsigned index = op.getInputs().size(); index-- > 0;)
    if (index != epilogue.scales) {
      body.eraseArgument(index + 1);
      op.getInputsMutable().erase(index);
    }
  op.getResult().setType(RankedTensorType::get(resultType.getShape(), first->stored));
  // The name is that of the body's result; dumps of stored integers must not have it.
  op->setLoc(graph::derivedLoc(op.getLoc(), "stored"));
  storeBytes(map);
}

template <typename OpT> StringRef whyNoSumsOf(OpT op) {
  if (!hasByteWeights(op))
    return "its weights are no constant bytes with zero points of 0, or its bias is no constant";
  if constexpr (std::is_same_v<OpT, graph::IntegerConvOp>)
    if (!suitsBytes(byteChannelsOf(op)))
      return kGroupsDoNotSuit;
  if (!readScale(op))
    return "its accumulators are not multiplied by constants first";
  return "its results are not rounded to bytes before anything but a relu or a clip, as behind a "
         "bias of floats, other functions, or for an output of floats";
}

struct SelectInt8ContractionsPass
    : impl::NpuSelectInt8ContractionsBase<SelectInt8ContractionsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<Operation *> sums;
    for (Operation &op : getOperation().getOps())
      if (isa<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(op))
        sums.push_back(&op);
    for (Operation *op : sums)
      TypeSwitch<Operation *>(op).Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
          [](auto sum) { storeBytes(sum); });
    for (Operation *op : sums)
      if (!sumEpilogueOf(op))
        TypeSwitch<Operation *>(op).Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
            [](auto sum) { readBytes(sum); });
    for (Operation *op : sums)
      if (!sumEpilogueOf(op))
        TypeSwitch<Operation *>(op).Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
            [](auto sum) { divideBody(sum); });
    // Without a contraction of bytes nothing has blocks of bytes.
    const bool any = llvm::any_of(sums, [](Operation *op) { return bool(sumEpilogueOf(op)); });
    // Convolutions on the CPU have other blocks than those of bytes.
    bool mixes = true;
    SmallVector<Operation *> fitting;
    for (Operation *op : sums) {
      if (sumEpilogueOf(op)) {
        fitting.push_back(op);
        continue;
      }
      const StringRef why = whyNoSums(op);
      const Location loc = op->getLoc();
      const bool isConv = isa<graph::IntegerConvOp>(op);
      const bool inHalves = any && contractInHalves(op, why);
      mixes &= inHalves || !isConv;
      remarkMissed(getArgument(), loc, inHalves ? "InHalves" : "OnCpu")
          << (inHalves ? "the cube computes the int8 contraction in f16: "
                       : "the int8 contraction runs on the CPU: ")
          << why;
    }
    for (Operation *op : fitting) {
      if (!mixes) {
        remarkMissed(getArgument(), op->getLoc(), "OnCpu")
            << "the int8 contraction runs on the CPU: the cube computes them only where no int8 "
               "convolution is left to the CPU";
        continue;
      }
      auto conv = dyn_cast<graph::IntegerConvOp>(op);
      bool isImage = conv && sumsAreExactInFloats(conv);
      op->setAttr(kernel::kCubeSumsAttr,
                  StringAttr::get(&getContext(), isImage ? "image" : "blocks"));
      remarkPassed(getArgument(), op->getLoc(), "OnCube")
          << (isImage ? "the cube computes the int8 contraction on the image as f16"
                      : "the cube computes the int8 contraction in blocks of bytes");
      ++numMarked;
    }
  }
};

} // namespace

bool suitsBytes(ChannelGroups channels) {
  constexpr int64_t fewChannels = 64;
  auto steps = [&](int64_t block) {
    channels.block = block;
    return channels.inputBlocks() * channels.outputBlocks() / channels.blockGroups() *
           (block / kFractal);
  };
  return channels.groups == 1 || channels.inputs <= fewChannels ||
         steps(kernel::kCubeByteBlock) <= 2 * steps(kFractal);
}

StringRef whyNoSums(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
          [](auto sum) { return whyNoSumsOf(sum); });
}

std::optional<ScaledSums> scaledSumsOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<ScaledSums>>(op)
      .Case<graph::IntegerConvOp, graph::IntegerFullyConnectedOp>(
          [](auto sum) -> std::optional<ScaledSums> {
            auto start = readScale(sum);
            if (!start)
              return std::nullopt;
            return ScaledSums{start->first.scales, start->first.scale, start->second};
          })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<SumEpilogue> sumEpilogueOf(Operation *op) {
  if (auto conv = dyn_cast<graph::IntegerConvOp>(op)) {
    bool fits = hasByteWeights(conv) && suitsBytes(byteChannelsOf(conv));
    return fits ? readBody(conv) : std::nullopt;
  }
  auto product = dyn_cast<graph::IntegerFullyConnectedOp>(op);
  return product && hasByteWeights(product) ? readBody(product) : std::nullopt;
}

} // namespace atc::npu
