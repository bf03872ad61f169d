//===-- ShardingRules.cpp - which shares ops can be computed on -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// That an op computes a share of its result from shares of its operands is what
// TiledDimOpInterface states. Rules of their own have only the products and sums, which sum over a
// dim, and ops that broadcast, whose operands are brought to one division.

#include "passes/shard/ShardingRules.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/tiling/TiledDims.h"

using namespace mlir;

namespace atc::shard {

namespace {

using Dims = ArrayRef<int64_t>;

RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }
int64_t rankOf(Value value) { return typeOf(value).getRank(); }

OpSharding wholeOf(Operation *op) {
  return {SmallVector<int64_t>(op->getNumOperands(), kWhole), kWhole, false};
}

/// Returns the division of the result where the operands are divided along `dims`; fails where
/// shares depend on each other or cannot be equal.
FailureOr<OpSharding> tryDims(Operation *op, Dims dims, int64_t count) {
  auto rule = dyn_cast<graph::TiledDimOpInterface>(op);
  if (!rule || llvm::all_of(dims, [](int64_t dim) { return dim == kWhole; }))
    return failure();
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims))
    if (dim != kWhole && !canDivide(operand, dim, count))
      return failure();
  std::string reason;
  FailureOr<int64_t> result = rule.inferTiledDim(dims, count, reason);
  if (failed(result) || !canDivide(op->getResult(0), *result, count))
    return failure();
  return OpSharding{SmallVector<int64_t>(dims), *result, false};
}

/// Returns the dim of `operand` that is dim `at` of the result it broadcasts to, or kWhole where it
/// does not vary along it.
int64_t broadcastDim(Value operand, int64_t resultRank, int64_t at) {
  const int64_t dim = at - (resultRank - rankOf(operand));
  return dim >= 0 && typeOf(operand).getDimSize(dim) != 1 ? dim : kWhole;
}

/// Ops that broadcast follow the operand with the most elements that is divided.
FailureOr<OpSharding> findBroadcast(Operation *op, Dims given, int64_t count) {
  const int64_t rank = rankOf(op->getResult(0));
  int64_t at = kWhole, elements = -1;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), given))
    if (dim != kWhole && typeOf(operand).getNumElements() > elements) {
      elements = typeOf(operand).getNumElements();
      at = dim + rank - rankOf(operand);
    }
  SmallVector<int64_t> dims;
  for (Value operand : op->getOperands())
    dims.push_back(broadcastDim(operand, rank, at));
  return tryDims(op, dims, count);
}

FailureOr<OpSharding> findConcat(Operation *op, Dims given, int64_t count) {
  const int64_t dim = *llvm::find_if(given, [](int64_t dim) { return dim != kWhole; });
  return tryDims(op, SmallVector<int64_t>(given.size(), dim), count);
}

FailureOr<OpSharding> findMatMul(Operation *op, Dims given, int64_t count) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  const int64_t left = rankOf(lhs), right = rankOf(rhs);
  const int64_t leftSum = left - 1, rightSum = right > 1 ? right - 2 : 0;
  const int64_t column = right > 1 ? right - 1 : kWhole;
  if (given[1] == rightSum) {
    if (!canDivide(lhs, leftSum, count) || !canDivide(rhs, rightSum, count))
      return failure();
    return OpSharding{{leftSum, rightSum}, kWhole, /*partial=*/true};
  }
  if (given[1] != kWhole && given[1] == column && (graph::isConstant(rhs) || given[0] == kWhole))
    return tryDims(op, {kWhole, column}, count);
  // A row of the left side, or a dim of the batch on either.
  const int64_t batch = std::max<int64_t>({left - 2, right - 2, 0});
  const bool fromLeft = given[0] != kWhole && given[0] != leftSum;
  if (fromLeft && given[0] == left - 2)
    return tryDims(op, {given[0], kWhole}, count);
  if (!fromLeft && (given[1] == kWhole || given[1] >= right - 2))
    return failure();
  const int64_t at = fromLeft ? given[0] + batch - (left - 2) : given[1] + batch - (right - 2);
  auto dimOfBatch = [&](Value operand, int64_t rank) {
    const int64_t dim = at - (batch - (rank - 2));
    return rank > 2 && dim >= 0 && typeOf(operand).getDimSize(dim) != 1 ? dim : kWhole;
  };
  return tryDims(op, {dimOfBatch(lhs, left), dimOfBatch(rhs, right)}, count);
}

