//===-- TrimKernels.cpp - drops taps that read only padding ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHTRIMKERNELS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// One spatial dim of a convolution: output o reads element o * stride - low + k * dilation of the
/// input through tap k.
struct Dim {
  int64_t input, output, taps, stride, dilation, low;

  /// Returns whether a tap reads an element of the input for any output.
  bool reads(int64_t tap) const {
    const int64_t begin = tap * dilation - low, end = begin + (output - 1) * stride;
    if (end < 0 || begin >= input)
      return false;
    // The first position at or behind the input's begin.
    const int64_t inside = begin >= 0 ? begin : begin + llvm::divideCeil(-begin, stride) * stride;
    return inside < input && inside <= end;
  }

  /// Returns the padding at the end that makes `output` positions fit where the taps are [first,
  /// last]; negative: elements that no window reads.
  int64_t high(int64_t first, int64_t last) const {
    return (output - 1) * stride + last * dilation + 1 - low - input;
  }

  /// Drops taps outside of [first, last], which are left as they are where the rest would need
  /// another input or make another number of outputs.
  std::pair<int64_t, int64_t> keptTaps() const {
    int64_t first = 0, last = taps - 1;
    while (first < last && !reads(first) && (first + 1) * dilation <= low)
      ++first;
    while (last > first && !reads(last) && high(first, last - 1) > -stride)
      --last;
    return {first, last};
  }
};

struct TrimKernel : CountingPattern<ConvOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType input = getTensorType(op.getInput()), filter = getTensorType(op.getFilter());
    if (!input.hasStaticShape() || !op.getType().hasStaticShape() || !getConstant(op.getFilter()))
      return rewriter.notifyMatchFailure(op, "shape is not static or filter is not constant");
    const size_t spatial = op.getStrides().size();
    SmallVector<int64_t> starts(2, 0), sizes(filter.getShape().take_front(2)),
        steps(filter.getRank(), 1), pads(op.getPads());
    bool isTrimmed = false;
    for (size_t d = 0; d < spatial; ++d) {
      const Dim dim = {input.getDimSize(d + 2),  op.getType().getDimSize(d + 2),
                       filter.getDimSize(d + 2), op.getStrides()[d],
                       op.getDilations()[d],     op.getPads()[d]};
      const auto [first, last] = dim.keptTaps();
      starts.push_back(first);
      sizes.push_back(last - first + 1);
      if (sizes.back() == dim.taps)
        continue;
      isTrimmed = true;
      pads[d] -= first * dim.dilation;
      pads[d + spatial] = std::max<int64_t>(dim.high(first, last), 0);
    }
    if (!isTrimmed)
      return rewriter.notifyMatchFailure(op, "every tap reads the input");
    Value kept = SliceOp::create(rewriter, derivedLoc(op.getFilter().getLoc(), "trimmed"),
                                 op.getFilter(), starts, sizes, steps);
    rewriter.modifyOpInPlace(op, [&] {
      op.getFilterMutable().assign(kept);
      op.setPads(pads);
    });
    atc::remarkPassed("graph-trim-kernels", op.getLoc(), "Trimmed")
        << "taps that read only padding are dropped";
    ++count;
    return success();
  }
};

struct TrimKernels : atc::graph::impl::GraphTrimKernelsBase<TrimKernels> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<TrimKernel>(&getContext(), numTrimmed);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
