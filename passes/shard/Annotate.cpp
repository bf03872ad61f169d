//===-- Annotate.cpp - chooses the tensors that are divided ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Remarks.h"
#include "passes/shard/Passes.h"
#include "passes/shard/ShardingRules.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace atc::shard {
#define GEN_PASS_DEF_SHARDANNOTATE
#include "passes/shard/Passes.h.inc"

namespace {

/// Returns the name of the tensor at a location: the outermost of its names, or "".
StringRef nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
    return nameOf(fused.getLocations().back());
  return "";
}

struct Annotate : impl::ShardAnnotateBase<Annotate> {
  using ShardAnnotateBase::ShardAnnotateBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (mode != "weights" && mode != "batch") {
      function.emitError() << "mode must be weights or batch, but is '" << mode << "'";
      return signalPassFailure();
    }
    if (failed(readTensors()))
      return signalPassFailure();
    for (BlockArgument argument : function.getArguments())
      divideByUser(argument);
    if (mode == "batch")
      divideBatch(function);
    for (Operation &op : function.front().without_terminator()) {
      if (isa<graph::ConstantOp>(op)) {
        divideByUser(op.getResult(0));
        continue;
      }
      if (mode == "weights")
        divideWeight(&op);
      propagate(&op, count);
    }
    // Only what is chosen stays; shard-propagate computes the rest.
    for (Operation &op : function.front().without_terminator())
      if (!isa<graph::ConstantOp>(op)) {
        op.removeAttr(kDimAttr);
        op.removeAttr(kPartialAttr);
      }
    for (const auto &entry : wanted)
      if (!found.contains(entry.first())) {
        emitError(function.getLoc())
            << "E10061: the file of --shard_tensors names '" << entry.first()
            << "', but the model has no such input or weight: write the names of the model's own "
               "inputs and initializers";
        return signalPassFailure();
      }
  }

private:
  LogicalResult readTensors() {
    wanted.clear();
    found.clear();
    for (StringRef text : tensors) {
      auto [name, number] = text.rsplit('=');
      int64_t dim;
      if (name.empty() || number.getAsInteger(10, dim) || dim < kWhole)
        return emitError(getOperation().getLoc())
               << "tensors expects name=dim, but has '" << text << "'";
      wanted[name] = dim;
    }
    return success();
  }

  /// Divides a tensor as the user asks. Returns whether the user says anything about it.
  bool divideByUser(Value value) {
    const StringRef name = nameOf(value.getLoc());
    auto at = wanted.find(name);
    if (name.empty() || at == wanted.end())
      return false;
    found.insert({name, true});
    if (at->second == kWhole) {
      kept.insert(value);
    } else if (!canDivide(value, at->second, count)) {
      emitError(value.getLoc()) << "E10061: '" << name << "' of type " << value.getType()
                                << " cannot be divided along dim " << at->second << " among "
                                << count.getValue() << " ranks: choose a dim that is a multiple of "
                                << count.getValue();
      signalPassFailure();
    } else {
      setDim(value, at->second);
      ++numDivided;
    }
    return true;
  }

  void divideBatch(func::FuncOp function) {
    auto batchOf = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() ? type.getDimSize(0) : -1;
    };
    if (function.getNumArguments() == 0)
      return;
    const int64_t batch = batchOf(function.getArgument(0));
    for (BlockArgument argument : function.getArguments())
      if (batchOf(argument) == batch && canDivide(argument, 0, count) && !kept.contains(argument)) {
        setDim(argument, 0);
        ++numDivided;
      }
  }

  bool isWeight(Value value) const {
    auto constant = value.getDefiningOp<graph::ConstantOp>();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return constant && dimOf(value) == kWhole && !kept.contains(value) && type.getRank() >= 2 &&
           type.getNumElements() >= minElements;
  }

  /// Divides the weight of an op along the first of `dims` that can be.
  void divide(Operation *op, Value weight, std::initializer_list<int64_t> dims) {
    for (int64_t dim : dims)
      if (canDivide(weight, dim, count)) {
        setDim(weight, dim);
        ++numDivided;
        remarkPassed(getArgument(), op->getLoc(), "Divided") << remark::add(
            "its weight is divided along dim {0} among {1} ranks", dim, count.getValue());
        return;
      }
    remarkMissed(getArgument(), op->getLoc(), "Whole")
        << remark::add("no dim of its weight is a multiple of {0}", count.getValue());
  }

  void divideWeight(Operation *op) {
    if (isa<graph::MatMulOp, graph::FullyConnectedOp>(op)) {
      Value input = op->getOperand(0), weight = op->getOperand(1);
      if (!isWeight(weight) || !isa<RankedTensorType>(input.getType()))
        return;
      const int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      const bool isMatMul = isa<graph::MatMulOp>(op);
      const int64_t row = isMatMul ? rank - 2 : 1, column = isMatMul ? rank - 1 : 0;
      const int64_t last = cast<RankedTensorType>(input.getType()).getRank() - 1;
      const int64_t given = dimOf(input);
      auto product = dyn_cast<graph::FullyConnectedOp>(op);
      const bool canSum = !product || !product.getActivation();
      // A stack of products, such as those of the experts of a layer: each rank has some of them,
      // and needs nothing of the others but their sum.
      const int64_t stack = isMatMul ? rank - 3 : kWhole;
      if (given == kWhole && canDivide(weight, stack, count)) {
        divide(op, weight, {stack});
        return;
      }
      if (given == last && canSum)
        divide(op, weight, {row, column});
      else if (given == kWhole || given == last)
        divide(op, weight, {column, row});
    } else if (auto gather = dyn_cast<graph::GatherOp>(op)) {
      if (isWeight(gather.getInput()) && gather.getAxis() == 0)
        divide(op, gather.getInput(),
               {cast<RankedTensorType>(gather.getInput().getType()).getRank() - 1});
    }
  }

  llvm::StringMap<int64_t> wanted;
  llvm::StringMap<bool> found;
  llvm::DenseSet<Value> kept;
};

} // namespace
} // namespace atc::shard
