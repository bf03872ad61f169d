//===-- FoldScaleIntoConv.cpp - channel constants join the weights --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHFOLDSCALEINTOCONV
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// The operands of a binary op: the result of a linear op and a channel constant.
struct LinearAndConstant {
  LinearOp linear{nullptr};
  SmallVector<double> constant;
  bool constantFirst = false;
};

std::optional<LinearAndConstant> matchOperands(Operation *op) {
  for (bool constantFirst : {false, true}) {
    LinearOp linear = LinearOp::definedBy(op->getOperand(constantFirst ? 1 : 0));
    if (!linear)
      continue;
    auto constant = getChannelConstant(op->getOperand(constantFirst ? 0 : 1), linear.getType(),
                                       linear.getChannelDim());
    if (constant)
      return LinearAndConstant{linear, *constant, constantFirst};
  }
  return std::nullopt;
}

/// Writes a binary op by a constant as scale * x + shift; nullopt when it is not
/// (a constant divided by x).
std::optional<ChannelAffine> getAffine(Operation *op, const LinearAndConstant &operands) {
  ArrayRef<double> constant = operands.constant;
  ChannelAffine affine;
  if (isa<MulOp>(op)) {
    affine.scale.assign(constant.begin(), constant.end());
  } else if (isa<DivOp>(op)) {
    if (operands.constantFirst)
      return std::nullopt;
    for (double c : constant)
      affine.scale.push_back(1.0 / c);
  } else if (isa<AddOp>(op)) {
    affine.shift.assign(constant.begin(), constant.end());
  } else if (operands.constantFirst) { // c - x
    affine.scale.assign(constant.size(), -1.0);
    affine.shift.assign(constant.begin(), constant.end());
  } else { // x - c
    for (double c : constant)
      affine.shift.push_back(-c);
  }
  return affine;
}

template <typename OpTy> struct FoldBinary : CountingPattern<OpTy> {
  using CountingPattern<OpTy>::CountingPattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto operands = matchOperands(op);
    if (!operands)
      return rewriter.notifyMatchFailure(op, "not a convolution and a channel constant");
    auto affine = getAffine(op, *operands);
    if (!affine)
      return rewriter.notifyMatchFailure(op, "not linear in the convolution");
    if (failed(foldAffine(rewriter, operands->linear, op, affine->scale, affine->shift)))
      return rewriter.notifyMatchFailure(op, "the convolution cannot take it");
    ++this->count;
    return success();
  }
};

struct FoldScaleIntoConv : atc::graph::impl::GraphFoldScaleIntoConvBase<FoldScaleIntoConv> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBinary<AddOp>, FoldBinary<DivOp>, FoldBinary<MulOp>, FoldBinary<SubOp>>(
        &getContext(), numFolded);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
