//===-- FuseIntegerEpilogue.cpp - fuses maps into integer contractions ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFUSEINTEGEREPILOGUE
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct FuseMap : CountingPattern<MapOp> {
  using CountingPattern::CountingPattern;

  /// Returns whether the epilogue can read an input: one value for all, one per channel, or one per
  /// accumulator.
  static bool isReadable(Value input, RankedTensorType sums, int64_t channelDim) {
    ArrayRef<int64_t> shape = getTensorType(input).getShape();
    if (shape == sums.getShape())
      return true;
    int64_t lead = sums.getRank() - static_cast<int64_t>(shape.size());
    for (auto [dim, size] : llvm::enumerate(shape))
      if (size != 1 && lead + static_cast<int64_t>(dim) != channelDim)
        return false;
    return lead >= 0;
  }

  template <typename OpT> LogicalResult fuse(MapOp map, OpT op, PatternRewriter &rewriter) const {
    int64_t channelDim = isa<IntegerConvOp>(op) ? 1 : op.getType().getRank() - 1;
    if (!op->hasOneUse() || !op.getBody().empty() ||
        map.getType().getShape() != op.getType().getShape() || op->getBlock() != map->getBlock())
      return rewriter.notifyMatchFailure(map, "the sums are used otherwise, too");
    SmallVector<Value> inputs;
    unsigned position = 0;
    for (auto [index, input] : llvm::enumerate(map.getInputs())) {
      if (input == op.getResult()) {
        position = index;
        continue;
      }
      if (!isReadable(input, op.getType(), channelDim))
        return rewriter.notifyMatchFailure(map, "an input broadcasts in another way");
      inputs.push_back(input);
    }
    atc::remarkPassed("graph-fuse-integer-epilogue", map.getLoc(), "Fused")
        << "the map becomes the epilogue of the int8 contraction in front of it";
    auto fused = cast<OpT>(rewriter.clone(*op));
    fused->setLoc(map.getLoc());
    fused.getInputsMutable().assign(inputs);
    fused.getResult().setType(map.getType());
    // The accumulator is the first argument of the body.
    Block &body = map.getBody().front();
    BlockArgument old = body.getArgument(position);
    Value sum = body.insertArgument(0u, old.getType(), old.getLoc());
    body.getArgument(position + 1).replaceAllUsesWith(sum);
    body.eraseArgument(position + 1);
    rewriter.inlineRegionBefore(map.getBody(), fused.getBody(), fused.getBody().begin());
    rewriter.replaceOp(map, fused);
    rewriter.eraseOp(op);
    ++count;
    return success();
  }

  LogicalResult matchAndRewrite(MapOp map, PatternRewriter &rewriter) const override {
    for (Value input : map.getInputs()) {
      if (auto conv = input.getDefiningOp<IntegerConvOp>())
        if (succeeded(fuse(map, conv, rewriter)))
          return success();
      if (auto product = input.getDefiningOp<IntegerFullyConnectedOp>())
        if (succeeded(fuse(map, product, rewriter)))
          return success();
    }
    return failure();
  }
};

/// Returns whether `value` is a rounded value inside [least, most], judged by its own formula:
/// bounds on a rounded value, maybe with a zero point added.
bool isIntegerWithin(Value value, double min, double max) {
  auto constantOf = [](Value operand) -> std::optional<double> {
    auto constant = operand.getDefiningOp<arith::ConstantOp>();
    auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  };
  auto isWhole = [](double number) { return number == std::floor(number); };
  bool above = false, below = false;
  // From the last operation to the first. Bounds inside the range never lead out
  // of it, whatever their order.
  while (Operation *op = value.getDefiningOp()) {
    if (isa<math::RoundEvenOp>(op))
      return above && below;
    bool isMax = isa<arith::MaximumFOp>(op), isMin = isa<arith::MinimumFOp>(op);
    std::optional<double> number;
    if (op->getNumOperands() == 2)
      number = constantOf(op->getOperand(1));
    // Before the bounds a zero point may be added.
    bool isShift = isa<arith::AddFOp>(op) && above && below;
    if (!number || !isWhole(*number) || !(isMax || isMin || isShift))
      return false;
    bool inside = *number >= min && *number <= max;
    if ((isMax || isMin) && !inside && !(above && below))
      return false;
    above |= isMax;
    below |= isMin;
    value = op->getOperand(0);
  }
  return false;
}