FailureOr<OpSharding> findFullyConnected(graph::FullyConnectedOp op, Dims given, int64_t count) {
  const int64_t last = rankOf(op.getInput()) - 1;
  if (given[1] == 1) {
    // An activation is not one of the sum of its arguments.
    if (op.getActivation() || !canDivide(op.getInput(), last, count) ||
        !canDivide(op.getFilter(), 1, count))
      return failure();
    OpSharding sharding{{last, 1}, kWhole, /*partial=*/true};
    sharding.operands.resize(op->getNumOperands(), kWhole);
    return sharding;
  }
  if (given[1] == 0) {
    if (!canDivide(op.getFilter(), 0, count))
      return failure();
    OpSharding sharding{{kWhole, 0}, rankOf(op.getResult()) - 1, false};
    sharding.operands.resize(op->getNumOperands(), 0);
    return sharding;
  }
  SmallVector<int64_t> dims(op->getNumOperands(), kWhole);
  dims[0] = given[0];
  return tryDims(op, dims, count);
}

/// A sum over the dim that is divided, such as experts, is the sum of the ranks' sums. One over the
/// last dim is a norm's: its input is better whole than two of its results summed.
FailureOr<OpSharding> findReduce(graph::ReduceOp op, Dims given, int64_t count) {
  if (op.getKind() != graph::ReduceKind::Sum || !llvm::is_contained(op.getAxes(), given[0]) ||
      given[0] == rankOf(op.getInput()) - 1 || !canDivide(op.getInput(), given[0], count))
    return tryDims(op, given, count);
  return OpSharding{{given[0]}, kWhole, /*partial=*/true};
}

} // namespace

OpSharding findSharding(Operation *op, Dims given, int64_t count) {
  auto isStatic = [](Value value) { return typeOf(value) && typeOf(value).hasStaticShape(); };
  if (llvm::all_of(given, [](int64_t dim) { return dim == kWhole; }) || op->getNumResults() != 1 ||
      !llvm::all_of(op->getOperands(), isStatic) || !isStatic(op->getResult(0)))
    return wholeOf(op);
  FailureOr<OpSharding> found = failure();
  if (isa<graph::MatMulOp>(op))
    found = findMatMul(op, given, count);
  else if (auto product = dyn_cast<graph::FullyConnectedOp>(op))
    found = findFullyConnected(product, given, count);
  else if (isa<graph::ElementwiseOpInterface>(op))
    found = findBroadcast(op, given, count);
  else if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    found = findReduce(reduce, given, count);
  else if (isa<graph::ConcatOp>(op))
    found = findConcat(op, given, count);
  else
    found = tryDims(op, given, count);
  return failed(found) ? wholeOf(op) : *found;
}

int64_t dimOf(Value value) {
  IntegerAttr dim;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      dim = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kDimAttr);
  } else if (value.getDefiningOp()->getNumResults() == 1) {
    dim = value.getDefiningOp()->getAttrOfType<IntegerAttr>(kDimAttr);
  }
  return dim ? dim.getInt() : kWhole;
}

void setDim(Value value, int64_t dim) {
  auto attribute = IntegerAttr::get(IntegerType::get(value.getContext(), 64), dim);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (dim == kWhole)
      function.removeArgAttr(argument.getArgNumber(), kDimAttr);
    else
      function.setArgAttr(argument.getArgNumber(), kDimAttr, attribute);
  } else if (dim == kWhole) {
    value.getDefiningOp()->removeAttr(kDimAttr);
  } else {
    value.getDefiningOp()->setAttr(kDimAttr, attribute);
  }
}

SmallVector<int64_t> dimsOfOperands(Operation *op) {
  return llvm::map_to_vector(op->getOperands(), dimOf);
}

bool canDivide(Value value, int64_t dim, int64_t count) {
  RankedTensorType type = typeOf(value);
  if (!type || !type.hasStaticShape() || dim < 0 || dim >= type.getRank())
    return false;
  return type.getDimSize(dim) > 0 && type.getDimSize(dim) % count == 0;
}

bool propagate(Operation *op, int64_t count) {
  if (op->getNumResults() != 1 || isa<graph::ConstantOp>(op))
    return false;
  const OpSharding sharding = findSharding(op, dimsOfOperands(op), count);
  // An operand that one op needs as a whole is whole for all its readers. Otherwise a layer norm,
  // which reads its input for the mean first, would leave the rest of the network in shares that
  // have to be gathered each time.
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), sharding.operands))
    if (dim == kWhole && dimOf(operand) != kWhole && !graph::isConstant(operand) &&
        !isa<BlockArgument>(operand))
      setDim(operand, kWhole);
  setDim(op->getResult(0), sharding.result);
  if (sharding.partial)
    op->setAttr(kPartialAttr, UnitAttr::get(op->getContext()));
  else
    op->removeAttr(kPartialAttr);
  return sharding.partial || sharding.result != kWhole;
}

} // namespace atc::shard
