//===-- BufferViews.cpp - buffers of @main as storages --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/BufferViews.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/kernel/Kernel.h"
#include "passes/om/Schedule.h"

using namespace mlir;

namespace atc::kernel {

Storage storageOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  om::BufferPart part = om::resolveViews(buffer);
  int64_t offset;
  SmallVector<int64_t> strides;
  // Buffers have static strides: the verifiers of kernels see to it.
  (void)type.getStridesAndOffset(strides, offset);
  return {part.root, type.getElementType(),
          part.offset / graph::getElementBytes(type.getElementType()),
          SmallVector<int64_t>(type.getShape()), strides};
}

Value bufferOf(OpBuilder &builder, Location location, const Storage &storage) {
  if (storage.base.getType() == storage.type() && storage.offset == 0)
    return storage.base;
  return om::ViewOp::create(builder, location, storage.type(), storage.base, storage.byteOffset());
}

Storage broadcast(Storage storage, ArrayRef<int64_t> shape) {
  for (auto [dim, size] : llvm::enumerate(shape))
    if (storage.shape[dim] != size) {
      storage.shape[dim] = size;
      storage.strides[dim] = 0;
    }
  return storage;
}

bool isWhole(const Storage &storage) {
  auto root = cast<MemRefType>(storage.base.getType());
  return storage.offset == 0 && storage.isContiguous() &&
         ShapedType::getNumElements(storage.shape) == root.getNumElements() &&
         storage.element == root.getElementType();
}

bool visitUses(Value root, llvm::function_ref<bool(OpOperand &)> visit) {
  for (OpOperand &use : root.getUses()) {
    auto view = dyn_cast<om::ViewOp>(use.getOwner());
    if (!(view ? visitUses(view.getResult(), visit) : visit(use)))
      return false;
  }
  return true;
}

SmallVector<OpOperand *> usesOf(Value root) {
  SmallVector<OpOperand *> uses;
  visitUses(root, [&](OpOperand &use) {
    uses.push_back(&use);
    return true;
  });
  return uses;
}

bool isWrittenBetween(Operation *op, Operation *last) {
  SmallVector<Value> read;
  for (Value input : op->getOperands().drop_back())
    read.push_back(om::resolveViews(input).root);
  for (Operation *next = op->getNextNode(); next && next != last; next = next->getNextNode())
    if (isa<KernelOpInterface>(next) &&
        llvm::is_contained(read, om::resolveViews(next->getOperands().back()).root))
      return true;
  return false;
}

/// Returns whether a use of a kernel is the one that it writes to: its last operand.
static bool isWrite(OpOperand &use) {
  return use.getOperandNumber() + 1 == use.getOwner()->getNumOperands();
}

Operation *writerOf(Value buffer) {
  Operation *writer = nullptr;
  unsigned count = 0;
  const bool isKnown = visitUses(om::resolveViews(buffer).root, [&](OpOperand &use) {
    if (++count > kMaxUsesOfWritten)
      return false;
    if (!isWrite(use))
      return true;
    const bool isFirst = writer == nullptr;
    writer = use.getOwner();
    return isFirst;
  });
  return isKnown ? writer : nullptr;
}

void eraseUnread(func::FuncOp main) {
  SmallVector<Operation *> ops;
  for (Operation &op : main.getOps())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    if (isa<om::ViewOp, om::AllocOp, om::WeightOp>(op) && op->use_empty()) {
      op->erase();
      continue;
    }
    auto kernelOp = dyn_cast<KernelOpInterface>(op);
    if (!kernelOp)
      continue;
    Value root = om::resolveViews(kernelOp.output()).root;
    if (root.getDefiningOp<om::AllocOp>() && visitUses(root, isWrite))
      op->erase();
  }
}

} // namespace atc::kernel
