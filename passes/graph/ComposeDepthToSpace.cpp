//===-- ComposeDepthToSpace.cpp - recognise pixel shuffles ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHCOMPOSEDEPTHTOSPACE
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Composes a pixel shuffle as models express it: a reshape to six dims, a transpose, a reshape to
/// four.
struct ComposeShuffle : CountingPattern<ReshapeOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    auto split = transpose ? transpose.getInput().getDefiningOp<ReshapeOp>() : ReshapeOp();
    if (!split || !op.getType().hasStaticShape() || !split.getType().hasStaticShape() ||
        !getTensorType(split.getInput()).hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not reshape, transpose, reshape of known shapes");
    ArrayRef<int64_t> input = getTensorType(split.getInput()).getShape();
    ArrayRef<int64_t> dims = split.getType().getShape();
    ArrayRef<int64_t> output = op.getType().getShape();
    if (input.size() != 4 || dims.size() != 6 || output.size() != 4)
      return rewriter.notifyMatchFailure(op, "other ranks");

    auto isShuffle = [&](ArrayRef<int64_t> permutation, ArrayRef<int64_t> expectedDims,
                         ArrayRef<int64_t> expectedOutput) {
      return transpose.getPermutation() == permutation && dims == expectedDims &&
             output == expectedOutput;
    };
    int64_t n = input[0], c = input[1], h = input[2], w = input[3];
    if (int64_t b = dims[2]; b > 1 && c % (b * b) == 0) {
      int64_t m = c / (b * b);
      std::optional<DepthOrder> order;
      if (isShuffle({0, 1, 4, 2, 5, 3}, {n, m, b, b, h, w}, {n, m, h * b, w * b}))
        order = DepthOrder::CRD;
      else if (isShuffle({0, 3, 4, 1, 5, 2}, {n, b, b, m, h, w}, {n, m, h * b, w * b}))
        order = DepthOrder::DCR;
      if (order) {
        rewriter.replaceOpWithNewOp<DepthToSpaceOp>(op, op.getType(), split.getInput(), b, *order);
        ++count;
        return success();
      }
    }
    if (int64_t b = dims[3];
        b > 1 && h % b == 0 && w % b == 0 &&
        isShuffle({0, 3, 5, 1, 2, 4}, {n, c, h / b, b, w / b, b}, {n, c * b * b, h / b, w / b})) {
      rewriter.replaceOpWithNewOp<SpaceToDepthOp>(op, op.getType(), split.getInput(), b);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "another permutation");
  }
};

struct ComposeDepthToSpace : atc::graph::impl::GraphComposeDepthToSpaceBase<ComposeDepthToSpace> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComposeShuffle>(&getContext(), numComposed);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
