//===-- Partition.cpp - the program of one rank ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/shard/Passes.h"
#include "passes/shard/ShardingRules.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/tiling/TiledDims.h"
#include "mlir/IR/IRMapping.h"

#include <cstring>

using namespace mlir;

namespace atc::shard {
#define GEN_PASS_DEF_SHARDPARTITION
#include "passes/shard/Passes.h.inc"

namespace {

RankedTensorType shareOf(RankedTensorType type, int64_t dim, int64_t count) {
  if (dim == kWhole)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= count;
  return type.clone(shape);
}

/// Returns share `index` of `count` of a constant along `dim`; null where its elements cannot be
/// read.
ElementsAttr shareOfConstant(ElementsAttr value, int64_t dim, int64_t count, int64_t index) {
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType share = shareOf(type, dim, count);
  auto bytes = graph::ConstantBytes::get(value);
  if (failed(bytes))
    return {};
  ArrayRef<char> all = bytes->expanded();
  int64_t blocks = 1;
  for (int64_t size : type.getShape().take_front(dim))
    blocks *= size;
  const size_t block = all.size() / blocks, part = block / count;
  std::vector<char> own(part * blocks);
  for (int64_t i = 0; i < blocks; ++i)
    std::memcpy(own.data() + i * part, all.data() + i * block + index * part, part);
  return graph::makeConstant(share, std::move(own), "share");
}

/// Writes the program of one rank into a new block.
class Partitioner {
public:
  Partitioner(func::FuncOp function, ArrayRef<int64_t> ranks, int64_t index)
      : function(function), ranks(ranks), index(index), builder(function.getContext()) {}

  unsigned numCollectives = 0;

  LogicalResult run() {
    Block &old = function.front();
    Block *fresh = new Block;
    function.getBody().push_back(fresh);
    builder.setInsertionPointToEnd(fresh);
    for (BlockArgument argument : old.getArguments())
      define(argument, fresh->addArgument(argument.getType(), argument.getLoc()), kWhole);
    LogicalResult result = success();
    for (Operation &op : old)
      if (!isa<graph::ConstantOp>(op) && failed(result = add(op)))
        break;
    if (failed(result)) {
      fresh->erase();
      return failure();
    }
    old.dropAllReferences();
    old.erase();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, kDimAttr);
    return success();
  }

private:
  int64_t count() const { return ranks.size(); }

  void define(Value old, Value local, int64_t dim) {
    native[old] = dim;
    forms[{old, dim}] = local;
  }

  /// Returns the rank's share of a value of the old program along `dim`, or all of it.
  FailureOr<Value> form(Value old, int64_t dim) {
    if (Value known = forms.lookup({old, dim}))
      return known;
    Value made;
    if (auto constant = old.getDefiningOp<graph::ConstantOp>()) {
      ElementsAttr value = constant.getValue();
      if (dim != kWhole && !(value = shareOfConstant(value, dim, count(), index)))
        return constant.emitError() << "the elements of the constant cannot be divided";
      made = graph::ConstantOp::create(builder, old.getLoc(), value);
    } else {
      made = convert(old, native.lookup(old), dim);
    }
    forms[{old, dim}] = made;
    return made;
  }

  Value convert(Value old, int64_t from, int64_t to) {
    auto type = cast<RankedTensorType>(old.getType());
    RankedTensorType target = shareOf(type, to, count());
    Value local = forms.lookup({old, from});
    if (from == kWhole) {
      SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1);
      starts[to] = index * target.getDimSize(to);
      return graph::SliceOp::create(builder, old.getLoc(), target, local, starts, target.getShape(),
                                    steps);
    }
    ++numCollectives;
    if (to == kWhole)
      return graph::AllGatherOp::create(builder, old.getLoc(), target, local, from, ranks);
    return graph::AllToAllOp::create(builder, old.getLoc(), target, local, to, from, ranks);
  }

  LogicalResult add(Operation &op) {
    OpSharding sharding = findSharding(&op, dimsOfOperands(&op), count());
    IRMapping mapping;
    for (auto [operand, dim] : llvm::zip_equal(op.getOperands(), sharding.operands)) {
      FailureOr<Value> local = form(operand, dim);
      if (failed(local))
        return failure();
      mapping.map(operand, *local);
    }
    // Regions of branches and loops read values around them, which are whole.
    WalkResult walked = op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (operand.getParentBlock() != op.getBlock() || inner == &op)
          continue;
        FailureOr<Value> local = form(operand, kWhole);
        if (failed(local))
          return WalkResult::interrupt();
        mapping.map(operand, *local);
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    Operation *local = builder.clone(op, mapping);
    // One value may be an operand twice, divided in two ways.
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      local->setOperand(i, forms.lookup({op.getOperand(i), sharding.operands[i]}));
    local->removeAttr(kDimAttr);
    local->removeAttr(kPartialAttr);
    if (sharding.result != kWhole)
      setShare(local, sharding.result);
    if (sharding.partial) {
      define(op.getResult(0), sum(local), kWhole);
      return success();
    }
    for (auto [old, result] : llvm::zip_equal(op.getResults(), local->getResults()))
      define(old, result, sharding.result);
    return success();
  }

  /// Makes the result of an op a share of what it was.
  void setShare(Operation *op, int64_t dim) {
    Value result = op->getResult(0);
    RankedTensorType share = shareOf(cast<RankedTensorType>(result.getType()), dim, count());
    cast<graph::TiledDimOpInterface>(op).setTiledSize(dim, share.getDimSize(dim));
    result.setType(share);
  }

  /// Adds up the results of all ranks; a bias is added once, behind that.
  Value sum(Operation *op) {
    Value bias;
    if (auto product = dyn_cast<graph::FullyConnectedOp>(op); product && product.getBias()) {
      bias = product.getBias();
      product.getBiasMutable().clear();
    }
    ++numCollectives;
    Value total = graph::AllReduceOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                                             op->getResult(0), graph::ReduceKind::Sum, ranks);
    return bias ? graph::AddOp::create(builder, op->getLoc(), total, bias).getResult() : total;
  }

  func::FuncOp function;
  ArrayRef<int64_t> ranks;
  const int64_t index;
  OpBuilder builder;
  DenseMap<Value, int64_t> native; ///< how the program makes a value
  DenseMap<std::pair<Value, int64_t>, Value> forms;
};

struct Partition : impl::ShardPartitionBase<Partition> {
  using ShardPartitionBase::ShardPartitionBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (index < 0 || index >= int64_t(ranks.size())) {
      getOperation().emitError() << "index " << index.getValue() << " is not in [0, "
                                 << ranks.size() << "), the ranks of the group";
      return signalPassFailure();
    }
    const SmallVector<int64_t> group(ranks.begin(), ranks.end());
    Partitioner partitioner(getOperation(), group, index);
    if (failed(partitioner.run()))
      return signalPassFailure();
    numCollectives += partitioner.numCollectives;
  }
};

} // namespace
} // namespace atc::shard
