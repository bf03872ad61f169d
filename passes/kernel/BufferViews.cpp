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

SmallVector<OpOperand *> usesOf(Value root) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : root.getUses()) {
    if (auto view = dyn_cast<om::ViewOp>(use.getOwner()))
      llvm::append_range(uses, usesOf(view.getResult()));
    else
      uses.push_back(&use);
  }
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

Operation *writerOf(Value buffer) {
  Operation *writer = nullptr;
  for (OpOperand *use : usesOf(om::resolveViews(buffer).root)) {
    Operation *op = use->getOwner();
    if (use->getOperandNumber() + 1 != op->getNumOperands())
      continue;
    if (writer)
      return nullptr;
    writer = op;
  }
  return writer;
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
    auto isWrite = [](OpOperand *use) {
      return use->getOperandNumber() + 1 == use->getOwner()->getNumOperands();
    };
    if (root.getDefiningOp<om::AllocOp>() && llvm::all_of(usesOf(root), isWrite))
      op->erase();
  }
}

} // namespace atc::kernel
