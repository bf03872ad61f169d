//===-- EvaluateFunction.cpp - functions, branches and loops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/collectives/Collectives.h"
#include "dialects/graph/interpreter/Evaluators.h"
#include "dialects/graph/interpreter/Interpreter.h"
#include "dialects/graph/interpreter/RankExchange.h"
#include "dialects/graph/ops/HostOps.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace atc::graph {

namespace {

/// The tensors of a block that are still needed. Those of the blocks around it are found
/// through `outer`.
class Frame {
public:
  Frame(Block &block, const Frame *outer, RankExchange *exchange)
      : exchange(exchange), block(block), outer(outer) {
    for (Operation &op : block)
      forEachUse(op, [&](Value value) { ++remainingUses[value]; });
  }

  void set(Value value, Tensor &&tensor) {
    if (remainingUses.contains(value))
      tensors[value] = std::move(tensor);
  }

  /// Returns the tensor of a value, or null where the interpreter made none.
  const Tensor *find(Value value) const {
    for (const Frame *frame = this; frame; frame = frame->outer)
      if (auto found = frame->tensors.find(value); found != frame->tensors.end())
        return &found->second;
    return nullptr;
  }

  /// Drops the tensors that `op` was the last to use.
  void release(Operation &op) {
    forEachUse(op, [&](Value value) {
      if (--remainingUses[value] == 0)
        tensors.erase(value);
    });
  }

  /// The connection of this rank to the others; null where there are none.
  RankExchange *const exchange;

private:
  /// Calls `visit` for each use of this block's values by `op` or by what is inside it.
  template <typename VisitT> void forEachUse(Operation &op, VisitT visit) {
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block)
          visit(operand);
    });
  }

  Block &block;
  const Frame *outer;
  llvm::DenseMap<Value, unsigned> remainingUses;
  llvm::DenseMap<Value, Tensor> tensors;
};

using Tensors = SmallVector<Tensor>;

FailureOr<Tensors> evaluateBlock(Block &block, ArrayRef<Tensor> arguments, const Frame *outer,
                                 RankExchange *exchange, ValueCallback callback);

Tensor copyOf(const Tensor &tensor) { return Tensor::copyOf(tensor.getType(), tensor.bytes()); }

Tensor borrow(const Tensor &tensor) { return Tensor::borrow(tensor.getType(), tensor.bytes()); }

FailureOr<bool> readCondition(Operation &op, const Tensor &condition) {
  if (condition.getNumElements() != 1)
    return op.emitOpError() << "has a condition of " << condition.getNumElements()
                            << " elements, expected one";
  return condition.bytes().front() != 0;
}

FailureOr<Tensors> evaluateIf(IfOp op, ArrayRef<const Tensor *> operands, const Frame &frame,
                              ValueCallback callback) {
  FailureOr<bool> condition = readCondition(*op, *operands[0]);
  if (failed(condition))
    return failure();
  Region &taken = *condition ? op.getThenRegion() : op.getElseRegion();
  return evaluateBlock(taken.front(), {}, &frame, frame.exchange, callback);
}

FailureOr<Tensors> evaluateLoop(LoopOp op, ArrayRef<const Tensor *> operands, const Frame &frame,
                                ValueCallback callback) {
  FailureOr<bool> goesOn = readCondition(*op, *operands[0]);
  Tensors carried;
  for (const Tensor *operand : operands.drop_front())
    carried.push_back(copyOf(*operand));
  while (succeeded(goesOn) && *goesOn) {
    FailureOr<Tensors> left =
        evaluateBlock(op.getBody().front(), carried, &frame, frame.exchange, callback);
    if (failed(left))
      return failure();
    goesOn = readCondition(*op, left->front());
    left->erase(left->begin());
    carried = std::move(*left);
  }
  if (failed(goesOn))
    return failure();
  return carried;
}

FailureOr<Tensors> evaluateOp(Operation &op, ArrayRef<const Tensor *> operands, const Frame &frame,
                              ValueCallback callback) {
  if (auto call = dyn_cast<HostCallOp>(op))
    return interpreter::evaluateHostCall(call, operands);
  if (auto branch = dyn_cast<IfOp>(op))
    return evaluateIf(branch, operands, frame, callback);
  if (auto loop = dyn_cast<LoopOp>(op))
    return evaluateLoop(loop, operands, frame, callback);
  if (isCollective(&op))
    return frame.exchange ? frame.exchange->evaluate(&op, operands)
                          : op.emitOpError() << "meets other ranks, of which there are none here";
  SmallVector<Tensor, 1> results;
  if (failed(evaluate(&op, operands, results)))
    return failure();
  return Tensors(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
}

FailureOr<Tensors> evaluateBlock(Block &block, ArrayRef<Tensor> arguments, const Frame *outer,
                                 RankExchange *exchange, ValueCallback callback) {
  Frame frame(block, outer, exchange);
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
    if (callback)
      callback(value, tensor);
    frame.set(value, borrow(tensor));
  }
  Tensors outputs;
  for (Operation &op : block) {
    SmallVector<const Tensor *> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(frame.find(operand));
      if (!operands.back())
        return op.emitOpError() << "reads a value that the graph interpreter does not have";
    }
    if (isa<func::ReturnOp, LeaveOp>(op)) {
      for (const Tensor *operand : operands)
        outputs.push_back(copyOf(*operand));
      break;
    }
    FailureOr<Tensors> results = evaluateOp(op, operands, frame, callback);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results)) {
      // A result that nobody uses need not have been computed.
      if (!tensor.getType())
        continue;
      if (callback)
        callback(value, tensor);
      frame.set(value, std::move(tensor));
    }
    frame.release(op);
  }
  return outputs;
}

LogicalResult checkInputs(func::FuncOp function, ArrayRef<Tensor> inputs) {
  if (inputs.size() != function.getNumArguments())
    return function.emitError() << "has " << function.getNumArguments() << " inputs, but "
                                << inputs.size() << " are given";
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto declared = dyn_cast<TensorType>(type);
    RankedTensorType given = inputs[index].getType();
    if (!declared || declared.getElementType() != given.getElementType() ||
        failed(verifyCompatibleShape(declared, given)))
      return function.emitError() << "input " << index << " is " << type << ", but " << given
                                  << " is given";
  }
  return success();
}

} // namespace

FailureOr<SmallVector<Tensor>> evaluateRank(func::FuncOp function, ArrayRef<Tensor> inputs,
                                            RankExchange *exchange, ValueCallback callback) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "must have one block to be evaluated";
  if (failed(checkInputs(function, inputs)))
    return failure();
  return evaluateBlock(function.getBody().front(), inputs, nullptr, exchange, callback);
}

FailureOr<SmallVector<Tensor>> evaluateFunction(func::FuncOp function, ArrayRef<Tensor> inputs,
                                                ValueCallback callback) {
  return evaluateRank(function, inputs, /*exchange=*/nullptr, callback);
}

} // namespace atc::graph
