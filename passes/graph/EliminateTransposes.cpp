//===-- EliminateTransposes.cpp - cancel, move, cheapen transposes --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/Passes.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/graph/TransposeRegions.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

namespace atc::graph {
#define GEN_PASS_DEF_GRAPHELIMINATETRANSPOSES
#include "passes/graph/Passes.h.inc"
} // namespace atc::graph

using namespace mlir;
using namespace atc::graph;

namespace {

RankedTensorType withShape(RankedTensorType type, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, type.getElementType());
}

/// Moves a transpose in front of the ops that make its operand.
class Hoister {
public:
  explicit Hoister(PatternRewriter &rewriter) : rewriter(rewriter) {}

  /// Returns how many transposes are added when `value` is computed in permuted form; `value`
  /// broadcasts to the rank of the permutation.
  int64_t getCost(Value value, ArrayRef<int64_t> permutation, unsigned depth = 0) const {
    RankedTensorType type = getTensorType(value);
    if (getConstant(value))
      return 0;
    if (type.hasStaticShape() &&
        movesOnlyUnitDims(extendShape(type.getShape(), permutation.size()), permutation))
      return 0;
    Operation *op = value.getDefiningOp();
    if (!op || type.getRank() != static_cast<int64_t>(permutation.size()))
      return 1;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      bool cancels =
          isIdentityPermutation(applyPermutation(transpose.getPermutation(), permutation));
      return (cancels ? 0 : 1) - (op->hasOneUse() ? 1 : 0);
    }
    if (!isPermutable(op) || !op->hasOneUse() || depth > 32)
      return 1;
    int64_t cost = 0;
    for (Value operand : op->getOperands())
      cost += getCost(operand, permutation, depth + 1);
    return cost;
  }

  /// Makes `value` in permuted form, in front of `user`. Follows getCost.
  Value build(Value value, ArrayRef<int64_t> permutation, Operation *user, unsigned depth = 0) {
    RankedTensorType type = getTensorType(value);
    SmallVector<int64_t> extended = extendShape(type.getShape(), permutation.size());
    auto resultType = withShape(type, applyPermutation(extended, permutation));
    Operation *op = value.getDefiningOp();
    Location loc = derivedLoc(op ? op->getLoc() : user->getLoc(), "transposed");
    if (type.hasStaticShape() && movesOnlyUnitDims(extended, permutation)) {
      if (type.getNumElements() == 1)
        return value;
      rewriter.setInsertionPoint(user);
      return ReshapeOp::create(rewriter, loc, resultType, value);
    }
    if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
      SmallVector<int64_t> both = applyPermutation(transpose.getPermutation(), permutation);
      if (isIdentityPermutation(both))
        return transpose.getInput();
      rewriter.setInsertionPoint(user);
      return TransposeOp::create(rewriter, loc, resultType, transpose.getInput(), both);
    }
    if (isPermutable(op) && op->hasOneUse() && depth <= 32 &&
        type.getRank() == static_cast<int64_t>(permutation.size()))
      return buildPermuted(op, permutation, resultType, loc, depth);
    rewriter.setInsertionPoint(user);
    if (type.getRank() != static_cast<int64_t>(permutation.size()))
      value = ReshapeOp::create(rewriter, loc, withShape(type, extended), value);
    return TransposeOp::create(rewriter, loc, resultType, value, permutation);
  }

  Value buildPermuted(Operation *op, ArrayRef<int64_t> permutation, RankedTensorType resultType,
                      Location loc, unsigned depth) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, build(operand, permutation, op, depth + 1));
    rewriter.setInsertionPoint(op);
    Operation *permuted = rewriter.clone(*op, mapping);
    permuted->setLoc(loc);
    permuted->getResult(0).setType(resultType);
    permuteAttributes(permuted, permutation);
    return permuted->getResult(0);
  }

private:
  PatternRewriter &rewriter;
};

struct HoistTranspose : CountingPattern<TransposeOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    Operation *producer = op.getInput().getDefiningOp();
    if (!isPermutable(producer) || !producer->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is not made by an op to move through");
    Hoister hoister(rewriter);
    if (hoister.getCost(op.getInput(), op.getPermutation()) > 0)
      return rewriter.notifyMatchFailure(op, "would not remove a transpose");
    Value replacement = hoister.buildPermuted(producer, op.getPermutation(), op.getType(),
                                              op.getLoc(), /*depth=*/0);
    rewriter.replaceOp(op, replacement);
    ++count;
    return success();
  }
};

