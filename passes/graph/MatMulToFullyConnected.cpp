//===-- MatMulToFullyConnected.cpp - matmul by a constant matrix ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/LinearOps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHMATMULTOFULLYCONNECTED
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

/// Frees the matrices that rewrites have left without users.
class MatrixReleaser {
public:
  /// `module` is null where constants are to stay.
  explicit MatrixReleaser(ModuleOp module) : module(module) {}

  /// Erases `constant` where nothing reads it any more, and now and then frees what was erased.
  void erase(PatternRewriter &rewriter, ConstantOp constant) {
    if (!module || !constant || !constant->use_empty())
      return;
    unused +=
        getElementBytes(constant.getType().getElementType()) * constant.getType().getNumElements();
    rewriter.eraseOp(constant);
    if (unused >= kReleaseBytes)
      release();
  }
  /// Frees what was erased.
  void release() {
    if (unused)
      releaseUnusedConstants(module);
    unused = 0;
  }

private:
  /// Finding unused constants costs a walk.
  static constexpr int64_t kReleaseBytes = 32 << 20;

  ModuleOp module;
  int64_t unused = 0; ///< bytes
};

struct ConvertMatMul : CountingPattern<MatMulOp> {
  ConvertMatMul(MLIRContext *context, Pass::Statistic &count, MatrixReleaser &releaser, bool later)
      : CountingPattern(context, count), releaser(releaser), later(later) {}

  LogicalResult matchAndRewrite(MatMulOp op, PatternRewriter &rewriter) const override {
    if (getTensorType(op.getLhs()).getRank() < 2)
      return rewriter.notifyMatchFailure(op, "lhs is a vector");
    ElementsAttr matrix = getConstant(op.getRhs());
    if (!matrix || matrix.getShapedType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "rhs is not a constant matrix");
    ElementsAttr filter = transposeConstant(matrix, {1, 0}, later);
    if (!filter)
      return rewriter.notifyMatchFailure(op, "rhs cannot be read");
    Value weight = ConstantOp::create(rewriter, derivedLoc(op.getLoc(), "weight"), filter);
    auto source = op.getRhs().getDefiningOp<ConstantOp>();
    rewriter.replaceOpWithNewOp<FullyConnectedOp>(op, op.getType(), op.getLhs(), weight,
                                                  /*bias=*/Value(), ActivationAttr());
    releaser.erase(rewriter, source);
    ++count;
    return success();
  }

  MatrixReleaser &releaser;
  bool later; ///< large matrices are transposed when they are read
};

struct AddToBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [value, addend] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      LinearOp linear = LinearOp::definedBy(value);
      if (!linear || !isa<FullyConnectedOp>(linear.getOperation()))
        continue;
      auto bias = getChannelConstant(addend, linear.getType(), linear.getChannelDim());
      if (bias && succeeded(foldAffine(rewriter, linear, op, {}, *bias)))
        return success();
    }
    return rewriter.notifyMatchFailure(op, "not a fully_connected and a channel constant");
  }
};

struct MatMulToFullyConnected
    : atc::graph::impl::GraphMatMulToFullyConnectedBase<MatMulToFullyConnected> {
  using GraphMatMulToFullyConnectedBase::GraphMatMulToFullyConnectedBase;

  void runOnOperation() override {
    // Another function may be rewritten at the same time, or read the same constants.
    auto module = getOperation()->getParentOfType<ModuleOp>();
    const bool isAlone = module && llvm::hasSingleElement(module.getOps<func::FuncOp>());
    MatrixReleaser releaser(releaseConstants && isAlone ? module : ModuleOp());
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertMatMul>(&getContext(), numConverted, releaser, releaseConstants);
    patterns.add<AddToBias>(&getContext());
    rewriteToFixpoint(getOperation(), std::move(patterns));
    releaser.release();
  }
};

} // namespace
