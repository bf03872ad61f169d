//===-- DensifyOperands.cpp - copies for kernels that need dense runs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Remarks.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"
#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorCode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUDENSIFYOPERANDS
#include "passes/npu/VectorPasses.h.inc"

namespace {

/// Replaces operands of a kernel by temporaries; until `keep` it can be undone.
class Densified {
public:
  Densified(kernel::KernelOpInterface op) : op(op), before(op->getOperands()) {
    // A kernel that works in place also reads the buffer.
    while (before[output] != op.output())
      --output;
  }

  /// Reads operand `index` from, or writes it to, a temporary whose dims lie in the order `order`.
  void replace(unsigned index, ArrayRef<int64_t> order) {
    OpBuilder builder(op);
    Value buffer = op->getOperand(index);
    const kernel::Storage from = storageOf(buffer);
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(from.shape[dim]);
    Value memory = om::AllocOp::create(builder, op->getLoc(), MemRefType::get(shape, from.element),
                                       /*offset=*/IntegerAttr());
    buffers.push_back(memory.getDefiningOp());
    SmallVector<int64_t> back(order.size());
    for (auto [position, dim] : llvm::enumerate(order))
      back[dim] = position;
    Value dense = bufferOf(builder, op->getLoc(), storageOf(memory).permuted(back));
    if (dense != memory)
      buffers.push_back(dense.getDefiningOp());
    const bool isOutput = index == output;
    if (isOutput)
      builder.setInsertionPointAfter(op);
    copies.push_back(kernel::CopyOp::create(builder, op->getLoc(), isOutput ? dense : buffer,
                                            isOutput ? buffer : dense));
    op->setOperand(index, dense);
  }

  /// Returns whether the NPU computes the kernel and its copies now.
  bool fits(const SocTable &soc) {
    return whyNotOnNpu(op, soc).empty() && llvm::all_of(copies, [&](kernel::CopyOp copy) {
             return whyNotOnNpu(copy, soc).empty();
           });
  }

  /// Returns the copies between operands and their temporaries.
  ArrayRef<kernel::CopyOp> made() const { return copies; }

  void undo() {
    op->setOperands(before);
    for (kernel::CopyOp copy : copies)
      copy.erase();
    for (Operation *buffer : llvm::reverse(buffers))
      if (buffer->use_empty())
        buffer->erase();
  }

private:
  kernel::KernelOpInterface op;
  SmallVector<Value> before;
  size_t output = before.size() - 1; ///< the operand that the kernel writes
  SmallVector<kernel::CopyOp> copies;
  SmallVector<Operation *> buffers; ///< temporaries and their views
};

/// Returns the cycles of moving `elements` elements of a buffer in runs of `run`, by all cores.
double cyclesOfMoves(Value buffer, double elements, double run, const SocTable &soc) {
  const double bytes = double(elementBytes(buffer));
  const double part = std::min(1.0, run * bytes / double(soc.shortRun));
  const double share = soc.shortRunFloor + (1 - soc.shortRunFloor) * part;
  return elements * bytes / (soc.gmToUb * share) / double(vectorCoreCount(soc));
}

/// Returns the cycles of a map by a simple model: rows in ub are whole blocks of 16 elements,
/// however few of them a run of elements that all operands have in common fills.
double cyclesOf(kernel::MapOp map, const SocTable &soc) {
  const unsigned output = map.getInputs().size();
  TileSpace space(cast<MemRefType>(map.getOutput().getType()).getShape(),
                  llvm::to_vector(map->getOperands()));
  space.normalize(output);
  space.pad(1);
  double elements = 1;
  for (int64_t size : space.sizes)
    elements *= double(size);
  const double run = double(space.sizes.back());
  double moves = 0;
  for (Value operand : map->getOperands())
    moves += cyclesOfMoves(operand, double(cast<MemRefType>(operand.getType()).getNumElements()),
                           run, soc);
  const double work = elements / run * double(llvm::alignTo(space.sizes.back(), 16)) *
                      vectorCyclesPerElement(map.getBody().front()) / double(vectorCoreCount(soc));
  return std::max(moves, work);
}

/// Returns the cycles of copying between `strided` and a dense buffer.
double cyclesOfCopy(Value strided, const SocTable &soc) {
  auto type = cast<MemRefType>(strided.getType());
  TileSpace space(type.getShape(), {strided});
  space.normalize(0);
  space.pad(1);
  const double run = space.strides[0].back() == 1 ? double(space.sizes.back()) : 1;
  return double(soc.chainCycles) +
         2 * cyclesOfMoves(strided, double(type.getNumElements()), run, soc);
}

/// Returns the cycles of a copy that transposes blocks of 16 x 16 elements in ub, infinity for
/// other copies. Blocks are as small as the dims that are contiguous in the input and in the
/// output.
double cyclesOfTransposition(kernel::CopyOp copy, const SocTable &soc) {
  constexpr double none = std::numeric_limits<double>::infinity();
  // A move in, a transposition and a move out: what each of them takes at least, in turn, and what
  // moving and transposing a block adds.
  constexpr double perStep = 150, perBlock = 16;
  TileSpace space(cast<MemRefType>(copy.getOutput().getType()).getShape(),
                  {copy.getInput(), copy.getOutput()});
  space.normalize(1);
  space.pad(1);
  const int64_t rows = space.sizes.back();
  auto *contiguous = llvm::find(space.strides[0], 1);
  if (elementBytes(copy.getInput()) > 2 || space.strides[1].back() != 1 ||
      contiguous == space.strides[0].end() || contiguous + 1 == space.strides[0].end())
    return none;
  const int64_t columns = space.sizes[size_t(contiguous - space.strides[0].begin())];
  const int64_t steps = llvm::product_of(space.sizes) / (rows * columns);
  return double(soc.chainCycles) + double(llvm::divideCeil(steps, vectorCoreCount(soc))) *
                                       (perStep + perBlock * double(llvm::divideCeil(rows, 16)) *
                                                      double(llvm::divideCeil(columns, 16)));
}

struct DensifyOperandsPass : impl::NpuDensifyOperandsBase<DensifyOperandsPass> {
  void runOnOperation() override {
    std::optional<MainFunction> main = MainFunction::find(getOperation());
    if (!main)
      return;
    const SocTable &soc = main->soc;
    SmallVector<kernel::KernelOpInterface> kernels;
    for (auto op : main->function.getOps<kernel::KernelOpInterface>())
      if (isa<kernel::MapOp, kernel::SoftmaxOp, kernel::ReduceOp>(op) &&
          !main->hostNodes.contains(op) && !whyNotOnNpu(op, soc).empty())
        kernels.push_back(op);
    for (auto map : llvm::make_early_inc_range(main->function.getOps<kernel::MapOp>()))
      if (main->runsOnNpu(map) && lengthen(map, soc)) {
        ++numLengthened;
        remarkPassed(getArgument(), map.getLoc(), "Lengthened")
            << "copies of operands that are not dense make its runs of elements longer";
      }
    for (auto copy : llvm::make_early_inc_range(main->function.getOps<kernel::CopyOp>()))
      if (main->runsOnNpu(copy) && divide(copy, soc)) {
        ++numDivided;
        remarkPassed(getArgument(), copy.getLoc(), "Divided")
            << "two copies transpose larger blocks of elements";
      }
    for (kernel::KernelOpInterface op : kernels)
      if (densify(op, soc)) {
        ++numDensified;
        remarkPassed(getArgument(), op->getLoc(), "Copied") << remark::add(
            "{0} runs on the NPU, on copies of operands that are not dense", op.kernelName());
      }
  }

private:
  /// Lets a map that has short runs work on copies, if it and the copies take less time so.
  static bool lengthen(kernel::MapOp map, const SocTable &soc) {
    const double before = cyclesOf(map, soc);
    double copies = 0;
    Densified densified(map);
    for (unsigned i = 0; i < map->getNumOperands(); ++i) {
      const kernel::Storage storage = storageOf(map->getOperand(i));
      // An operand that broadcasts is loaded from global memory once, so it needs no copy.
      if (storage.isContiguous() || llvm::is_contained(storage.strides, 0))
        continue;
      copies += cyclesOfCopy(map->getOperand(i), soc);
      densified.replace(i, orderFor(map, i, storage.rank()));
    }
    if (copies > 0 && cyclesOf(map, soc) + copies < before && densified.fits(soc))
      return true;
    densified.undo();
    return false;
  }

