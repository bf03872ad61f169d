//===-- ShapeFolders.cpp - folds and canonical forms of data movement ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h" // IWYU pragma: keep
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

/// Returns whether a layout has been assigned. Operators that move elements ignore layouts;
/// patterns must not change an assigned layout.
static bool hasLayout(Value value) { return rankedType(value).getEncoding() != nullptr; }

//===----------------------------------------------------------------------===//
// reshape, expand, tile, resize, pad
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() && getType().hasStaticShape())
    return getInput();
  // A constant keeps its bytes and changes its shape.
  if (!getType().hasStaticShape() || hasLayout(getResult()))
    return {};
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return dense.reshape(getType());
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getInput()))
    return DenseResourceElementsAttr::get(getType(), resource.getRawHandle());
  return {};
}

namespace {
struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner || hasLayout(inner.getInput()) || hasLayout(inner.getResult()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeOfReshape>(context);
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() && getType().hasStaticShape() ? getInput()
                                                                         : OpFoldResult();
}

OpFoldResult TileOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::all_of(getRepeats(), [](int64_t count) { return count == 1; });
  return isIdentity && getInput().getType() == getType() ? getInput() : OpFoldResult();
}

OpFoldResult ResizeOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::all_of(getScales(), [](double scale) { return scale == 1.0; });
  return isIdentity && getInput().getType() == getType() && getType().hasStaticShape()
             ? getInput()
             : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t size) { return size == 0; };
  bool isIdentity = llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero);
  return isIdentity && getInput().getType() == getType() ? getInput() : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return isIdentityPermutation(getPermutation()) && getInput().getType() == getType()
             ? getInput()
             : OpFoldResult();
}

namespace {
struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner || hasLayout(inner.getInput()) || hasLayout(inner.getResult()))
      return failure();
    SmallVector<int64_t> permutation =
        applyPermutation(inner.getPermutation(), op.getPermutation());
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.setPermutation(permutation);
    });
    return success();
  }
};

/// Removes a transpose that only moves dims of size 1, and so moves no elements.
struct TransposeOfUnitDims : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto input = op.getInput().getType();
    if (!input.hasStaticShape() || hasLayout(op.getInput()) || hasLayout(op.getResult()) ||
        isIdentityPermutation(op.getPermutation()))
      return failure();
    int64_t last = -1;
    for (int64_t dim : op.getPermutation()) {
      if (input.getDimSize(dim) == 1)
        continue;
      if (dim < last)
        return failure();
      last = dim;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};
} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeOfTranspose, TransposeOfUnitDims>(context);
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs().front().getType() == getType() ? getInputs().front()
                                                                               : OpFoldResult();
}

namespace {
/// Merges the inputs of concats along the same axis into this one, and removes inputs without
/// elements. A tree of concats is merged into its root at once: to merge it level by level would
/// copy lists of inputs as often as the tree is deep.
struct FlattenConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op->hasOneUse())
      if (auto outer = dyn_cast<ConcatOp>(*op->user_begin());
          outer && canInline(op, outer.getAxis()))
        return failure();
    SmallVector<Value> inputs;
    SmallVector<ConcatOp> inlined;
    // Inputs that are still to be visited, the next one last.
    SmallVector<Value> pending(llvm::reverse(op.getInputs()));
    while (!pending.empty()) {
      const Value input = pending.pop_back_val();
      auto inner = input.getDefiningOp<ConcatOp>();
      if (inner && canInline(inner, op.getAxis())) {
        inlined.push_back(inner);
        llvm::append_range(pending, llvm::reverse(inner.getInputs()));
      } else if (rankedType(input).getDimSize(op.getAxis()) != 0) {
        inputs.push_back(input);
      }
    }
    if (inputs.empty() || llvm::equal(inputs, op.getInputs()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    // Outer ones first: each was the only user of those inside it.
    for (ConcatOp inner : inlined)
      rewriter.eraseOp(inner);
    return success();
  }

  /// Returns whether the inputs of `inner` can stand in a concat along `axis` in its place.
  static bool canInline(ConcatOp inner, uint64_t axis) {
    return inner.getAxis() == axis && inner->hasOneUse() && !hasLayout(inner.getResult()) &&
           llvm::none_of(inner.getInputs(), hasLayout);
  }
};
} // namespace

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenConcat>(context);
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor) {
  auto input = getInput().getType();
  bool isIdentity = input == getType();
  SmallVector<int64_t> sizes(getSizes());
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    isIdentity &= getStarts()[dim] == 0 && getSteps()[dim] == 1 &&
                  (sizes[dim] == -1 || sizes[dim] == input.getDimSize(dim));
    // A whole dim is replaced by its size as soon as that is known.
    if (sizes[dim] == -1 && !input.isDynamicDim(dim))
      sizes[dim] = input.getDimSize(dim);
  }
  if (isIdentity)
    return getInput();
  if (ArrayRef<int64_t>(sizes) == getSizes())
    return {};
  setSizes(sizes);
  return getResult();
}

namespace {
struct SliceOfSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner || hasLayout(inner.getInput()) || hasLayout(inner.getResult()))
      return failure();
    SmallVector<int64_t> starts, sizes, steps;
    for (size_t dim = 0; dim < op.getSizes().size(); ++dim) {
      bool isWhole = op.getSizes()[dim] == -1;
      sizes.push_back(isWhole ? inner.getSizes()[dim] : op.getSizes()[dim]);
      starts.push_back(inner.getStarts()[dim] + op.getStarts()[dim] * inner.getSteps()[dim]);
      steps.push_back(op.getSteps()[dim] * inner.getSteps()[dim]);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(inner.getInput());
      op.setStarts(starts);
      op.setSizes(sizes);
      op.setSteps(steps);
    });
    return success();
  }
};
} // namespace

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfSlice>(context);
}
