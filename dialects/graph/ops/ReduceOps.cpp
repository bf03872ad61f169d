//===-- ReduceOps.cpp - inference and canonical form of reductions, softmax ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/ops/ReduceOps.cpp.inc"

void atc::graph::registerReduceOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/ReduceOps.cpp.inc"
      >(dialect);
}

static SmallVector<int64_t> reducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                                         bool keepdims) {
  SmallVector<int64_t> result;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      result.push_back(size);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

FailureOr<RankedTensorType> ReduceOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(axis, input.getRank(), emitError)))
      return failure();
    if (i > 0 && axes[i - 1] >= axis)
      return emitError() << "axes must be sorted and name a dim once, but " << axis << " follows "
                         << axes[i - 1];
  }
  Type type = input.getElementType();
  ReduceKind kind = adaptor.getKind();
  bool needsFloat =
      kind == ReduceKind::L2 || kind == ReduceKind::LogSum || kind == ReduceKind::LogSumExp;
  if (needsFloat ? !isa<FloatType>(type) : !type.isIntOrFloat())
    return emitError() << "kind " << stringifyReduceKind(kind) << " expects "
                       << (needsFloat ? "floating-point" : "integer or floating-point")
                       << " elements, but input is " << input;
  return RankedTensorType::get(reducedShape(input.getShape(), axes, adaptor.getKeepdims()), type);
}

namespace {
/// Leaves out axes of size 1, which hold one element each; a reduction that has no other axis
/// becomes a function of its elements.
struct ReduceOfUnitDims : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto input = cast<RankedTensorType>(op.getInput().getType());
    auto type = cast<RankedTensorType>(op.getType());
    if (input.getEncoding() || type.getEncoding())
      return failure();
    SmallVector<int64_t> axes = llvm::filter_to_vector(
        op.getAxes(), [&](int64_t axis) { return input.getDimSize(axis) != 1; });
    if (axes.size() == op.getAxes().size() && !axes.empty())
      return failure();
    if (!op.getKeepdims() && !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "a reshape to dynamic dims");
    Value reduced = axes.empty() ? reduceSingle(op, rewriter)
                                 : ReduceOp::create(rewriter, op.getLoc(), op.getInput(),
                                                    op.getKind(), axes, op.getKeepdims())
                                       .getResult();
    if (reduced.getType() != type)
      reduced = ReshapeOp::create(rewriter, op.getLoc(), type, reduced);
    rewriter.replaceOp(op, reduced);
    return success();
  }

private:
  /// Returns the reduction of each single element, in the shape of the input.
  static Value reduceSingle(ReduceOp op, PatternRewriter &rewriter) {
    Value x = op.getInput();
    switch (op.getKind()) {
    case ReduceKind::Sum:
    case ReduceKind::Mean:
    case ReduceKind::Max:
    case ReduceKind::Min:
    case ReduceKind::Prod:
    case ReduceKind::LogSumExp:
      return x;
    case ReduceKind::L1:
    case ReduceKind::L2:
      return AbsOp::create(rewriter, op.getLoc(), x);
    case ReduceKind::LogSum:
      return LogOp::create(rewriter, op.getLoc(), x);
    case ReduceKind::SumSquare:
      return MulOp::create(rewriter, op.getLoc(), x, x);
    }
    llvm_unreachable("all kinds are handled");
  }
};
} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReduceOfUnitDims>(context);
}

template <typename Adaptor>
static FailureOr<RankedTensorType> inferArgType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(axis, input.getRank(), emitError)))
    return failure();
  if (input.getDimSize(axis) == 0)
    return emitError() << "axis " << axis << " of " << input << " has no elements to choose from";
  return RankedTensorType::get(reducedShape(input.getShape(), axis, adaptor.getKeepdims()),
                               IntegerType::get(input.getContext(), 64));
}

FailureOr<RankedTensorType> ArgMaxOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferArgType(adaptor, emitError);
}
FailureOr<RankedTensorType> ArgMinOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferArgType(adaptor, emitError);
}

static FailureOr<RankedTensorType> inferSoftmaxType(Value input, int64_t axis,
                                                    EmitError emitError) {
  auto type = rankedType(input);
  if (failed(checkAxis(axis, type.getRank(), emitError)))
    return failure();
  if (!isa<FloatType>(type.getElementType()))
    return emitError() << "expects floating-point elements, but input is " << type;
  return withoutEncoding(type);
}

FailureOr<RankedTensorType> SoftmaxOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferSoftmaxType(adaptor.getInput(), adaptor.getAxis(), emitError);
}
FailureOr<RankedTensorType> LogSoftmaxOp::inferType(Adaptor adaptor, EmitError emitError) {
  return inferSoftmaxType(adaptor.getInput(), adaptor.getAxis(), emitError);
}
