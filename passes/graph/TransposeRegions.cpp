//===-- TransposeRegions.cpp - computing a region in permuted form --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/TransposeRegions.h"

#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::graph {

bool movesOnlyUnitDims(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t p : permutation) {
    if (shape[p] == 1)
      continue;
    if (p < last)
      return false;
    last = p;
  }
  return true;
}

SmallVector<int64_t> extendShape(ArrayRef<int64_t> shape, size_t rank) {
  SmallVector<int64_t> extended(rank - shape.size(), 1);
  llvm::append_range(extended, shape);
  return extended;
}

bool isPermutable(Operation *op) {
  return isa_and_nonnull<ElementwiseOpInterface, ConcatOp, SliceOp, PadOp>(op);
}

void permuteAttributes(Operation *op, ArrayRef<int64_t> permutation) {
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    concat.setAxis(invertPermutationVector(permutation)[concat.getAxis()]);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    slice.setStarts(applyPermutation(slice.getStarts(), permutation));
    slice.setSizes(applyPermutation(slice.getSizes(), permutation));
    slice.setSteps(applyPermutation(slice.getSteps(), permutation));
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    pad.setLow(applyPermutation(pad.getLow(), permutation));
    pad.setHigh(applyPermutation(pad.getHigh(), permutation));
  }
}

namespace {

/// The permutable ops that are connected to one transpose, and what computing
/// them in the form `permutation` costs.
class Region {
public:
  Region(SmallVector<int64_t> permutation)
      : permutation(std::move(permutation)), inverse(invertPermutationVector(this->permutation)) {}

  /// Takes in all that is connected with `start`. False when `visits` runs out on the way.
  bool grow(Operation *start, int64_t &visits);
  /// Elements that are moved more, or less where it is negative.
  int64_t getCost() const;
  void rewrite();

private:
  bool canJoin(Operation *op) const;
  /// Constants and values whose permuted form is a reshape cost nothing.
  bool isFree(Value value) const;
  bool hasInverse(Operation *op) const {
    auto transpose = dyn_cast_or_null<TransposeOp>(op);
    return transpose && transpose.getPermutation() == ArrayRef(inverse);
  }
  bool isForm(Operation *op) const {
    auto transpose = dyn_cast<TransposeOp>(op);
    return transpose && transpose.getPermutation() == ArrayRef(permutation);
  }
  Value permute(OpBuilder &builder, Operation *user, Value value);

  SmallVector<int64_t> permutation, inverse;
  llvm::SmallSetVector<Operation *, 16> ops;
};

bool Region::canJoin(Operation *op) const {
  if (!isPermutable(op) || op->getNumResults() != 1)
    return false;
  RankedTensorType type = getTensorType(op->getResult(0));
  return type.getRank() == static_cast<int64_t>(permutation.size()) && type.hasStaticShape() &&
         llvm::all_of(op->getOperands(),
                      [](Value operand) { return getTensorType(operand).hasStaticShape(); });
}

bool Region::isFree(Value value) const {
  return getConstant(value) ||
         movesOnlyUnitDims(extendShape(getTensorType(value).getShape(), permutation.size()),
                           permutation);
}

bool Region::grow(Operation *start, int64_t &visits) {
  SmallVector<Operation *> pending{start};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    if (--visits <= 0)
      return false;
    Operation *op = pending.pop_back_val();
    if (!op || !canJoin(op) || !ops.insert(op))
      continue;
    for (Value operand : op->getOperands()) {
      if (isFree(operand) || !seen.insert(operand).second)
        continue;
      pending.push_back(operand.getDefiningOp());
      // Others that read it would need it in the form it has now.
      llvm::append_range(pending, operand.getUsers());
    }
    if (!isFree(op->getResult(0)) && seen.insert(op->getResult(0)).second)
      llvm::append_range(pending, op->getUsers());
  }
  return true;
}

