//===-- LowerQuantized.cpp - quantized tensors become integers ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHLOWERQUANTIZED
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Makes the elementwise ops of one quantize or dequantize.
class Formula {
public:
  Formula(OpBuilder &builder, Operation *op, const QuantParams &params)
      : builder(builder), loc(op->getLoc()), inner(derivedLoc(loc, "real")), params(params),
        rank(getTensorType(op->getResult(0)).getRank()) {}

  /// Returns one value for the tensor, or one per index of the axis.
  Value constant(ArrayRef<double> values) {
    SmallVector<int64_t> shape;
    if (!params.isPerTensor()) {
      shape.assign(rank - params.axis, 1);
      shape.front() = params.scales.size();
    }
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return createConstant(builder, inner, type, values);
  }
  Value scales() {
    return constant(SmallVector<double>(params.scales.begin(), params.scales.end()));
  }
  Value zeros() {
    return constant(SmallVector<double>(params.zeroPoints.begin(), params.zeroPoints.end()));
  }
  bool hasScale() const {
    return llvm::any_of(params.scales, [](float scale) { return scale != 1.0f; });
  }
  bool hasZero() const {
    return llvm::any_of(params.zeroPoints, [](int64_t zero) { return zero != 0; });
  }

  OpBuilder &builder;
  Location loc, inner;
  const QuantParams &params;
  int64_t rank;
};

struct LowerQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    std::optional<QuantParams> params = getQuantParams(op.getType().getElementType());
    if (!params)
      return failure();
    Formula formula(rewriter, op, *params);
    Value x = op.getInput();
    if (formula.hasScale())
      x = DivOp::create(rewriter, formula.inner, x, formula.scales());
    x = RoundOp::create(rewriter, formula.inner, x);
    if (formula.hasZero())
      x = AddOp::create(rewriter, formula.inner, x, formula.zeros());
    x = ClipOp::create(rewriter, formula.inner, x, APFloat(static_cast<double>(params->min)),
                       APFloat(static_cast<double>(params->max)));
    x = CastOp::create(rewriter, op.getLoc(), op.getType().clone(params->stored), x);
    rewriter.replaceOpWithNewOp<StorageCastOp>(op, op.getType(), x);
    return success();
  }
};

struct LowerDequantize : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DequantizeOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = getTensorType(op.getInput());
    std::optional<QuantParams> params = getQuantParams(type.getElementType());
    if (!params)
      return failure();
    Formula formula(rewriter, op, *params);
    Value x = rewriter.createOrFold<StorageCastOp>(formula.inner, type.clone(params->stored),
                                                   op.getInput());
    x = CastOp::create(rewriter, formula.inner, op.getType(), x);
    if (formula.hasZero())
      x = SubOp::create(rewriter, formula.inner, x, formula.zeros());
    if (formula.hasScale())
      x = MulOp::create(rewriter, op.getLoc(), x, formula.scales());
    rewriter.replaceOp(op, x);
    return success();
  }
};

struct LowerQuantized : atc::graph::impl::GraphLowerQuantizedBase<LowerQuantized> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerQuantize, LowerDequantize>(&getContext());
    StorageCastOp::getCanonicalizationPatterns(patterns, &getContext());
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
