//===-- SplitGroups.cpp - groups that fill blocks of channels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images are stored in blocks of channels, and kernels compute whole blocks: adjacent groups are
// merged until each has some, with zeros where a group does not read another one's channels. Where
// the channels do not fill their last block no such number of groups exists, and all would be
// merged into a dense convolution. Without the groups in the last block the others fill theirs.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/Remarks.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHSPLITGROUPS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Channels of a block.
constexpr int64_t kBlock = 16;

/// Returns `size` elements of dim `dim` of a tensor from `first` on; null for no tensor.
Value partOf(PatternRewriter &rewriter, Value value, int64_t dim, int64_t first, int64_t size) {
  if (!value)
    return {};
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(type.getShape()), steps(type.getRank(), 1);
  starts[dim] = first;
  sizes[dim] = size;
  return SliceOp::create(rewriter, derivedLoc(value.getLoc(), "groups"), value, starts, sizes,
                         steps);
}

struct SplitGroups : CountingPattern<ConvOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType input = getTensorType(op.getInput()), type = op.getType();
    const int64_t groups = op.getGroups();
    if (groups < 2 || type.getRank() != 4 || !input.hasStaticShape() || !type.hasStaticShape() ||
        !getConstant(op.getFilter()))
      return rewriter.notifyMatchFailure(op, "has no groups, no known shape or no known filter");
    const int64_t inputs = input.getDimSize(1) / groups, outputs = type.getDimSize(1) / groups;
    if (inputs == 1 && outputs == 1)
      return rewriter.notifyMatchFailure(op, "is depthwise");
    auto fillBlocks = [&](int64_t count) {
      return count * inputs % kBlock == 0 && count * outputs % kBlock == 0;
    };
    if (fillBlocks(groups))
      return rewriter.notifyMatchFailure(op, "its channels fill blocks");
    int64_t whole = groups - 1;
    while (whole > 0 && !fillBlocks(whole))
      --whole;
    if (whole == 0)
      return rewriter.notifyMatchFailure(op, "no groups of it fill blocks");
    Value parts[] = {groupsOf(rewriter, op, 0, whole), groupsOf(rewriter, op, whole, groups)};
    atc::remarkPassed("graph-split-groups", op.getLoc(), "Split")
        << "groups that fill blocks of channels are apart from the others";
    rewriter.replaceOpWithNewOp<ConcatOp>(op, parts, /*axis=*/1);
    ++count;
    return success();
  }

private:
  /// Returns the convolution of groups [first, end).
  static Value groupsOf(PatternRewriter &rewriter, ConvOp op, int64_t first, int64_t end) {
    const int64_t inputs = getTensorType(op.getInput()).getDimSize(1) / op.getGroups();
    const int64_t outputs = op.getType().getDimSize(1) / op.getGroups(), count = end - first;
    auto ofOutputs = [&](Value value, int64_t dim) {
      return partOf(rewriter, value, dim, first * outputs, count * outputs);
    };
    Value input = partOf(rewriter, op.getInput(), 1, first * inputs, count * inputs);
    return ConvOp::create(rewriter, derivedLoc(op.getLoc(), "groups"), input,
                          ofOutputs(op.getFilter(), 0), ofOutputs(op.getBias(), 0),
                          ofOutputs(op.getResidual(), 1), ofOutputs(op.getSlope(), 0),
                          op.getStrides(), op.getPads(), op.getDilations(), count,
                          op.getActivation().value_or(ActivationAttr()), op.getResidualLast());
  }
};

struct SplitGroupsPass : atc::graph::impl::GraphSplitGroupsBase<SplitGroupsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitGroups>(&getContext(), numSplit);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
