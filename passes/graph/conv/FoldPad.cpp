//===-- FoldPad.cpp - explicit pads join convolutions and pools -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFOLDPAD
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Returns the pads of a constant pad that pads spatial dims only: begins, then ends.
std::optional<SmallVector<int64_t>> getSpatialPads(PadOp pad) {
  if (!pad || pad.getMode() != PadMode::Constant)
    return std::nullopt;
  auto isAdding = [](int64_t size) { return size >= 0; };
  auto isZero = [](int64_t size) { return size == 0; };
  SmallVector<int64_t> pads;
  for (ArrayRef<int64_t> sizes : {pad.getLow(), pad.getHigh()}) {
    if (sizes.size() < 3 || !llvm::all_of(sizes.take_front(2), isZero) ||
        !llvm::all_of(sizes, isAdding))
      return std::nullopt;
    llvm::append_range(pads, sizes.drop_front(2));
  }
  return pads;
}

SmallVector<int64_t> addPads(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  return llvm::map_to_vector(llvm::zip_equal(lhs, rhs),
                             [](auto pair) { return std::get<0>(pair) + std::get<1>(pair); });
}

/// Returns whether a pool's padding is smaller than its window.
template <typename PoolOp> bool fitWindow(PoolOp op, ArrayRef<int64_t> pads) {
  size_t spatial = op.getKernel().size();
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] > (op.getKernel()[i % spatial] - 1) * op.getDilations()[i % spatial])
      return false;
  return true;
}

bool isNonNegative(ActivationAttr activation) {
  if (!activation)
    return false;
  switch (activation.getKind()) {
  case ActivationKind::Relu:
  case ActivationKind::HardSigmoid:
  case ActivationKind::Sigmoid:
    return true;
  case ActivationKind::Clip:
    return activation.getAlpha() >= 0;
  default:
    return false;
  }
}

/// True when no element of `value` can be negative.
bool isNonNegative(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8)
    return false;
  if (auto clip = dyn_cast<ClipOp>(op))
    return !clip.getMin().isNegative();
  if (auto conv = dyn_cast<ConvOp>(op))
    return isNonNegative(conv.getActivationAttr()) &&
           (!conv.getResidualLast() || isNonNegative(conv.getResidual(), depth + 1));
  if (auto fullyConnected = dyn_cast<FullyConnectedOp>(op))
    return isNonNegative(fullyConnected.getActivationAttr());
  if (isa<AbsOp, ExpOp, HardSigmoidOp, ReluOp, SigmoidOp, SoftmaxOp, SoftplusOp, SqrtOp>(op))
    return true;
  if (op->hasTrait<OnlyMovesElements>())
    return isNonNegative(op->getOperand(0), depth + 1);
  // These only select, add up or multiply what they read.
  if (isa<AddOp, AveragePoolOp, ConcatOp, MaxOp, MaxPoolOp, MinOp, MulOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isNonNegative(operand, depth + 1); });
  return false;
}

struct FoldIntoConv : CountingPattern<ConvOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<PadOp>();
    auto pads = getSpatialPads(pad);
    if (!pads || !pad.getValue().isZero())
      return rewriter.notifyMatchFailure(op, "input is not padded with zeros");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setPads(addPads(op.getPads(), *pads));
    });
    ++count;
    return success();
  }
};

struct FoldIntoAveragePool : CountingPattern<AveragePoolOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(AveragePoolOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<PadOp>();
    auto pads = getSpatialPads(pad);
    if (!pads || !pad.getValue().isZero())
      return rewriter.notifyMatchFailure(op, "input is not padded with zeros");
    // The explicit zeros count as elements, so the pool's own padding must as well.
    bool hasPads = llvm::any_of(op.getPads(), [](int64_t size) { return size != 0; });
    if (op.getCeilMode() || (hasPads && !op.getCountIncludePad()))
      return rewriter.notifyMatchFailure(op, "padding of the pool does not count");
    SmallVector<int64_t> allPads = addPads(op.getPads(), *pads);
    if (!fitWindow(op, allPads))
      return rewriter.notifyMatchFailure(op, "padding would fill a window");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setPads(allPads);
      op.setCountIncludePad(true);
    });
    ++count;
    return success();
  }
};

struct FoldIntoMaxPool : CountingPattern<MaxPoolOp> {
  using CountingPattern::CountingPattern;

  /// Returns true when every window of the pool with these pads contains an element of the input: a
  /// window of only padding would return the pad value.
  static bool touchesInputAlways(MaxPoolOp op, ArrayRef<int64_t> inputShape,
                                 ArrayRef<int64_t> pads) {
    for (size_t d = 0; d < op.getKernel().size(); ++d) {
      for (int64_t out = 0; out < op.getType().getDimSize(d + 2); ++out) {
        bool touches = false;
        for (int64_t k = 0; k < op.getKernel()[d] && !touches; ++k) {
          int64_t in = out * op.getStrides()[d] - pads[d] + k * op.getDilations()[d];
          touches = in >= 0 && in < inputShape[d + 2];
        }
        if (!touches)
          return false;
      }
    }
    return true;
  }

  LogicalResult matchAndRewrite(MaxPoolOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<PadOp>();
    auto pads = getSpatialPads(pad);
    if (!pads || op.getCeilMode())
      return rewriter.notifyMatchFailure(op, "input is not padded, or windows round up");
    RankedTensorType type = getTensorType(pad.getInput());
    auto floatType = dyn_cast<FloatType>(type.getElementType());
    if (!type.hasStaticShape() || !op.getType().hasStaticShape() || !floatType)
      return rewriter.notifyMatchFailure(op, "shape is not static or elements are not floats");
    // Models pad with -infinity or the minimum of the type.
    llvm::APFloat lowest =
        llvm::APFloat::getLargest(floatType.getFloatSemantics(), /*Negative=*/true);
    bool neverWins = pad.getValue().convertToDouble() <= lowest.convertToDouble() ||
                     (pad.getValue().isZero() && isNonNegative(pad.getInput()));
    SmallVector<int64_t> allPads = addPads(op.getPads(), *pads);
    if (!neverWins || !fitWindow(op, allPads) || !touchesInputAlways(op, type.getShape(), allPads))
      return rewriter.notifyMatchFailure(op, "the pad value can win");
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setPads(allPads);
    });
    ++count;
    return success();
  }
};

struct FoldPad : atc::graph::impl::GraphFoldPadBase<FoldPad> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoAveragePool, FoldIntoConv, FoldIntoMaxPool>(&getContext(), numFolded);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