/// Removes stores to 8 bits that are read again, where the value was one of their integers already.
void skipStores(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    bool isUnsigned = isa<arith::UIToFPOp>(op);
    Operation *store = op.getNumOperands() == 1 ? op.getOperand(0).getDefiningOp() : nullptr;
    if (!store || !(isUnsigned ? isa<arith::FPToUIOp>(store)
                               : isa<arith::SIToFPOp>(op) && isa<arith::FPToSIOp>(store)))
      continue;
    Value real = store->getOperand(0);
    if (!store->getResult(0).getType().isInteger(8) ||
        real.getType() != op.getResult(0).getType() ||
        !isIntegerWithin(real, isUnsigned ? 0 : -128, isUnsigned ? 255 : 127))
      continue;
    op.replaceAllUsesWith(ValueRange{real});
    op.erase();
    if (store->use_empty())
      store->erase();
  }
}

/// Returns whether `value` is a constant number.
bool isFloatConstant(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant && isa<FloatAttr>(constant.getValue());
}

/// An integer of 8 bits inside a body, and what computes the body's f32 result from it alone.
struct StoredInteger {
  Value real; ///< the integer as f32; null where there is none
  bool isUnsigned = false;
  SmallVector<Operation *> tail; ///< last one first
};

StoredInteger findStoredInteger(Value result) {
  StoredInteger found;
  for (Value value = result; Operation *op = value.getDefiningOp(); value = op->getOperand(0)) {
    found.isUnsigned = isIntegerWithin(value, 0, 255);
    if (found.isUnsigned || isIntegerWithin(value, -128, 127)) {
      found.real = value;
      return found;
    }
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) || !op->hasOneUse() ||
        !isFloatConstant(op->getOperand(1)))
      return {};
    found.tail.push_back(op);
  }
  return {};
}

/// Stores the result of a contraction in 8 bits where it was dequantized and only bodies of other
/// contractions read it: they dequantize it instead, from a quarter of the bytes.
template <typename OpT> void storeInteger(OpT op) {
  if (op.getBody().empty() || op->use_empty() || !op.getType().getElementType().isF32())
    return;
  auto bodyOf = [](Operation *reader) -> Block * {
    return llvm::TypeSwitch<Operation *, Block *>(reader)
        .template Case<IntegerConvOp, IntegerFullyConnectedOp>(
            [](auto sums) { return sums.getBody().empty() ? nullptr : &sums.getBody().front(); })
        .Default([](Operation *) { return nullptr; });
  };
  auto inputOf = [](OpOperand &use) -> std::optional<unsigned> {
    return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(use.getOwner())
        .template Case<IntegerConvOp, IntegerFullyConnectedOp>(
            [&](auto sums) -> std::optional<unsigned> {
              unsigned first = sums.getInputs().getBeginOperandIndex();
              if (use.getOperandNumber() < first ||
                  use.getOperandNumber() >= first + sums.getInputs().size())
                return std::nullopt;
              return use.getOperandNumber() - first;
            })
        .Default([](Operation *) { return std::nullopt; });
  };
  for (OpOperand &use : op->getUses())
    if (!inputOf(use) || !bodyOf(use.getOwner()))
      return;
  Operation *yield = op.getBody().front().getTerminator();
  StoredInteger stored = findStoredInteger(yield->getOperand(0));
  if (!stored.real)
    return;

  OpBuilder b(yield);
  const Type byte = b.getI8Type();
  for (OpOperand &use : op->getUses()) {
    Block &body = *bodyOf(use.getOwner());
    BlockArgument argument = body.getArgument(*inputOf(use) + 1);
    const Type real = argument.getType();
    argument.setType(byte);
    b.setInsertionPointToStart(&body);
    Location loc = argument.getLoc();
    Operation *first = stored.isUnsigned
                           ? arith::UIToFPOp::create(b, loc, real, argument).getOperation()
                           : arith::SIToFPOp::create(b, loc, real, argument).getOperation();
    Value value = first->getResult(0);
    for (Operation *op : llvm::reverse(stored.tail)) {
      IRMapping mapping;
      mapping.map(op->getOperand(0), value);
      mapping.map(op->getOperand(1), b.clone(*op->getOperand(1).getDefiningOp())->getResult(0));
      value = b.clone(*op, mapping)->getResult(0);
    }
    argument.replaceUsesWithIf(value, [&](OpOperand &o) { return o.getOwner() != first; });
  }
  b.setInsertionPoint(yield);
  Location loc = yield->getLoc();
  yield->setOperand(0, stored.isUnsigned
                           ? arith::FPToUIOp::create(b, loc, byte, stored.real).getResult()
                           : arith::FPToSIOp::create(b, loc, byte, stored.real).getResult());
  for (Operation *op : stored.tail)
    op->erase();
  Type element =
      stored.isUnsigned ? Type(IntegerType::get(op.getContext(), 8, IntegerType::Unsigned)) : byte;
  op.getResult().setType(op.getType().clone(element));
}

