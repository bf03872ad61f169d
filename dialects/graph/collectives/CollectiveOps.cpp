//===-- CollectiveOps.cpp - verifiers of what ranks exchange --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallSet.h"

#include "dialects/graph/ops/RegisterOps.h"

using namespace mlir;
using namespace atc::graph;

#define GET_OP_CLASSES
#include "dialects/graph/collectives/CollectiveOps.cpp.inc"

void atc::graph::registerCollectives(GraphDialect &dialect) {
  registerOps<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, BroadcastOp, SendOp,
              ReceiveOp>(dialect);
}

/// Checks a group: at least one rank, each once.
static LogicalResult verifyRanks(Operation *op, ArrayRef<int64_t> ranks) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t rank : ranks)
    if (rank < 0 || !seen.insert(rank).second)
      return op->emitOpError() << "ranks must be nonnegative and name each rank once, but are ["
                               << ranks << "]";
  if (ranks.empty())
    return op->emitOpError() << "ranks must name at least one rank";
  return success();
}

static LogicalResult verifyKind(Operation *op, ReduceKind kind, Value input) {
  if (!llvm::is_contained({ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min}, kind))
    return op->emitOpError() << "kind must be sum, max or min, but is "
                             << stringifyReduceKind(kind);
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1))
    return op->emitOpError() << "combines numbers, but input is " << input.getType();
  return success();
}

static LogicalResult verifyAxis(Operation *op, StringRef name, int64_t axis, Value input) {
  const int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError() << name << " " << axis << " is not in [0, " << rank
                             << "), the dims of the input";
  return success();
}

/// Checks that `part` is `whole` divided by `count` along `axis`.
static LogicalResult verifyShare(Operation *op, Type part, Type whole, int64_t axis,
                                 int64_t count) {
  auto small = cast<RankedTensorType>(part), large = cast<RankedTensorType>(whole);
  bool good =
      small.getElementType() == large.getElementType() && small.getRank() == large.getRank();
  for (int64_t dim = 0; good && dim < small.getRank(); ++dim) {
    const int64_t own = small.getDimSize(dim), all = large.getDimSize(dim);
    if (ShapedType::isDynamic(own) || ShapedType::isDynamic(all))
      continue;
    good = dim == axis ? own * count == all : own == all;
  }
  if (!good)
    return op->emitOpError() << "expects " << part << " to be a share of " << whole << " along dim "
                             << axis << ", of " << count << " ranks";
  return success();
}

LogicalResult AllReduceOp::verify() {
  return failure(failed(verifyRanks(*this, getRanks())) ||
                 failed(verifyKind(*this, getKind(), getInput())));
}

LogicalResult AllGatherOp::verify() {
  const int64_t axis = getAxis();
  return failure(
      failed(verifyRanks(*this, getRanks())) ||
      failed(verifyAxis(*this, "axis", axis, getInput())) ||
      failed(verifyShare(*this, getInput().getType(), getType(), axis, getRanks().size())));
}

LogicalResult ReduceScatterOp::verify() {
  const int64_t axis = getAxis();
  return failure(
      failed(verifyRanks(*this, getRanks())) || failed(verifyKind(*this, getKind(), getInput())) ||
      failed(verifyAxis(*this, "axis", axis, getInput())) ||
      failed(verifyShare(*this, getType(), getInput().getType(), axis, getRanks().size())));
}

LogicalResult AllToAllOp::verify() {
  const int64_t split = getSplitAxis(), concat = getConcatAxis();
  if (failed(verifyRanks(*this, getRanks())) ||
      failed(verifyAxis(*this, "split_axis", split, getInput())) ||
      failed(verifyAxis(*this, "concat_axis", concat, getInput())))
    return failure();
  auto input = cast<RankedTensorType>(getInput().getType());
  const int64_t count = getRanks().size();
  SmallVector<int64_t> shape(input.getShape());
  if (!ShapedType::isDynamic(shape[split])) {
    if (shape[split] % count)
      return emitOpError() << "cannot divide dim " << split << " of " << input << " among " << count
                           << " ranks";
    shape[split] /= count;
  }
  if (!ShapedType::isDynamic(shape[concat]))
    shape[concat] *= count;
  return verifyShare(*this, getType(), input.clone(shape), /*axis=*/-1, count);
}

LogicalResult BroadcastOp::verify() {
  if (failed(verifyRanks(*this, getRanks())))
    return failure();
  if (!llvm::is_contained(getRanks(), static_cast<int64_t>(getRoot())))
    return emitOpError() << "root " << static_cast<int64_t>(getRoot()) << " is none of the ranks ["
                         << getRanks() << "]";
  return success();
}

/// Checks the other end of a message.
static LogicalResult verifyMessage(Operation *op, int64_t peer, int64_t tag, Type type) {
  if (peer < 0 || tag < 0)
    return op->emitOpError() << "expects a nonnegative rank and tag, but has " << peer << " and "
                             << tag;
  if (!cast<RankedTensorType>(type).hasStaticShape())
    return op->emitOpError() << "passes tensors of static shape, but has " << type;
  return success();
}

LogicalResult SendOp::verify() {
  return verifyMessage(*this, getTo(), getTag(), getInput().getType());
}

LogicalResult ReceiveOp::verify() { return verifyMessage(*this, getFrom(), getTag(), getType()); }
