//===-- FuseConvBn.cpp - fold batch_norm into weights and bias ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "passes/Remarks.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFUSECONVBN
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct FoldBatchNorm : CountingPattern<BatchNormOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    LinearOp linear = LinearOp::definedBy(op.getInput());
    if (!linear)
      return rewriter.notifyMatchFailure(op, "input is not a convolution");
    // The channels of batch_norm are dim 1; those of fully_connected the last.
    if (linear.getChannelDim() != 1)
      return rewriter.notifyMatchFailure(op, "normalizes another dim than the weights make");
    auto affine = getBatchNormAffine(op);
    if (!affine)
      return rewriter.notifyMatchFailure(op, "parameters are not constant");
    const Location loc = op.getLoc();
    if (failed(foldAffine(rewriter, linear, op, affine->scale, affine->shift)))
      return rewriter.notifyMatchFailure(op, "the convolution cannot take it");
    atc::remarkPassed("graph-fuse-conv-bn", loc, "Fused")
        << "the normalization becomes weights and bias of the layer in front of it";
    ++count;
    return success();
  }
};

struct FuseConvBn : atc::graph::impl::GraphFuseConvBnBase<FuseConvBn> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBatchNorm>(&getContext(), numFused);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
