//===-- FuseConvActivation.cpp - activations become attributes ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFUSECONVACTIVATION
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

constexpr StringLiteral kFuseActivation = "graph-fuse-conv-activation";

/// The attribute for an activation op; null for any other op. The slope of a
/// prelu is left to the caller.
ActivationAttr getActivation(Operation *op) {
  using Kind = ActivationKind;
  MLIRContext *context = op->getContext();
  auto get = [&](Kind kind, double alpha = 0.0, double beta = 0.0) {
    return ActivationAttr::get(context, kind, alpha, beta);
  };
  return llvm::TypeSwitch<Operation *, ActivationAttr>(op)
      .Case<ReluOp>([&](auto) { return get(Kind::Relu); })
      .Case<ClipOp>([&](ClipOp clip) {
        return get(Kind::Clip, clip.getMin().convertToDouble(), clip.getMax().convertToDouble());
      })
      .Case<LeakyReluOp>(
          [&](LeakyReluOp relu) { return get(Kind::LeakyRelu, relu.getAlpha().convertToDouble()); })
      .Case<PReluOp>([&](auto) { return get(Kind::PRelu); })
      .Case<HardSwishOp>([&](auto) { return get(Kind::HardSwish); })
      .Case<HardSigmoidOp>([&](HardSigmoidOp hard) {
        return get(Kind::HardSigmoid, hard.getAlpha().convertToDouble(),
                   hard.getBeta().convertToDouble());
      })
      .Case<SigmoidOp>([&](auto) { return get(Kind::Sigmoid); })
      .Case<SiluOp>([&](auto) { return get(Kind::Silu); })
      .Case<MishOp>([&](auto) { return get(Kind::Mish); })
      .Case<TanhOp>([&](auto) { return get(Kind::Tanh); })
      .Case<GeluOp>([&](GeluOp gelu) { return get(Kind::Gelu, gelu.getApproximate() ? 1.0 : 0.0); })
      .Default([](Operation *) { return ActivationAttr(); });
}

/// Returns the conv or fully_connected that computes `value` if an activation can be fused into it.
LinearOp getFusableOp(Value value) {
  LinearOp linear = LinearOp::definedBy(value);
  if (!linear || isa<ConvTransposeOp>(linear.getOperation()) || !linear->hasOneUse() ||
      linear.getActivation() || !isa<FloatType>(linear.getType().getElementType()))
    return LinearOp(nullptr);
  return linear;
}

struct FuseActivation : RewritePattern {
  FuseActivation(MLIRContext *context, const Float32Nodes &float32Nodes, Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), float32Nodes(float32Nodes),
        count(count) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    ActivationAttr activation = getActivation(op);
    if (!activation)
      return failure();
    LinearOp linear = getFusableOp(op->getOperand(0));
    if (!linear || linear.getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "no convolution that is used here only");
    if (!float32Nodes.mayJoin(linear.getOperation(), op)) {
      atc::remarkMissed(kFuseActivation, op->getLoc(), "NotFused")
          << "the activation stays: it or the layer in front of it computes in f32, the other one "
             "does not";
      return rewriter.notifyMatchFailure(op, "one of both computes in f32");
    }

    auto conv = dyn_cast<ConvOp>(linear.getOperation());
    std::optional<SmallVector<double>> slopes;
    if (auto prelu = dyn_cast<PReluOp>(op)) {
      slopes = getChannelConstant(prelu.getRhs(), linear.getType(), linear.getChannelDim());
      if (!slopes || !conv)
        return rewriter.notifyMatchFailure(op, "slope is not one constant a channel of a conv");
    }
    Operation *fused = rewriter.clone(*linear.getOperation());
    fused->setLoc(op->getLoc());
    if (conv) {
      cast<ConvOp>(fused).setActivationAttr(activation);
      cast<ConvOp>(fused).setResidualLast(false);
    } else {
      cast<FullyConnectedOp>(fused).setActivationAttr(activation);
    }
    if (slopes) {
      rewriter.setInsertionPoint(fused);
      auto type = RankedTensorType::get({static_cast<int64_t>(slopes->size())},
                                        conv.getType().getElementType());
      Value slope = createConstant(rewriter, derivedLoc(op->getLoc(), "slope"), type, *slopes);
      cast<ConvOp>(fused).getSlopeMutable().assign(slope);
    }
    atc::remarkPassed(kFuseActivation, op->getLoc(), "Fused")
        << "the activation is computed by the layer in front of it";
    rewriter.replaceOp(op, fused);
    ++count;
    return success();
  }
  const Float32Nodes &float32Nodes;
  Pass::Statistic &count;
};

