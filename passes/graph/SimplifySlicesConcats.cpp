//===-- SimplifySlicesConcats.cpp - merge slices and concats --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHSIMPLIFYSLICESCONCATS
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Replaces a slice along the axis of a concat, inside one operand or covering exactly a run of
/// operands, by those operands.
struct SliceOfConcat : CountingPattern<SliceOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getInput().getDefiningOp<ConcatOp>();
    if (!concat)
      return rewriter.notifyMatchFailure(op, "does not slice a concat");
    int64_t axis = concat.getAxis(), start = op.getStarts()[axis], size = op.getSizes()[axis];
    int64_t step = op.getSteps()[axis];
    auto isUnknown = [&](Value input) { return getTensorType(input).isDynamicDim(axis); };
    if (llvm::any_of(concat.getInputs(), isUnknown) || size <= 0)
      return rewriter.notifyMatchFailure(op, "size of the axis is not known");
    int64_t first = std::min(start, start + (size - 1) * step);
    int64_t last = std::max(start, start + (size - 1) * step);

    // The operands that hold elements first..last, and where the first begins.
    SmallVector<Value> inputs;
    int64_t begin = 0, position = 0;
    for (Value input : concat.getInputs()) {
      int64_t end = position + getTensorType(input).getDimSize(axis);
      if (end > first && position <= last) {
        if (inputs.empty())
          begin = position;
        inputs.push_back(input);
      }
      position = end;
    }
    if (inputs.size() == concat.getInputs().size() || inputs.empty())
      return rewriter.notifyMatchFailure(op, "needs all operands");
    Value source = inputs.front();
    if (inputs.size() > 1) {
      // A slice that needs parts of several operands would copy them twice.
      int64_t total = 0;
      for (Value input : inputs)
        total += getTensorType(input).getDimSize(axis);
      if (step != 1 || first != begin || size != total)
        return rewriter.notifyMatchFailure(op, "cuts through operands");
      source = ConcatOp::create(rewriter, derivedLoc(op.getLoc(), "concat"), inputs, axis);
    }
    SmallVector<int64_t> starts(op.getStarts());
    starts[axis] -= begin;
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(source);
      op.setStarts(starts);
    });
    ++count;
    return success();
  }
};

/// Returns the slice that covers `first` and, adjacent along the axis, `second`; null when they are
/// not adjacent.
SliceOp mergeNeighbours(SliceOp first, SliceOp second, int64_t axis, Location loc,
                        PatternRewriter &rewriter) {
  if (!first || !second || first.getInput() != second.getInput())
    return {};
  for (size_t d = 0; d < first.getStarts().size(); ++d) {
    if (first.getSteps()[d] != second.getSteps()[d])
      return {};
    bool isAxis = static_cast<int64_t>(d) == axis;
    int64_t next = isAxis ? first.getStarts()[d] + first.getSizes()[d] * first.getSteps()[d]
                          : first.getStarts()[d];
    bool sizesFit = isAxis ? first.getSizes()[d] > 0 && second.getSizes()[d] > 0
                           : first.getSizes()[d] == second.getSizes()[d];
    if (second.getStarts()[d] != next || !sizesFit)
      return {};
  }
  SmallVector<int64_t> sizes(first.getSizes());
  sizes[axis] += second.getSizes()[axis];
  return SliceOp::create(rewriter, loc, first.getInput(), first.getStarts(), sizes,
                         first.getSteps());
}

struct ReassembleSlices : CountingPattern<ConcatOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    Location loc = op.getInputs().size() == 2 ? op.getLoc() : derivedLoc(op.getLoc(), "slice");
    for (Value input : op.getInputs()) {
      auto slice = input.getDefiningOp<SliceOp>();
      auto previous = inputs.empty() ? SliceOp() : inputs.back().getDefiningOp<SliceOp>();
      if (SliceOp merged = mergeNeighbours(previous, slice, op.getAxis(), loc, rewriter))
        inputs.back() = merged;
      else
        inputs.push_back(input);
    }
    if (inputs.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no neighbouring slices");
    if (inputs.size() == 1)
      rewriter.replaceOp(op, inputs.front());
    else
      rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    ++count;
    return success();
  }
};

/// Replaces a gather of one constant index by a slice.
struct GatherOfOne : CountingPattern<GatherOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = getTensorType(op.getInput()), result = getTensorType(op.getResult());
    int64_t axis = op.getAxis(), size = type.getDimSize(axis);
    std::optional<double> number = getScalarConstant(op.getIndices());
    if (!number || getTensorType(op.getIndices()).getNumElements() != 1 || !type.hasStaticShape() ||
        !result.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "gathers more than one known index");
    int64_t index = static_cast<int64_t>(*number);
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      return rewriter.notifyMatchFailure(op, "index is not inside the input");
    SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
        sizes(type.getShape());
    starts[axis] = index;
    sizes[axis] = 1;
    bool isResult = result.getShape() == ArrayRef(sizes);
    auto slice =
        SliceOp::create(rewriter, isResult ? op.getLoc() : derivedLoc(op.getLoc(), "slice"),
                        op.getInput(), starts, sizes, steps);
    if (isResult)
      rewriter.replaceOp(op, slice);
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, slice);
    ++count;
    return success();
  }
};

struct SimplifySlicesConcats
    : atc::graph::impl::GraphSimplifySlicesConcatsBase<SimplifySlicesConcats> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ReassembleSlices>(context, numConcats);
    patterns.add<SliceOfConcat, GatherOfOne>(context, numSlices);
    // Nested concats and nested slices merge by the canonical forms.
    ConcatOp::getCanonicalizationPatterns(patterns, context);
    SliceOp::getCanonicalizationPatterns(patterns, context);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
