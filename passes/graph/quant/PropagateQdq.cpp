//===-- PropagateQdq.cpp - moves integers instead of real values ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that move elements without reading them, or only compare them, can work on the integers of a
// quantized tensor as well. dequantize sinks below such ops, quantize rises above them, and where
// they meet with equal parameters both are removed.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHPROPAGATEQDQ
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// The type of an operand that is dequantized by one 8-bit scale; null otherwise.
Type quantTypeBehind(Value value) {
  auto dequantize = value.getDefiningOp<DequantizeOp>();
  if (!dequantize)
    return {};
  Type type = getTensorType(dequantize.getInput()).getElementType();
  std::optional<QuantParams> params = getQuantParams(type);
  return params && params->isPerTensor() && params->stored.getWidth() == 8 ? type : Type();
}

Value castStorage(OpBuilder &builder, Location loc, Value value, Type element) {
  RankedTensorType type = getTensorType(value).clone(element);
  return builder.createOrFold<StorageCastOp>(loc, type, value);
}

/// Returns whether each element of the result is one of operand 0, or padding.
bool movesElements(Operation *op) {
  if (auto resize = dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Nearest;
  if (auto pad = dyn_cast<PadOp>(op))
    return pad.getMode() != PadMode::Constant || pad.getValue().isZero();
  return op->hasTrait<OnlyMovesElements>() || isa<MaxPoolOp>(op);
}

/// Clones `op` with its real tensors replaced by those in `inputs`.
Operation *cloneOnStorage(PatternRewriter &rewriter, Operation *op, ValueRange inputs, Type type) {
  QuantParams params = *getQuantParams(type);
  Operation *moved = rewriter.clone(*op);
  for (auto [index, input] : llvm::enumerate(inputs))
    moved->setOperand(index, input);
  moved->getResult(0).setType(getTensorType(op->getResult(0)).clone(params.stored));
  if (auto pad = dyn_cast<PadOp>(moved); pad && pad.getMode() == PadMode::Constant)
    pad.setValue(APFloat(static_cast<double>(params.zeroPoint())));
  return moved;
}

struct SinkDequantize : RewritePattern {
  SinkDequantize(MLIRContext *context, Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), count(count) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool isConcat = isa<ConcatOp>(op);
    if (!isConcat && !movesElements(op))
      return failure();
    SmallVector<Value> stored;
    Type type = quantTypeBehind(op->getOperand(0));
    for (Value operand : isConcat ? op->getOperands() : op->getOperands().take_front(1)) {
      if (!type || quantTypeBehind(operand) != type)
        return rewriter.notifyMatchFailure(op, "operands are not quantized alike");
      Value quantized = operand.getDefiningOp<DequantizeOp>().getInput();
      auto cast = quantized.getDefiningOp<StorageCastOp>();
      // Weights are left alone: the contractions that read them match them.
      if (!isConcat && cast && isa_and_nonnull<ConstantOp>(cast.getInput().getDefiningOp()))
        return rewriter.notifyMatchFailure(op, "a constant");
    }
    // All operands are checked before anything is created: a pattern that fails must leave nothing.
    for (Value operand : isConcat ? op->getOperands() : op->getOperands().take_front(1)) {
      Value quantized = operand.getDefiningOp<DequantizeOp>().getInput();
      stored.push_back(castStorage(rewriter, operand.getLoc(), quantized, getStoredType(type)));
    }
    Operation *moved = cloneOnStorage(rewriter, op, stored, type);
    moved->setLoc(derivedLoc(op->getLoc(), "quantized"));
    Value quantized = castStorage(rewriter, moved->getLoc(), moved->getResult(0), type);
    rewriter.replaceOpWithNewOp<DequantizeOp>(op, op->getResult(0).getType(), quantized);
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct RaiseQuantize : CountingPattern<QuantizeOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType().getElementType();
    std::optional<QuantParams> params = getQuantParams(type);
    Operation *move = op.getInput().getDefiningOp();
    if (!move || !params || !params->isPerTensor() || params->stored.getWidth() != 8)
      return failure();
    if (auto dequantize = dyn_cast<DequantizeOp>(move);
        dequantize && getTensorType(dequantize.getInput()).getElementType() == type) {
      rewriter.replaceOp(op, dequantize.getInput());
      return success();
    }
    // The minimum of the stored integers represents 0: a relu has no effect.
    if (auto relu = dyn_cast<ReluOp>(move); relu && params->zeroPoint() == params->min) {
      rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(relu.getInput()); });
      ++count;
      return success();
    }
    bool isConcat = isa<ConcatOp>(move);
    if (!move->hasOneUse() || (!isConcat && !movesElements(move)))
      return rewriter.notifyMatchFailure(op, "no move of elements before it");
    SmallVector<Value> stored;
    for (Value operand : isConcat ? move->getOperands() : move->getOperands().take_front(1)) {
      Location loc = derivedLoc(operand.getLoc(), "quantized");
      Value quantized =
          QuantizeOp::create(rewriter, loc, getTensorType(operand).clone(type), operand);
      stored.push_back(castStorage(rewriter, loc, quantized, params->stored));
    }
    rewriter.setInsertionPoint(op);
    Operation *moved = cloneOnStorage(rewriter, move, stored, type);
    moved->setLoc(op.getLoc());
    rewriter.replaceOp(op, castStorage(rewriter, op.getLoc(), moved->getResult(0), type));
    ++count;
    return success();
  }
};

/// Stored integers that nothing but dequantize reads are ours to choose: unsigned
/// ones, which processors multiply by signed weights.
void storeUnsigned(QuantizeOp op) {
  std::optional<QuantParams> params = getQuantParams(op.getType().getElementType());
  if (!params || !params->isPerTensor() || !params->stored.isSignlessInteger(8) ||
      !llvm::all_of(op->getUsers(), [](Operation *user) { return isa<DequantizeOp>(user); }))
    return;
  auto stored = IntegerType::get(op.getContext(), 8, IntegerType::Unsigned);
  Type type = getQuantType(stored, params->scales, {params->zeroPoint() + 128});
  op.getResult().setType(op.getType().clone(type));
}

struct PropagateQdq : atc::graph::impl::GraphPropagateQdqBase<PropagateQdq> {
  void runOnOperation() override {
    getOperation().walk(storeUnsigned);
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkDequantize>(&getContext(), numMoved);
    patterns.add<RaiseQuantize>(&getContext(), numMoved);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
