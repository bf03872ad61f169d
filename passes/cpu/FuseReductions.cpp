//===-- FuseReductions.cpp - sums of what maps compute --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Reduction.h"
#include "dialects/om/Om.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Remarks.h"
#include "passes/cpu/ReductionPasses.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/kernel/BufferViews.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUFUSEREDUCTIONS
#include "passes/cpu/ReductionPasses.h.inc"

namespace {

using kernel::Storage;
using kernel::storageOf;

/// Registers hold one accumulator per sum and as many operands.
constexpr size_t kMaxSums = 9;
constexpr size_t kMaxInputs = 12;

/// Returns a storage with a first dim of one element.
Storage withRow(const Storage &storage) { return storage.withDim(0); }

/// Returns whether a reduction is one that map_reduce computes.
bool isSum(ReduceOp reduce) {
  return (reduce.getKind() == graph::ReduceKind::Sum ||
          reduce.getKind() == graph::ReduceKind::Mean) &&
         elementOf(reduce.getInput()).isF32() && elementOf(reduce.getOutput()).isF32();
}

bool isInput(OpOperand *use) {
  return use->getOperandNumber() + 1 != use->getOwner()->getNumOperands();
}

class FuseReductionsPass : public impl::CpuFuseReductionsBase<FuseReductionsPass> {
public:
  void runOnOperation() override {
    func::FuncOp main = om::findMain(getOperation());
    if (!main)
      return;
    bool any = false;
    for (ReduceOp reduce : llvm::to_vector(main.getOps<ReduceOp>()))
      any |= isSum(reduce) && fuseMap(reduce);
    any |= mergeAll(main);
    if (any)
      kernel::eraseUnread(main);
  }

private:
  bool fuseMap(ReduceOp reduce);
  MapReduceOp asMapReduce(ReduceOp reduce);
  bool mergeAll(func::FuncOp main);
  bool merge(Operation *first, Operation *second);
};

/// Returns the shape to which the inputs of a map broadcast.
SmallVector<int64_t> broadcastOf(MapOp map) {
  SmallVector<int64_t> shape(shapeOf(map.getOutput()).size(), 1);
  for (Value input : map.getInputs())
    for (auto [size, own] : llvm::zip_equal(shape, shapeOf(input)))
      size = std::max(size, own);
  return shape;
}

/// Computes the map that makes the input of a sum, which nothing else reads, inside of the sum.
bool FuseReductionsPass::fuseMap(ReduceOp reduce) {
  auto map = dyn_cast_or_null<MapOp>(kernel::writerOf(reduce.getInput()));
  if (!map || map->getBlock() != reduce->getBlock() || map.getInputs().size() > kMaxInputs)
    return false;
  Value root = om::resolveViews(reduce.getInput()).root;
  auto skip = [&](StringRef reason) {
    remarkMissed(getArgument(), reduce.getLoc(), "NotFused")
        << remark::add("the map stays a kernel: {0}", reason);
    return false;
  };
  if (!root.getDefiningOp<om::AllocOp>() || kernel::usesOf(root).size() != 2)
    return skip("something else reads its result");
  if (!(storageOf(map.getOutput()) == storageOf(reduce.getInput())) ||
      broadcastOf(map) != SmallVector<int64_t>(shapeOf(map.getOutput())))
    return skip("the sum has other dims");
  if (kernel::isWrittenBetween(map, reduce))
    return skip("an operand is overwritten before the sum");
  OpBuilder builder(reduce);
  Location location = reduce.getLoc();
  auto fused = MapReduceOp::create(
      builder, location, map.getInputs(),
      kernel::bufferOf(builder, location, withRow(storageOf(reduce.getOutput()))), reduce.getAxes(),
      reduce.getKind() == graph::ReduceKind::Mean);
  fused.getBody().takeBody(map.getBody());
  auto yield = cast<kernel::YieldOp>(fused.getBody().front().getTerminator());
  builder.setInsertionPoint(yield);
  ReductionYieldOp::create(builder, location, yield.getValue());
  yield.erase();
  map.erase();
  reduce.erase();
  remarkPassed(getArgument(), location, "Fused") << "the map is computed inside of the sum";
  ++numFused;
  return true;
}

/// Replaces a sum by one whose body yields its input.
MapReduceOp FuseReductionsPass::asMapReduce(ReduceOp reduce) {
  OpBuilder builder(reduce);
  Location location = reduce.getLoc();
  auto op = MapReduceOp::create(
      builder, location, ValueRange{reduce.getInput()},
      kernel::bufferOf(builder, location, withRow(storageOf(reduce.getOutput()))), reduce.getAxes(),
      reduce.getKind() == graph::ReduceKind::Mean);
  Block *block = builder.createBlock(&op.getBody());
  Value element = block->addArgument(builder.getF32Type(), location);
  ReductionYieldOp::create(builder, location, element);
  reduce.erase();
  return op;
}

//===----------------------------------------------------------------------===//
// Sums over the same positions
//===----------------------------------------------------------------------===//

/// Holds what has to be equal for two sums to be one kernel.
struct SumForm {
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> axes;
  bool isMean;