/// Moves an activation in front of an op that only moves elements, when a convolution precedes (a
/// chain of) such ops.
struct MoveInFrontOfMove : RewritePattern {
  MoveInFrontOfMove(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  /// Returns the slopes of a prelu before `move`; nullopt when one channel before contains elements
  /// of several channels behind.
  static std::optional<SmallVector<double>> getSlopesBefore(Operation *move,
                                                            ArrayRef<double> slopes) {
    if (auto slice = dyn_cast<SliceOp>(move)) {
      bool wholeChannels = getTensorType(slice.getInput()).getDimSize(1) == slice.getSizes()[1] &&
                           slice.getSteps()[1] == 1;
      return wholeChannels ? std::optional(SmallVector<double>(slopes)) : std::nullopt;
    }
    auto toSpace = dyn_cast<DepthToSpaceOp>(move);
    if (!toSpace)
      return std::nullopt;
    size_t area = toSpace.getBlock() * toSpace.getBlock();
    SmallVector<double> before;
    for (size_t i = 0; i < slopes.size() * area; ++i)
      before.push_back(toSpace.getOrder() == DepthOrder::DCR ? slopes[i % slopes.size()]
                                                             : slopes[i / area]);
    return before;
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!getActivation(op) || op->getResult(0).getType() != op->getOperand(0).getType())
      return failure();
    Operation *move = op->getOperand(0).getDefiningOp();
    auto isMove = [](Operation *candidate) {
      return candidate && candidate->hasTrait<OnlyMovesElements>() && candidate->hasOneUse();
    };
    Operation *last = move;
    while (isMove(last) && isMove(last->getOperand(0).getDefiningOp()))
      last = last->getOperand(0).getDefiningOp();
    if (!isMove(last) || !getFusableOp(last->getOperand(0)))
      return rewriter.notifyMatchFailure(op, "no convolution behind a move of elements");

    Value input = move->getOperand(0);
    RankedTensorType inputType = getTensorType(input);
    Location innerLoc = derivedLoc(move->getLoc(), "activated");
    IRMapping mapping;
    mapping.map(op->getOperand(0), input);
    if (auto prelu = dyn_cast<PReluOp>(op)) {
      auto slopes = getChannelConstant(prelu.getRhs(), prelu.getType(), 1);
      auto before = slopes ? getSlopesBefore(move, *slopes) : std::nullopt;
      if (!before)
        return rewriter.notifyMatchFailure(op, "channels are mixed by the move");
      SmallVector<int64_t> shape(inputType.getRank(), 1);
      shape[1] = before->size();
      auto slopeType = RankedTensorType::get(shape, inputType.getElementType());
      mapping.map(prelu.getRhs(),
                  createConstant(rewriter, derivedLoc(op->getLoc(), "slope"), slopeType, *before));
    }
    Operation *activated = rewriter.clone(*op, mapping);
    activated->setLoc(innerLoc);
    activated->getResult(0).setType(inputType);
    Operation *moved = rewriter.clone(*move);
    moved->setLoc(op->getLoc());
    moved->setOperand(0, activated->getResult(0));
    rewriter.replaceOp(op, moved);
    return success();
  }
};

struct FuseConvActivation : atc::graph::impl::GraphFuseConvActivationBase<FuseConvActivation> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    const Float32Nodes float32Nodes(getOperation());
    patterns.add<FuseActivation>(&getContext(), float32Nodes, numFused);
    patterns.add<MoveInFrontOfMove>(&getContext());
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