int64_t Region::getCost() const {
  int64_t cost = 0;
  llvm::SmallPtrSet<Value, 16> entering;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (isFree(operand) || (source && ops.contains(source)) || !entering.insert(operand).second)
        continue;
      int64_t elements = getTensorType(operand).getNumElements();
      if (!hasInverse(source))
        cost += elements;
      else if (llvm::all_of(operand.getUsers(), [&](Operation *user) {
                 return ops.contains(user) || isa<ReduceOp>(user);
               }))
        cost -= elements;
    }
    Value result = op->getResult(0);
    if (isFree(result))
      continue;
    int64_t elements = getTensorType(result).getNumElements();
    bool isRead = false;
    for (Operation *user : result.getUsers()) {
      if (isForm(user))
        cost -= elements;
      // A reduction then reads the new form directly.
      else if (!ops.contains(user) && !isa<ReduceOp>(user))
        isRead = true;
    }
    if (isRead)
      cost += elements;
  }
  return cost;
}

Value Region::permute(OpBuilder &builder, Operation *user, Value value) {
  Operation *source = value.getDefiningOp();
  if (hasInverse(source))
    return cast<TransposeOp>(source).getInput();
  RankedTensorType type = getTensorType(value);
  if (type.getNumElements() == 1)
    return value;
  SmallVector<int64_t> shape = extendShape(type.getShape(), permutation.size());
  auto resultType =
      RankedTensorType::get(applyPermutation(shape, permutation), type.getElementType());
  Location loc = derivedLoc(source ? source->getLoc() : user->getLoc(), "transposed");
  if (movesOnlyUnitDims(shape, permutation))
    return resultType == type ? value : ReshapeOp::create(builder, loc, resultType, value);
  auto extended = RankedTensorType::get(shape, type.getElementType());
  if (extended != type)
    value = ReshapeOp::create(builder, loc, extended, value);
  return TransposeOp::create(builder, loc, resultType, value, permutation);
}

void Region::rewrite() {
  // In program order, so that operands come first.
  SmallVector<Operation *> order(ops.begin(), ops.end());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  IRMapping mapping;
  for (Operation *op : order) {
    OpBuilder builder(op);
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, permute(builder, op, operand));
    Value result = op->getResult(0);
    Operation *permuted = builder.clone(*op, mapping);
    RankedTensorType type = getTensorType(result);
    permuted->getResult(0).setType(RankedTensorType::get(
        applyPermutation(type.getShape(), permutation), type.getElementType()));
    permuteAttributes(permuted, permutation);
    mapping.map(result, permuted->getResult(0));
  }
  for (Operation *op : order) {
    Value result = op->getResult(0), permuted = mapping.lookup(result);
    permuted.getDefiningOp()->setLoc(derivedLoc(op->getLoc(), "transposed"));
    OpBuilder builder(op);
    Value back;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (ops.contains(use.getOwner()))
        continue;
      if (isForm(use.getOwner())) {
        use.getOwner()->getResult(0).replaceAllUsesWith(permuted);
        continue;
      }
      if (!back)
        back = TransposeOp::create(builder, op->getLoc(), result.getType(), permuted, inverse);
      use.set(back);
    }
  }
  for (Operation *op : llvm::reverse(order)) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      user->erase();
    op->erase();
  }
}

bool tryRegion(Operation *start, SmallVector<int64_t> permutation, int64_t &visits) {
  Region region(std::move(permutation));
  if (!region.grow(start, visits) || region.getCost() >= 0)
    return false;
  region.rewrite();
  return true;
}

bool tryTranspose(TransposeOp transpose, int64_t &visits) {
  SmallVector<int64_t> permutation(transpose.getPermutation());
  if (!transpose.getType().hasStaticShape())
    return false;
  if (Operation *source = transpose.getInput().getDefiningOp())
    if (tryRegion(source, permutation, visits))
      return true;
  SmallVector<int64_t> inverse = invertPermutationVector(permutation);
  for (Operation *user : transpose->getUsers())
    if (tryRegion(user, inverse, visits))
      return true;
  return false;
}

} // namespace

bool permuteRegions(func::FuncOp function, int64_t &visits) {
  // Terminates because every rewritten region leaves fewer elements to move.
  for (Operation &op : function.getBody().getOps())
    if (auto transpose = dyn_cast<TransposeOp>(op); transpose && visits > 0)
      if (tryTranspose(transpose, visits))
        return true;
  return false;
}

} // namespace atc::graph
