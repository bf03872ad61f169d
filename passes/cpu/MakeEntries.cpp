//===-- MakeEntries.cpp - the entry points that the runtime calls ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/KernelBuilder.h"
#include "passes/cpu/tiles/Scratch.h"
#include "passes/om/CallBodies.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUMAKEENTRIES
#include "passes/cpu/Passes.h.inc"

namespace {

struct MakeEntriesPass : impl::CpuMakeEntriesBase<MakeEntriesPass> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kKernelAttr))
        kernels.push_back(function);
    for (LLVM::LLVMFuncOp kernel : kernels)
      makeEntry(kernel);
  }

private:
  void makeEntry(LLVM::LLVMFuncOp kernel) {
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
    Type pointer = LLVM::LLVMPointerType::get(&getContext()), i64 = b.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                            {pointer, pointer, i64, i64});

    StringAttr name = kernel.getSymNameAttr();
    kernel.setSymName((name.getValue() + "$body").str());
    kernel.setSymVisibility(std::nullopt);
    kernel.setLinkage(LLVM::Linkage::Internal);
    kernel.setAlwaysInline(true);
    kernel.setNoUnwind(true);

    auto entry = LLVM::LLVMFuncOp::create(b, name, type);
    entry.setNoUnwind(true);
    for (StringRef attribute : {kKernelAttr, kTasksAttr, kScratchAttr})
      if (Attribute value = kernel->removeAttr(attribute))
        entry->setAttr(attribute, value);
    for (unsigned argument : {0, 1})
      entry.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    entry.setArgAttr(0, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());

    Block *body = entry.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    SmallVector<Value> arguments;
    const bool hasScratch = entry->hasAttr(kScratchAttr);
    for (unsigned i = 0, buffers = kernel.getNumArguments() - 2 - hasScratch; i < buffers; ++i) {
      Value slot = LLVM::GEPOp::create(b, pointer, pointer, body->getArgument(0),
                                       ArrayRef<LLVM::GEPArg>{int32_t(i)});
      arguments.push_back(LLVM::LoadOp::create(b, pointer, slot));
    }
    if (hasScratch)
      arguments.push_back(body->getArgument(1));
    // A host call does not know how code of static sizes was divided: it runs all tasks.
    auto tasks = entry->getAttrOfType<IntegerAttr>(kTasksAttr);
    if (kernel->hasAttr(om::kCalledAttr) && tasks && tasks.getInt() > 0) {
      arguments.push_back(LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(0)));
      arguments.push_back(LLVM::ConstantOp::create(b, i64, tasks));
    } else {
      if (kernel->hasAttr(om::kCalledAttr))
        entry.setPassthroughAttr(b.getStrArrayAttr({om::kScalarLoopsAttr}));
      arguments.push_back(body->getArgument(2));
      arguments.push_back(body->getArgument(3));
    }
    LLVM::CallOp::create(b, kernel, arguments);
    LLVM::ReturnOp::create(b, ValueRange());
  }
};
} // namespace
} // namespace atc::cpu
