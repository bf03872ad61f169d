//===-- FoldBatchNorm.cpp - normalization joins the convolution before it -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTFOLDBATCHNORM
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

struct FoldIntoConv : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    if (call.getKernel() != "BatchNormalization" || !hasInputs(call, 5))
      return failure();
    if (call->getNumResults() != 1 || integerOf(call, "training_mode", 0) != 0)
      return rewriter.notifyMatchFailure(call, "normalizes with the statistics of its input");
    auto conv = call.getInputs()[0].getDefiningOp<HostCallOp>();
    if (!conv || conv.getKernel() != "Conv" || !conv->hasOneUse() || !hasInputs(conv, 2))
      return rewriter.notifyMatchFailure(call, "input is not a convolution of its own");
    ElementsAttr weights = graph::getConstant(conv.getInputs()[1]);
    if (!weights || !weights.getElementType().isF32() || weights.getShapedType().getRank() < 3)
      return rewriter.notifyMatchFailure(call, "weights are not constant f32");

    OperandRange inputs = call.getInputs();
    auto affine = graph::getBatchNormAffine(inputs[1], inputs[2], inputs[3], inputs[4],
                                            numberOf(call, "epsilon", 1e-5));
    int64_t channels = weights.getShapedType().getDimSize(0);
    auto isFinite = [](double x) { return std::isfinite(x); };
    if (!affine || int64_t(affine->scale.size()) != channels ||
        !llvm::all_of(affine->scale, isFinite) || !llvm::all_of(affine->shift, isFinite))
      return rewriter.notifyMatchFailure(call, "parameters are not constant");
    SmallVector<Value> operands = inputsOf(conv, 3);
    if (operands[2]) {
      auto bias = graph::getVectorConstant(operands[2]);
      if (!bias || int64_t(bias->size()) != channels)
        return rewriter.notifyMatchFailure(call, "the bias is not constant");
      for (auto [shift, scale, value] : llvm::zip_equal(affine->shift, affine->scale, *bias))
        shift += scale * value;
    }
    ElementsAttr scaled = graph::scaleRows(weights, affine->scale);
    if (!scaled)
      return failure();
    operands[1] = graph::ConstantOp::create(rewriter, operands[1].getLoc(), scaled);
    operands[2] = graph::createConstant(rewriter, graph::derivedLoc(call.getLoc(), "bias"),
                                        RankedTensorType::get(channels, weights.getElementType()),
                                        affine->shift);
    HostCallOp folded = makeCall(rewriter, call.getLoc(), "Conv", operands,
                                 call.getResult(0).getType(), conv.getParameters());
    rewriter.replaceOp(call, folded.getResults());
    rewriter.eraseOp(conv);
    ++count;
    return success();
  }
};

struct HostFoldBatchNorm : impl::HostFoldBatchNormBase<HostFoldBatchNorm> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConv>(&getContext(), numFolded);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::host