  bool operator==(const SumForm &other) const {
    return shape == other.shape && axes == other.axes && isMean == other.isMean;
  }
};

SumForm formOf(Operation *op) {
  if (auto sum = dyn_cast<MapReduceOp>(op))
    return {sum.iterationShape(), sum.getAxes(), sum.getMean()};
  auto reduce = cast<ReduceOp>(op);
  return {SmallVector<int64_t>(shapeOf(reduce.getInput())), reduce.getAxes(),
          reduce.getKind() == graph::ReduceKind::Mean};
}

int64_t sumsOf(Operation *op) {
  return isa<MapReduceOp>(op) ? shapeOf(op->getOperands().back())[0] : 1;
}

/// Returns whether two sums read one tensor of all positions.
bool shareInput(Operation *first, Operation *second, ArrayRef<int64_t> shape) {
  const int64_t volume = ShapedType::getNumElements(shape);
  auto isWide = [&](Value value) { return ShapedType::getNumElements(shapeOf(value)) == volume; };
  for (Value a : first->getOperands().drop_back())
    for (Value b : second->getOperands().drop_back())
      if (isWide(a) && isWide(b) && om::resolveViews(a).root == om::resolveViews(b).root)
        return true;
  return false;
}

/// Returns whether anything between two ops uses the memory of `buffer`.
bool isUsedBetween(Value buffer, Operation *first, Operation *last) {
  return llvm::any_of(kernel::usesOf(om::resolveViews(buffer).root), [&](OpOperand *use) {
    Operation *user = use->getOwner();
    return first->isBeforeInBlock(user) && user->isBeforeInBlock(last);
  });
}

/// Returns whether all that `op` reads is written before `position` and not changed up to `op`.
bool isReadyAt(Operation *op, Operation *position) {
  for (Value input : op->getOperands().drop_back())
    for (OpOperand *use : kernel::usesOf(om::resolveViews(input).root))
      if (!isInput(use) && position->isBeforeInBlock(use->getOwner()) &&
          use->getOwner()->isBeforeInBlock(op))
        return false;
  return true;
}

/// Moves what defines a buffer, its memory and views, in front of `position` where it is behind it.
void defineBefore(Value buffer, Operation *position) {
  Operation *op = buffer.getDefiningOp();
  if (!op || op->isBeforeInBlock(position))
    return;
  for (Value operand : op->getOperands())
    defineBefore(operand, position);
  op->moveBefore(position);
}

/// Returns the storage [rows of both][dims] of two sums whose outputs follow each other in one
/// buffer; nothing where they do not. `second` follows `first`.
std::optional<Storage> joined(Storage first, const Storage &second) {
  const int64_t rows = first.shape[0], distance = second.offset - first.offset;
  if (!(first.base == second.base) || distance <= 0 || distance % rows)
    return std::nullopt;
  const int64_t stride = distance / rows;
  auto hasStride = [&](const Storage &storage) {
    return storage.shape[0] == 1 || storage.strides[0] == stride;
  };
  Storage a = first, b = second;
  a.shape[0] = b.shape[0] = 1;
  a.strides[0] = b.strides[0] = 0;
  if (!hasStride(first) || !hasStride(second) || a.shape != b.shape || a.strides != b.strides)
    return std::nullopt;
  first.strides[0] = stride;
  first.shape[0] += second.shape[0];
  return first;
}

/// Returns the allocation that is all of a sum's output; null where the output is a part.
om::AllocOp ownBuffer(Value output) {
  const Storage storage = storageOf(output);
  return kernel::isWhole(storage) ? storage.base.getDefiningOp<om::AllocOp>() : om::AllocOp();
}

/// Lets two sums with buffers of their own write to the halves of one buffer.
bool shareBuffer(Value first, Value second) {
  om::AllocOp a = ownBuffer(first), b = ownBuffer(second);
  if (!a || !b || a == b)
    return false;
  const int64_t elements = storageOf(first).type().getNumElements(),
                more = storageOf(second).type().getNumElements();
  OpBuilder builder(a->isBeforeInBlock(b) ? a : b);
  auto both = om::AllocOp::create(builder, a.getLoc(),
                                  MemRefType::get({elements + more}, builder.getF32Type()),
                                  /*offset=*/IntegerAttr());
  auto viewOf = [&](om::AllocOp part, int64_t offset) -> Value {
    return om::ViewOp::create(builder, part.getLoc(), part.getResult().getType(), both.getResult(),
                              offset);
  };
  // Both exist before the first allocation, where the builder stands, is erased.
  Value views[] = {viewOf(a, 0), viewOf(b, elements * 4)};
  a.getResult().replaceAllUsesWith(views[0]);
  b.getResult().replaceAllUsesWith(views[1]);
  a.erase();
  b.erase();
  return true;
}

/// Joins two sums over the same positions, `first` before `second`.
bool FuseReductionsPass::merge(Operation *first, Operation *second) {
  Value written = om::resolveViews(first->getOperands().back()).root;
  if (llvm::any_of(second->getOperands().drop_back(),
                   [&](Value input) { return om::resolveViews(input).root == written; }))
    return false;
  const bool movesDown = !kernel::isWrittenBetween(first, second) &&
                         !isUsedBetween(first->getOperands().back(), first, second);
  if (!movesDown &&
      !(isReadyAt(second, first) && !isUsedBetween(second->getOperands().back(), first, second)))
    return false;
  auto outputOf = [](Operation *op) {
    Storage storage = storageOf(op->getOperands().back());
    return isa<MapReduceOp>(op) ? storage : withRow(storage);
  };
  auto joinedOutput = [&]() -> std::pair<std::optional<Storage>, bool> {
    if (auto output = joined(outputOf(first), outputOf(second)))
      return {output, false};
    return {joined(outputOf(second), outputOf(first)), true};
  };
  auto [output, isReversed] = joinedOutput();
  if (!output && shareBuffer(first->getOperands().back(), second->getOperands().back()))
    std::tie(output, isReversed) = joinedOutput();
  if (!output)
    return false;
  auto asSum = [&](Operation *op) {
    auto sum = dyn_cast<MapReduceOp>(op);
    return sum ? sum : asMapReduce(cast<ReduceOp>(op));
  };
  MapReduceOp sums[2] = {asSum(first), asSum(second)};
  OpBuilder builder(movesDown ? sums[1] : sums[0]);
  if (!movesDown)
    for (Value input : sums[1].getInputs())
      defineBefore(input, sums[0]);
  if (isReversed)
    std::swap(sums[0], sums[1]);
  llvm::SetVector<Value> inputs;
  for (MapReduceOp sum : sums)
    inputs.insert_range(sum.getInputs());
  Location location = sums[0].getLoc();
  auto fused = MapReduceOp::create(builder, location, inputs.getArrayRef(),
                                   kernel::bufferOf(builder, location, *output), sums[0].getAxes(),
                                   sums[0].getMean());
  Block *block = builder.createBlock(&fused.getBody());
  for (Value input : inputs)
    block->addArgument(elementOf(input), location);
  SmallVector<Value> yielded;
  for (MapReduceOp sum : sums) {
    IRMapping mapping;
    for (auto [input, argument] :
         llvm::zip_equal(sum.getInputs(), sum.getBody().front().getArguments()))
      mapping.map(argument, block->getArgument(llvm::find(inputs, input) - inputs.begin()));
    for (Operation &op : sum.getBody().front().without_terminator())
      builder.clone(op, mapping);
    for (Value value : sum.getBody().front().getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
  }
  ReductionYieldOp::create(builder, location, yielded);
  for (MapReduceOp sum : sums)
    sum.erase();
  ++numMerged;
  return true;
}

/// Joins sums of one form that read a common tensor: it is read once for all of them.
bool FuseReductionsPass::mergeAll(func::FuncOp main) {
  // Only sums this close together are joined: a tensor that is read again soon after may still be
  // in a cache, but not all tensors of a whole step.
  constexpr size_t kWindow = 16;
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    SmallVector<Operation *> sums;
    for (Operation &op : main.getOps())
      if (auto reduce = dyn_cast<ReduceOp>(op); isa<MapReduceOp>(op) || (reduce && isSum(reduce)))
        sums.push_back(&op);
    llvm::SmallPtrSet<Operation *, 16> gone;
    for (size_t index = 0; index < sums.size(); ++index)
      for (size_t other = index + 1; other < std::min(sums.size(), index + kWindow); ++other) {
        Operation *first = sums[index], *second = sums[other];
        if (gone.contains(first))
          break;
        if (gone.contains(second) || sumsOf(first) + sumsOf(second) > int64_t(kMaxSums) ||
            first->getNumOperands() + second->getNumOperands() > kMaxInputs + 2)
          continue;
        const SumForm form = formOf(first);
        if (!(form == formOf(second)) || !shareInput(first, second, form.shape) ||
            !merge(first, second))
          continue;
        gone.insert(first);
        gone.insert(second);
        again = any = true;
      }
  }
  return any;
}

} // namespace
} // namespace atc::cpu
