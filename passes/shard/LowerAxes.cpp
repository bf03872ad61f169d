//===-- LowerAxes.cpp - collectives along dim 0 ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "passes/shard/Passes.h"

#include "dialects/graph/collectives/Collectives.h"

using namespace mlir;

namespace atc::shard {
#define GEN_PASS_DEF_SHARDLOWERAXES
#include "passes/shard/Passes.h.inc"

namespace {

using Shape = SmallVector<int64_t>;

/// Creates the ops around a collective.
class Moves {
public:
  explicit Moves(Operation *op) : builder(op), loc(op->getLoc()) {}

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    return graph::ReshapeOp::create(builder, loc, type.clone(shape), value);
  }

  /// Moves dim `from` to position `to`.
  Value moveDim(Value value, int64_t from, int64_t to) {
    if (from == to)
      return value;
    auto type = cast<RankedTensorType>(value.getType());
    Shape permutation;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != from)
        permutation.push_back(dim);
    permutation.insert(permutation.begin() + to, from);
    Shape shape;
    for (int64_t dim : permutation)
      shape.push_back(type.getDimSize(dim));
    return graph::TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
  }

  /// Turns dim `axis` into two, of which the first one has `count` indices and goes in front.
  Value splitToFront(Value value, int64_t axis, int64_t count) {
    Shape shape(cast<RankedTensorType>(value.getType()).getShape());
    shape[axis] /= count;
    shape.insert(shape.begin() + axis, count);
    return moveDim(reshape(value, shape), axis, 0);
  }

  /// Joins dim 0 to the dim that was dim `axis` of each of its indices.
  Value joinFromFront(Value value, int64_t axis) {
    Value moved = moveDim(value, 0, axis);
    Shape shape(cast<RankedTensorType>(moved.getType()).getShape());
    shape[axis + 1] *= shape[axis];
    shape.erase(shape.begin() + axis);
    return reshape(moved, shape);
  }

  OpBuilder builder;
  Location loc;
};

struct LowerAxes : impl::ShardLowerAxesBase<LowerAxes> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isa<graph::AllGatherOp, graph::ReduceScatterOp, graph::AllToAllOp>(op) ||
          !cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape())
        return;
      if (auto gather = dyn_cast<graph::AllGatherOp>(op))
        lower(gather);
      else if (auto scatter = dyn_cast<graph::ReduceScatterOp>(op))
        lower(scatter);
      else
        lower(cast<graph::AllToAllOp>(op));
    });
  }

private:
  void lower(graph::AllGatherOp op) {
    if (op.getAxis() == 0)
      return;
    Moves moves(op);
    Shape shape(cast<RankedTensorType>(op.getInput().getType()).getShape());
    shape.insert(shape.begin(), 1);
    Value input = moves.reshape(op.getInput(), shape);
    shape[0] = op.getRanks().size();
    Value gathered = graph::AllGatherOp::create(moves.builder, moves.loc, op.getType().clone(shape),
                                                input, 0, op.getRanks());
    replace(op, moves.joinFromFront(gathered, op.getAxis()));
  }

  void lower(graph::ReduceScatterOp op) {
    if (op.getAxis() == 0)
      return;
    Moves moves(op);
    Value input = moves.splitToFront(op.getInput(), op.getAxis(), op.getRanks().size());
    Shape shape(cast<RankedTensorType>(input.getType()).getShape());
    shape[0] = 1;
    Value share = graph::ReduceScatterOp::create(
        moves.builder, moves.loc, op.getType().clone(shape), input, op.getKind(), 0, op.getRanks());
    replace(op, moves.reshape(share, op.getType().getShape()));
  }

  void lower(graph::AllToAllOp op) {
    if (op.getSplitAxis() == 0 && op.getConcatAxis() == 0)
      return;
    Moves moves(op);
    Value input = moves.splitToFront(op.getInput(), op.getSplitAxis(), op.getRanks().size());
    Value exchanged = graph::AllToAllOp::create(moves.builder, moves.loc, input.getType(), input, 0,
                                                0, op.getRanks());
    replace(op, moves.joinFromFront(exchanged, op.getConcatAxis()));
  }

  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    ++numMoved;
  }
};

} // namespace
} // namespace atc::shard
