//===-- MatMulToFullyConnected.cpp - matmul by a constant matrix ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/ConstantUtils.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHMATMULTOFULLYCONNECTED
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct ConvertMatMul : CountingPattern<MatMulOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(MatMulOp op, PatternRewriter &rewriter) const override {
    if (getTensorType(op.getLhs()).getRank() < 2)
      return rewriter.notifyMatchFailure(op, "lhs is a vector");
    ElementsAttr matrix = getConstant(op.getRhs());
    if (!matrix || matrix.getShapedType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "rhs is not a constant matrix");
    ElementsAttr filter = transposeConstant(matrix, {1, 0});
    if (!filter)
      return rewriter.notifyMatchFailure(op, "rhs cannot be read");
    Value weight = ConstantOp::create(rewriter, derivedLoc(op.getLoc(), "weight"), filter);
    rewriter.replaceOpWithNewOp<FullyConnectedOp>(op, op.getType(), op.getLhs(), weight,
                                                  /*bias=*/Value(), ActivationAttr());
    ++count;
    return success();
  }
};

struct AddToBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [value, addend] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      LinearOp linear = LinearOp::definedBy(value);
      if (!linear || !isa<FullyConnectedOp>(linear.getOperation()))
        continue;
      auto bias = getChannelConstant(addend, linear.getType(), linear.getChannelDim());
      if (bias && succeeded(foldAffine(rewriter, linear, op, {}, *bias)))
        return success();
    }
    return rewriter.notifyMatchFailure(op, "not a fully_connected and a channel constant");
  }
};

struct MatMulToFullyConnected
    : atc::graph::impl::GraphMatMulToFullyConnectedBase<MatMulToFullyConnected> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertMatMul>(&getContext(), numConverted);
    patterns.add<AddToBias>(&getContext());
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
