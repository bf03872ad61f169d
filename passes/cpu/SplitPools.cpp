//===-- SplitPools.cpp - maxima of large windows in two steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "passes/cpu/Passes.h"
#include "passes/graph/RewriteUtils.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUSPLITPOOLS
#include "passes/cpu/Passes.h.inc"

namespace {

struct SplitPool : graph::CountingPattern<graph::MaxPoolOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(graph::MaxPoolOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides(), pads = op.getPads(),
                      dilations = op.getDilations();
    if (kernel.size() != 2 || kernel[0] == 1 || kernel[1] == 1)
      return rewriter.notifyMatchFailure(op, "its windows have one row or column");
    auto in = cast<RankedTensorType>(op.getInput().getType());
    auto out = cast<RankedTensorType>(op.getType());
    // Taps per column of the result; maxima along rows are computed for all rows of the input. A
    // tensor between the two costs as much again.
    const int64_t rows = in.getDimSize(2), results = out.getDimSize(2);
    if (results * kernel[0] * kernel[1] < 2 * (rows * kernel[1] + results * kernel[0]))
      return rewriter.notifyMatchFailure(op, "two steps have hardly fewer taps");
    auto pool = [&](Value input, Type result, bool isRows) -> Value {
      auto list = [&](int64_t along, int64_t other) {
        return rewriter.getDenseI64ArrayAttr(isRows ? SmallVector<int64_t>{other, along}
                                                    : SmallVector<int64_t>{along, other});
      };
      auto before = list(pads[isRows], 0), after = list(pads[2 + isRows], 0);
      SmallVector<int64_t> both(before.asArrayRef());
      llvm::append_range(both, after.asArrayRef());
      Location loc = isRows ? graph::derivedLoc(op.getLoc(), "rows") : op.getLoc();
      return graph::MaxPoolOp::create(rewriter, loc, result, input, list(kernel[isRows], 1),
                                      list(strides[isRows], 1), rewriter.getDenseI64ArrayAttr(both),
                                      list(dilations[isRows], 1), op.getCeilModeAttr());
    };
    SmallVector<int64_t> shape(out.getShape());
    shape[2] = rows;
    Value maxima = pool(op.getInput(), out.clone(shape), /*isRows=*/true);
    rewriter.replaceOp(op, pool(maxima, out, /*isRows=*/false));
    ++count;
    return success();
  }
};

struct CpuSplitPools : impl::CpuSplitPoolsBase<CpuSplitPools> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitPool>(&getContext(), numSplit);
    graph::rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace atc::cpu