/// Computes bounds of the values in a body from integers and constants. Where they are finite there
/// are no NaNs, and a maximum is one instruction.
class FiniteMarker {
public:
  /// `arguments` are the values that the body's arguments are read from; null for accumulators.
  FiniteMarker(Block &body, ArrayRef<Value> arguments) : body(body) {
    for (auto [argument, source] : llvm::zip_equal(body.getArguments(), arguments))
      if (auto bound = boundOf(argument.getType(), source))
        bounds[argument] = *bound;
  }

  void run() {
    for (Operation &op : body.without_terminator()) {
      if (op.getNumResults() != 1)
        continue;
      if (auto bound = resultBound(&op); bound && *bound < kLargest)
        bounds[op.getResult(0)] = *bound;
      else
        continue;
      if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op))
        continue;
      auto flags = arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
      op.setAttr("fastmath", arith::FastMathFlagsAttr::get(op.getContext(), flags));
    }
  }

private:
  /// Far below the largest f32.
  static constexpr double kLargest = 1e37;

  static std::optional<double> boundOf(Type type, Value source) {
    if (isa<IntegerType>(type))
      return std::ldexp(1.0, type.getIntOrFloatBitWidth());
    std::optional<SmallVector<double>> values;
    if (source && getTensorType(source).getNumElements() <= kMaxChannels)
      values = getVectorConstant(source);
    if (!values)
      return std::nullopt;
    double bound = 0;
    for (double value : *values) {
      if (!std::isfinite(value))
        return std::nullopt;
      bound = std::max(bound, std::abs(value));
    }
    return bound;
  }

  std::optional<double> resultBound(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto number = dyn_cast<FloatAttr>(constant.getValue());
      if (!number || !number.getValue().isFinite())
        return std::nullopt;
      return std::abs(number.getValueAsDouble());
    }
    SmallVector<double> of;
    for (Value operand : op->getOperands()) {
      auto known = bounds.find(operand);
      if (known == bounds.end())
        return std::nullopt;
      of.push_back(known->second);
    }
    using Bound = std::optional<double>;
    return llvm::TypeSwitch<Operation *, Bound>(op)
        .Case<arith::SIToFPOp, arith::UIToFPOp>([&](auto) -> Bound { return of[0]; })
        .Case<arith::AddFOp, arith::SubFOp>([&](auto) -> Bound { return of[0] + of[1]; })
        .Case<arith::MulFOp>([&](auto) -> Bound { return of[0] * of[1]; })
        .Case<arith::DivFOp>([&](auto quotient) -> Bound {
          // The bound of a divisor bounds no quotient unless it is a constant.
          if (!isFloatConstant(quotient.getRhs()) || of[1] == 0)
            return std::nullopt;
          return of[0] / of[1];
        })
        .Case<arith::MaximumFOp, arith::MinimumFOp>(
            [&](auto) -> Bound { return std::max(of[0], of[1]); })
        .Case<math::RoundEvenOp>([&](auto) -> Bound { return of[0] + 1; })
        .Default([](Operation *) -> Bound { return std::nullopt; });
  }

  static constexpr int64_t kMaxChannels = 1 << 16;
  Block &body;
  llvm::DenseMap<Value, double> bounds;
};

struct FuseIntegerEpilogue : atc::graph::impl::GraphFuseIntegerEpilogueBase<FuseIntegerEpilogue> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseMap>(&getContext(), numFused);
    rewriteToFixpoint(getOperation(), std::move(patterns));
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([](MapOp map) { skipStores(map.getBody().front()); })
          .Case<IntegerConvOp, IntegerFullyConnectedOp>([](auto sums) {
            if (!sums.getBody().empty())
              skipStores(sums.getBody().front());
          });
    });
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<IntegerConvOp, IntegerFullyConnectedOp>(
          [](auto sums) { storeInteger(sums); });
    });
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([](MapOp map) {
            FiniteMarker(map.getBody().front(), SmallVector<Value>(map.getInputs())).run();
          })
          .Case<IntegerConvOp, IntegerFullyConnectedOp>([](auto sums) {
            if (sums.getBody().empty())
              return;
            SmallVector<Value> sources{Value()};
            llvm::append_range(sources, sums.getInputs());
            FiniteMarker(sums.getBody().front(), sources).run();
          });
    });
  }
};

} // namespace
