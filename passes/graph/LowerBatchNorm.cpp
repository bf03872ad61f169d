//===-- LowerBatchNorm.cpp - batch_norm becomes mul and add ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHLOWERBATCHNORM
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct ToMulAdd : CountingPattern<BatchNormOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    auto affine = getBatchNormAffine(op);
    if (!affine)
      return rewriter.notifyMatchFailure(op, "parameters are not constant");
    auto type = getTensorType(op.getInput());
    if (type != op.getType())
      return rewriter.notifyMatchFailure(op, "result has another type than the input");

    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[1] = affine->scale.size();
    auto vectorType = RankedTensorType::get(shape, type.getElementType());
    Location loc = op.getLoc();
    Value scale = createConstant(rewriter, derivedLoc(loc, "scale"), vectorType, affine->scale);
    Value shift = createConstant(rewriter, derivedLoc(loc, "shift"), vectorType, affine->shift);
    Value scaled = MulOp::create(rewriter, derivedLoc(loc, "scaled"), type, op.getInput(), scale);
    rewriter.replaceOpWithNewOp<AddOp>(op, type, scaled, shift);
    ++count;
    return success();
  }
};

struct LowerBatchNorm : atc::graph::impl::GraphLowerBatchNormBase<LowerBatchNorm> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToMulAdd>(&getContext(), numLowered);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
