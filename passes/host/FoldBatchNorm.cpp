//===-- FoldBatchNorm.cpp - scales and shifts join the convolution --------===//
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

/// Returns what a normalization does to the channels of its input; nothing where that
/// depends on a run.
std::optional<graph::ChannelAffine> getNormalization(HostCallOp call) {
  if (call.getKernel() != "BatchNormalization" || !hasInputs(call, 5) ||
      call->getNumResults() != 1 || integerOf(call, "training_mode", 0) != 0)
    return std::nullopt;
  OperandRange inputs = call.getInputs();
  return graph::getBatchNormAffine(inputs[1], inputs[2], inputs[3], inputs[4],
                                   numberOf(call, "epsilon", 1e-5));
}

/// Returns what arithmetic with one number per channel does to operand `index` of a call, of type
/// `type`; nothing for other calls. Exporters write normalizations with fixed numbers in this form.
std::optional<graph::ChannelAffine> getArithmetic(HostCallOp call, unsigned index,
                                                  RankedTensorType type) {
  const StringRef kernel = call.getKernel();
  if (!llvm::is_contained({"Mul", "Add", "Sub", "Div"}, kernel) || !hasInputs(call, 2) ||
      (kernel == "Div" && index == 1))
    return std::nullopt;
  auto numbers = graph::getChannelConstant(call.getInputs()[1 - index], type, /*channelDim=*/1);
  if (!numbers)
    return std::nullopt;
  const SmallVector<double> zeros(numbers->size(), 0.0), ones(numbers->size(), 1.0);
  if (kernel == "Mul")
    return graph::ChannelAffine{*numbers, zeros};
  if (kernel == "Div")
    return graph::ChannelAffine{
        llvm::map_to_vector(*numbers, [](double number) { return 1 / number; }), zeros};
  auto negated = [](ArrayRef<double> values) {
    return llvm::map_to_vector(values, [](double value) { return -value; });
  };
  if (kernel == "Add")
    return graph::ChannelAffine{ones, *numbers};
  return index == 0 ? graph::ChannelAffine{ones, negated(*numbers)}
                    : graph::ChannelAffine{negated(ones), *numbers};
}

struct FoldIntoConv : graph::CountingPattern<HostCallOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(HostCallOp call, PatternRewriter &rewriter) const override {
    for (unsigned index : {0, 1})
      if (index < call.getInputs().size() && succeeded(fold(call, index, rewriter)))
        return success();
    return failure();
  }

private:
  /// Folds a call into the convolution that computes its operand `index`.
  LogicalResult fold(HostCallOp call, unsigned index, PatternRewriter &rewriter) const {
    auto conv = call.getInputs()[index].getDefiningOp<HostCallOp>();
    if (!conv || conv.getKernel() != "Conv" || !conv->hasOneUse() || !hasInputs(conv, 2))
      return rewriter.notifyMatchFailure(call, "input is not a convolution of its own");
    ElementsAttr weights = graph::getConstant(conv.getInputs()[1]);
    if (!weights || !weights.getElementType().isF32() || weights.getShapedType().getRank() < 3)
      return rewriter.notifyMatchFailure(call, "weights are not constant f32");

    const int64_t channels = weights.getShapedType().getDimSize(0);
    SmallVector<int64_t> shape(weights.getShapedType().getRank(), ShapedType::kDynamic);
    shape[1] = channels;
    auto affine = index == 0 ? getNormalization(call) : std::nullopt;
    if (!affine)
      affine = getArithmetic(call, index, RankedTensorType::get(shape, rewriter.getF32Type()));
    auto isFinite = [](double x) { return std::isfinite(x); };
    if (!affine || int64_t(affine->scale.size()) != channels ||
        !llvm::all_of(affine->scale, isFinite) || !llvm::all_of(affine->shift, isFinite))
      return rewriter.notifyMatchFailure(call, "no scale and shift per channel, or not constant");
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
