//===-- Scratch.cpp - memory of a thread that a kernel works in -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/Scratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace atc::cpu {

Value addScratch(Operation *op, int64_t elements) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  assert(!kernel->hasAttr(kScratchAttr) && "a kernel function has one scratch memory");
  Builder builder(op->getContext());
  unsigned position = kernel.getNumArguments() - 2;
  NamedAttribute noAlias(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  LogicalResult inserted =
      kernel.insertArgument(position, MemRefType::get({elements}, builder.getF32Type()),
                            builder.getDictionaryAttr(noAlias), op->getLoc());
  assert(succeeded(inserted) && "kernel functions have no type that could refuse an argument");
  (void)inserted;
  kernel->setAttr(kScratchAttr, builder.getI64IntegerAttr(elements * sizeof(float)));
  return kernel.getArgument(position);
}

} // namespace atc::cpu
