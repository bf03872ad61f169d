//===-- ExpandCumulativeSum.cpp - running sums as shifted additions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHEXPANDCUMULATIVESUM
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

struct ExpandSum : CountingPattern<CumulativeSumOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(CumulativeSumOp op, PatternRewriter &rewriter) const override {
    const int64_t axis = op.getAxis(), size = op.getType().getDimSize(axis);
    auto shifted = [&](Value value, int64_t by) -> Value {
      SmallVector<int64_t> low(op.getType().getRank(), 0), high(low);
      low[axis] = op.getReverse() ? -by : by;
      high[axis] = -low[axis];
      return PadOp::create(rewriter, derivedLoc(op.getLoc(), "shift" + std::to_string(by)), value,
                           low, high, PadMode::Constant, APFloat(0.0));
    };
    Value sum = op.getInput();
    if (op.getExclusive())
      sum = shifted(sum, 1);
    for (int64_t by = 1; by < size; by *= 2)
      sum = AddOp::create(rewriter, derivedLoc(op.getLoc(), "sum" + std::to_string(2 * by)), sum,
                          shifted(sum, by));
    rewriter.replaceOp(op, sum);
    ++count;
    return success();
  }
};

struct ExpandCumulativeSum : atc::graph::impl::GraphExpandCumulativeSumBase<ExpandCumulativeSum> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandSum>(&getContext(), numExpanded);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
