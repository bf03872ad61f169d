//===-- FuseConvAdd.cpp - additions become bias or residual ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFUSECONVADD
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

constexpr StringLiteral kFuseAdd = "graph-fuse-conv-add";

struct FuseBias : CountingPattern<AddOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    const Location location = op.getLoc(); // foldAffine erases the addition
    for (auto [value, addend] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      LinearOp linear = LinearOp::definedBy(value);
      if (!linear)
        continue;
      auto bias = getChannelConstant(addend, linear.getType(), linear.getChannelDim());
      if (bias && succeeded(foldAffine(rewriter, linear, op, {}, *bias))) {
        atc::remarkPassed(kFuseAdd, location, "Fused")
            << "the addition becomes the bias of the layer in front of it";
        ++count;
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "not a convolution and a channel constant");
  }
};

struct FuseResidual : CountingPattern<AddOp> {
  FuseResidual(MLIRContext *context, const Float32Nodes &float32Nodes, Pass::Statistic &count)
      : CountingPattern(context, count), float32Nodes(float32Nodes) {}

  /// Returns the convolution that computes `value` if the other operand can be fused into it. It
  /// moves to the addition, so it must be in the same block: in a loop it would run more often.
  static ConvOp getCandidate(AddOp op, Value value, Value other) {
    auto conv = value.getDefiningOp<ConvOp>();
    if (!conv || !conv->hasOneUse() || conv.getResidual() || conv->getBlock() != op->getBlock())
      return {};
    return conv.getType() == op.getType() && other.getType() == op.getType() ? conv : ConvOp();
  }

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    ConvOp conv = getCandidate(op, op.getLhs(), op.getRhs());
    ConvOp second = getCandidate(op, op.getRhs(), op.getLhs());
    // The later of two stays where it is in the order of execution.
    if (!conv || (second && conv->isBeforeInBlock(second)))
      conv = second;
    if (!conv)
      return rewriter.notifyMatchFailure(op, "no convolution that is used here only");
    if (!float32Nodes.mayJoin(conv, op)) {
      atc::remarkMissed(kFuseAdd, op.getLoc(), "NotFused")
          << "the addition stays: it or the convolution computes in f32, the other one does not";
      return rewriter.notifyMatchFailure(op, "one of both computes in f32");
    }

    Value residual = conv.getResult() == op.getLhs() ? op.getRhs() : op.getLhs();
    auto fused = cast<ConvOp>(rewriter.clone(*conv));
    fused->setLoc(op.getLoc());
    fused.getResidualMutable().assign(residual);
    fused.setResidualLast(conv.getActivation().has_value());
    atc::remarkPassed(kFuseAdd, op.getLoc(), "Fused")
        << "the addition becomes the residual of the convolution";
    rewriter.replaceOp(op, fused);
    ++count;
    return success();
  }
  const Float32Nodes &float32Nodes;
};

struct FuseConvAdd : atc::graph::impl::GraphFuseConvAddBase<FuseConvAdd> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // With 1 x 1 planes a channel constant has the shape of a residual, too.
    patterns.add<FuseBias>(&getContext(), numBiases, PatternBenefit(2));
    const Float32Nodes float32Nodes(getOperation());
    patterns.add<FuseResidual>(&getContext(), float32Nodes, numResiduals);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
