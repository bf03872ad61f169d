//===-- atc-opt.cpp - runs passes by name on .mlir files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Cpu.h"
#include "dialects/graph/Graph.h"
#include "dialects/npu/Npu.h"
#include "dialects/om/Om.h"
#include "tools/common/AllPasses.h"
#include "tools/common/PrintableDiagnostics.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

/// Has the handler registered as soon as a dialect of ours is loaded: the driver of MLIR
/// makes the context and registers its own handler before, which is thus asked after.
template <typename Dialect> static void printSafely(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, Dialect *) {
    atc::tools::makeDiagnosticsPrintable(*context);
  });
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
              mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
              mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  atc::graph::registerGraphDialect(registry);
  atc::kernel::registerKernelDialect(registry);
  atc::cpu::registerCpuDialect(registry);
  atc::npu::ir::registerNpuDialect(registry);
  atc::om::registerOmDialect(registry);
  printSafely<atc::graph::GraphDialect>(registry);
  printSafely<atc::kernel::KernelDialect>(registry);
  printSafely<atc::cpu::CpuDialect>(registry);
  printSafely<atc::npu::ir::NpuDialect>(registry);
  printSafely<atc::om::OmDialect>(registry);

  atc::tools::registerAllPasses();

  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "OpenATC pass driver\n", registry));
}
