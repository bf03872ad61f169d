//===-- Registration.cpp - every dialect and every pass -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Registration.h"

#include "backends/cpu/ObjectEmitter.h"
#include "dialects/cpu/Cpu.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/npu/Npu.h"
#include "dialects/om/Om.h"
#include "driver/CompilePass.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/Pipelines.h"
#include "passes/cpu/calls/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/host/Passes.h"
#include "passes/host/Pipelines.h"
#include "passes/kernel/Passes.h"
#include "passes/npu/GraphPasses.h"
#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"
#include "passes/npu/VectorPasses.h"
#include "passes/om/Passes.h"
#include "passes/shard/Passes.h"
#include "passes/train/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace atc::driver {

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
              mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
              mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  graph::registerGraphDialect(registry);
  kernel::registerKernelDialect(registry);
  cpu::registerCpuDialect(registry);
  npu::ir::registerNpuDialect(registry);
  om::registerOmDialect(registry);
  cpu::registerEmitterDialects(registry);
}

void registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::registerConversionPasses();
  mlir::memref::registerMemRefPasses();
  mlir::math::registerMathPasses();
  graph::registerGraphPassesAndPipelines();
  kernel::registerKernelPasses();
  cpu::registerCpuPasses();
  cpu::registerCpuCallsPasses();
  cpu::registerCpuPipelines();
  host::registerHostPasses();
  host::registerHostPipelines();
  npu::registerNpuPasses();
  npu::registerNpuGraphPasses();
  npu::registerNpuVectorPasses();
  npu::registerNpuPipelines();
  om::registerOmPasses();
  shard::registerShardPasses();
  train::registerTrainPasses();
  registerCompilePass();
}

} // namespace atc::driver