/// op(transpose(a), transpose(b), constant) -> transpose(op(a, b, constant')).
struct SinkTransposes : RewritePattern {
  SinkTransposes(MLIRContext *context, Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), count(count) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isPermutable(op) || op->getNumOperands() < 2)
      return failure();
    RankedTensorType type = getTensorType(op->getResult(0));
    TransposeOp first;
    llvm::SmallPtrSet<Operation *, 4> vanishing;
    for (Value operand : op->getOperands()) {
      auto transpose = movedBy(operand);
      if (!transpose)
        continue;
      if (first && transpose.getPermutation() != first.getPermutation())
        return rewriter.notifyMatchFailure(op, "permutations differ");
      first = transpose;
      if (llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == op; }))
        vanishing.insert(transpose);
    }
    if (vanishing.size() < 2 || getTensorType(first.getResult()).getRank() != type.getRank())
      return rewriter.notifyMatchFailure(op, "would not remove a transpose");

    SmallVector<int64_t> permutation(first.getPermutation());
    SmallVector<int64_t> inverse = invertPermutationVector(permutation);
    Hoister hoister(rewriter);
    for (Value operand : op->getOperands())
      if (!movedBy(operand) && hoister.getCost(operand, inverse) > 0)
        return rewriter.notifyMatchFailure(op, "another operand would need a transpose");

    auto innerType = withShape(type, applyPermutation(type.getShape(), inverse));
    Value inner = hoister.buildPermuted(op, inverse, innerType,
                                        derivedLoc(op->getLoc(), "transposed"), /*depth=*/0);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, inner, permutation);
    ++count;
    return success();
  }

  /// Returns the transpose that makes an operand. One of a constant folds, and one that moves only
  /// dims of size 1 becomes a reshape, so that they vanish where they are: hoisting makes such
  /// ones, and would move back what is moved here for them.
  static TransposeOp movedBy(Value operand) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    if (!transpose || getConstant(transpose.getInput()))
      return {};
    RankedTensorType type = getTensorType(transpose.getInput());
    if (type.hasStaticShape() && movesOnlyUnitDims(type.getShape(), transpose.getPermutation()))
      return {};
    return transpose;
  }

  Pass::Statistic &count;
};

/// Lets reductions read the tensor before the transpose, because they name their axes; the
/// remaining transpose is smaller. Where others read the transpose too it stays, and so do the
/// reductions: a norm is one kernel only if it reads one tensor.
struct ReduceTransposed : CountingPattern<ReduceOp> {
  using CountingPattern::CountingPattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "does not reduce a transpose");
    if (!llvm::all_of(transpose->getUsers(), llvm::IsaPred<ReduceOp>))
      return rewriter.notifyMatchFailure(op, "the transpose would stay");
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> axes =
        llvm::map_to_vector(op.getAxes(), [&](int64_t axis) { return permutation[axis]; });
    llvm::sort(axes);

    // The permutation of the dims that are left.
    SmallVector<int64_t> left(permutation);
    if (!op.getKeepdims()) {
      llvm::erase_if(left, [&](int64_t dim) { return llvm::is_contained(axes, dim); });
      for (int64_t &dim : left)
        dim -= llvm::count_if(axes, [&](int64_t axis) { return axis < dim; });
    }
    RankedTensorType type = op.getType();
    bool ordered = isIdentityPermutation(left);
    Location loc = ordered ? op.getLoc() : derivedLoc(op.getLoc(), "transposed");
    auto reducedType =
        withShape(type, applyPermutation(type.getShape(), invertPermutationVector(left)));
    Value reduced = ReduceOp::create(rewriter, loc, reducedType, transpose.getInput(), op.getKind(),
                                     axes, op.getKeepdims());
    if (!ordered)
      reduced = TransposeOp::create(rewriter, op.getLoc(), type, reduced, left);
    rewriter.replaceOp(op, reduced);
    ++count;
    return success();
  }
};

struct FoldConstantTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    ElementsAttr constant = getConstant(op.getInput());
    ElementsAttr result = constant ? transposeConstant(constant, op.getPermutation()) : nullptr;
    if (!result)
      return rewriter.notifyMatchFailure(op, "operand is not constant");
    rewriter.replaceOpWithNewOp<ConstantOp>(op, result);
    return success();
  }
};

struct EliminateTransposes : atc::graph::impl::GraphEliminateTransposesBase<EliminateTransposes> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<HoistTranspose>(context, numHoisted);
    patterns.add<ReduceTransposed>(context, numSunk);
    patterns.add<SinkTransposes>(context, numSunk);
    patterns.add<FoldConstantTranspose>(context, PatternBenefit(2));
    // Pairs cancel and moves of unit dims become reshapes by the canonical forms.
    ReshapeOp::getCanonicalizationPatterns(patterns, context);
    TransposeOp::getCanonicalizationPatterns(patterns, context);
    FrozenRewritePatternSet frozen(std::move(patterns));
    // The patterns count transposes, the regions the elements they move; the bound
    // keeps the two from undoing each other for ever.
    int64_t rounds = 1, numOps = 0;
    getOperation().walk([&](Operation *op) {
      ++numOps;
      rounds += isa<TransposeOp>(op);
    });
    // Each round visits all ops: a huge graph with thousands of regions keeps some of them.
    constexpr int64_t costOfPatterns = 8;
    int64_t visits = 20'000'000;
    do {
      rewriteToFixpoint(getOperation(), frozen);
      visits -= costOfPatterns * numOps;
    } while (permuteRegions(getOperation(), visits) && --rounds > 0);
    rewriteToFixpoint(getOperation(), frozen);
  }
};

} // namespace
