//===-- ExpandPow.cpp - powers of constant exponents ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHEXPANDPOW
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct Expand : CountingPattern<PowOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Value x = op.getLhs();
    Type type = op.getType();
    auto exponent = getScalarConstant(op.getRhs());
    if (!exponent || x.getType() != type)
      return rewriter.notifyMatchFailure(op, "exponent is not one constant");
    bool isFloat = isa<FloatType>(op.getType().getElementType());
    if (*exponent == 1.0) {
      rewriter.replaceOp(op, x);
    } else if (*exponent == 2.0) {
      rewriter.replaceOpWithNewOp<MulOp>(op, type, x, x);
    } else if (*exponent == 3.0) {
      Value square = MulOp::create(rewriter, derivedLoc(op.getLoc(), "square"), type, x, x);
      rewriter.replaceOpWithNewOp<MulOp>(op, type, square, x);
    } else if (*exponent == 0.5 && isFloat) {
      rewriter.replaceOpWithNewOp<SqrtOp>(op, type, x);
    } else if (*exponent == -0.5 && isFloat) {
      rewriter.replaceOpWithNewOp<RsqrtOp>(op, type, x);
    } else if (*exponent == -1.0 && isFloat) {
      rewriter.replaceOpWithNewOp<ReciprocalOp>(op, type, x);
    } else {
      return rewriter.notifyMatchFailure(op, "no cheaper form of this exponent");
    }
    ++count;
    return success();
  }
};

struct ExpandPow : atc::graph::impl::GraphExpandPowBase<ExpandPow> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Expand>(&getContext(), numExpanded);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