  /// Lets a copy that transposes small blocks, as one that shuffles the channels of pixels, read a
  /// temporary in which the longest dim is contiguous, if that takes less time.
  static bool divide(kernel::CopyOp copy, const SocTable &soc) {
    const double before = cyclesOfTransposition(copy, soc);
    if (!std::isfinite(before) || before < 4 * double(soc.chainCycles))
      return false;
    const kernel::Storage storage = storageOf(copy.getInput());
    if (llvm::is_contained(storage.strides, 0))
      return false;
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, storage.rank()));
    llvm::stable_sort(
        order, [&](int64_t a, int64_t b) { return storage.strides[a] > storage.strides[b]; });
    auto *longest = llvm::max_element(
        order, [&](int64_t a, int64_t b) { return storage.shape[a] < storage.shape[b]; });
    std::rotate(longest, longest + 1, order.end());
    Densified densified(copy);
    densified.replace(0, order);
    if (cyclesOfTransposition(copy, soc) + cyclesOfTransposition(densified.made()[0], soc) <
            before &&
        densified.fits(soc))
      return true;
    densified.undo();
    return false;
  }

  static bool densify(kernel::KernelOpInterface op, const SocTable &soc) {
    Densified densified(op);
    bool isAny = false;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const kernel::Storage storage = storageOf(op->getOperand(i));
      SmallVector<int64_t> order = orderFor(op, i, storage.rank());
      if (storage.isContiguous() && llvm::is_sorted(order))
        continue;
      densified.replace(i, order);
      isAny = true;
    }
    if (isAny && densified.fits(soc))
      return true;
    densified.undo();
    return false;
  }

  /// Returns the dims of operand `index` in the order in which the kernel wants them in memory:
  /// those along which it computes come last.
  static SmallVector<int64_t> orderFor(Operation *op, unsigned index, int64_t rank) {
    SmallVector<int64_t> along;
    if (auto softmax = dyn_cast<kernel::SoftmaxOp>(op))
      along.push_back(softmax.getAxis());
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    if (reduce && index == 0)
      along.append(reduce.getAxes().begin(), reduce.getAxes().end());
    SmallVector<int64_t> order;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(along, dim))
        order.push_back(dim);
    order.append(along);
    return order;
  }
};

} // namespace
} // namespace atc::npu
