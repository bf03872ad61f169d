//===-- RaiseTo2D.cpp - 1-D convolutions and pools get a unit height ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHRAISETO2D
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// [N, C, L] -> [N, C, 1, L].
RankedTensorType raiseType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin() + 2, 1);
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Inserts the value of the new spatial dim in front of that of each part of an attribute (pads
/// have two parts: begins and ends).
void raiseAttribute(Operation *op, StringRef name, int64_t value) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!attr)
    return;
  SmallVector<int64_t> raised;
  for (int64_t old : attr.asArrayRef())
    raised.append({value, old});
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), raised));
}

template <typename OpTy> struct Raise : CountingPattern<OpTy> {
  using CountingPattern<OpTy>::CountingPattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (op.getType().getRank() != 3)
      return rewriter.notifyMatchFailure(op, "is not one-dimensional");
    // A reshape cannot have several dynamic dims.
    auto isStatic = [](Value value) { return getTensorType(value).hasStaticShape(); };
    if (!isStatic(op.getResult()) || !llvm::all_of(op->getOperands(), isStatic))
      return rewriter.notifyMatchFailure(op, "shape is not static");
    Location loc = op.getLoc();
    Operation *raised = rewriter.clone(*op);
    rewriter.setInsertionPoint(raised);
    for (OpOperand &operand : raised->getOpOperands()) {
      // Bias and slope are vectors of the channels and stay.
      if (getTensorType(operand.get()).getRank() != 3)
        continue;
      operand.set(ReshapeOp::create(rewriter, derivedLoc(operand.get().getLoc(), "raised"),
                                    raiseType(operand.get().getType()), operand.get()));
    }
    raised->setLoc(derivedLoc(loc, "raised"));
    raised->getResult(0).setType(raiseType(op.getType()));
    for (StringRef name : {"strides", "dilations", "kernel"})
      raiseAttribute(raised, name, 1);
    for (StringRef name : {"pads", "output_padding"})
      raiseAttribute(raised, name, 0);
    rewriter.setInsertionPointAfter(raised);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), raised->getResult(0));
    ++this->count;
    return success();
  }
};

struct RaiseTo2D : atc::graph::impl::GraphRaiseTo2DBase<RaiseTo2D> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<Raise<AveragePoolOp>, Raise<ConvOp>, Raise<ConvTransposeOp>, Raise<MaxPoolOp>>(
        context, numRaised);
    ReshapeOp::getCanonicalizationPatterns(patterns, context);
    rewriteToFixpoint(getOperation(), std::move(patterns));
  }
};

} // namespace
