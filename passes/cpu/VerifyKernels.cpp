//===-- VerifyKernels.cpp - checks that kernels stand alone ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUVERIFYKERNELS
#include "passes/cpu/Passes.h.inc"

namespace {

/// Intrinsics that the code generator makes calls of the math library of.
bool becomesCall(Operation *op, bool fma) {
  if (isa<LLVM::FMAOp, LLVM::FMulAddOp>(op))
    return !fma && isa<LLVM::FMAOp>(op);
  return isa<LLVM::SinOp, LLVM::CosOp, LLVM::TanOp, LLVM::ASinOp, LLVM::ACosOp, LLVM::ATanOp,
             LLVM::ATan2Op, LLVM::SinhOp, LLVM::CoshOp, LLVM::TanhOp, LLVM::ExpOp, LLVM::Exp2Op,
             LLVM::Exp10Op, LLVM::LogOp, LLVM::Log2Op, LLVM::Log10Op, LLVM::PowOp, LLVM::PowIOp,
             LLVM::RoundOp, LLVM::FRemOp>(op);
}

struct VerifyKernelsPass : impl::CpuVerifyKernelsBase<VerifyKernelsPass> {
  void runOnOperation() override {
    auto level = getOperation()->getAttrOfType<LevelAttr>(kLevelAttr);
    bool fma = !level || level.getFma();
    llvm::MapVector<Operation *, llvm::SetVector<StringRef>> errorLines;
    getOperation().walk([&](Operation *op) {
      if (op == getOperation())
        return;
      if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
        if (function.isExternal())
          errorLines[op].insert("a function outside the model");
        else if (function->hasAttr(kKernelAttr) && !function->hasAttr(kTasksAttr))
          errorLines[op].insert("an expansion that says how many tasks it has");
        return;
      }
      Operation *scope = op->getParentOfType<LLVM::LLVMFuncOp>();
      if (!isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        errorLines[scope ? scope : op].insert(op->getName().getStringRef());
      else if (becomesCall(op, fma))
        errorLines[scope].insert(op->getName().getStringRef());
    });
    for (auto &[scope, things] : errorLines) {
      auto name = scope->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      StringRef kernel = name ? name.getValue() : scope->getName().getStringRef();
      kernel.consume_back("$body");
      mlir::emitError(scope->getLoc())
          << "kernel '" << kernel << "' needs " << llvm::join(things, ", ")
          << ", for which there is no code";
    }
    if (!errorLines.empty())
      signalPassFailure();
  }
};
} // namespace
} // namespace atc::cpu
