//===-- Pipelines.cpp - the CPU backend's passes in order -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/Pipelines.h"

#include "passes/DisabledPasses.h"
#include "passes/PipelineRegistration.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/ReductionPasses.h"
#include "passes/cpu/WeightPasses.h"
#include "passes/cpu/calls/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/om/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace atc::cpu {

ArrayRef<StringLiteral> optionalPasses() {
  static constexpr StringLiteral names[] = {
      "cpu-select-winograd",      "cpu-fold-byte-sums",  "cpu-compose-layer-norm",
      "cpu-fuse-attention",       "cpu-fuse-reductions", "cpu-fuse-residuals",
      "cpu-fuse-element-calls",   "cpu-generate-calls",  "cpu-narrow-weights",
      "cpu-select-half-products", "cpu-split-pools",     "cpu-tabulate-bytes",
      "om-reuse-in-place",        "om-remove-dead"};
  return names;
}

void buildCpuBufferPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (isOn(options, "cpu-split-pools"))
    pm.addNestedPass<func::FuncOp>(createCpuSplitPools());
  kernel::KernelAssignLayoutOptions layout;
  layout.block = options.block;
  pm.addNestedPass<func::FuncOp>(kernel::createKernelAssignLayout(layout));
  pm.addNestedPass<func::FuncOp>(kernel::createKernelAssignHalo());
  CpuLowerGraphOptions lowering;
  lowering.exactDot = options.exactDot;
  lowering.tileRegisters = options.tileRegisters;
  pm.addPass(createCpuLowerGraph(lowering));
  if (isOn(options, "cpu-select-winograd"))
    pm.addNestedPass<func::FuncOp>(createCpuSelectWinograd());
  if (isOn(options, "cpu-fold-byte-sums"))
    pm.addNestedPass<func::FuncOp>(createCpuFoldByteSums());
  if (options.byteTables && isOn(options, "cpu-tabulate-bytes"))
    pm.addNestedPass<func::FuncOp>(createCpuTabulateBytes());
  if (isOn(options, "cpu-compose-layer-norm"))
    pm.addPass(createCpuComposeLayerNorm());
  if (isOn(options, "cpu-fuse-attention"))
    pm.addPass(createCpuFuseAttention());
  if (isOn(options, "cpu-fuse-residuals"))
    pm.addPass(createCpuFuseResiduals());
  if (isOn(options, "cpu-fuse-reductions"))
    pm.addPass(createCpuFuseReductions());
  if (options.halfProducts && isOn(options, "cpu-select-half-products"))
    pm.addPass(createCpuSelectHalfProducts());
  if (isOn(options, "cpu-narrow-weights"))
    pm.addPass(createCpuNarrowWeights({options.storage, options.convertsHalfs}));
}

void buildCpuSchedulePipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  pm.addPass(kernel::createKernelOutline());
  if (isOn(options, "om-remove-dead"))
    pm.addPass(om::createOmRemoveDead());
  if (isOn(options, "om-reuse-in-place"))
    pm.addPass(om::createOmReuseInPlace());
  pm.addPass(om::createOmPlanMemory());
  pm.addPass(om::createOmVerifySchedule());
}

void buildCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  buildCpuBufferPipeline(pm, options);
  buildCpuSchedulePipeline(pm, options);
}

void buildCpuCallPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  if (isOn(options, "cpu-fuse-element-calls"))
    pm.addPass(createCpuFuseElementCalls());
  if (isOn(options, "cpu-generate-calls"))
    pm.addPass(createCpuGenerateCalls());
}

void buildCpuExpandPipeline(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(createCpuSelectTiles());
  kernels.addPass(createCpuExpandAttention());
  kernels.addPass(createCpuExpandConv2D());
  kernels.addPass(createCpuExpandCopy());
  kernels.addPass(createCpuExpandDepthwise());
  kernels.addPass(createCpuExpandFloatWinograd());
  kernels.addPass(createCpuExpandHalfConv2D());
  kernels.addPass(createCpuExpandIntegerConv());
  kernels.addPass(createCpuExpandLayerNorm());
  kernels.addPass(createCpuExpandMap());
  kernels.addPass(createCpuExpandMapReduce());
  kernels.addPass(createCpuExpandMatMul());
  kernels.addPass(createCpuExpandPool());
  kernels.addPass(createCpuExpandReduce());
  kernels.addPass(createCpuExpandResize());
  kernels.addPass(createCpuExpandWinograd());
  kernels.addPass(createCpuLowerMath());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
}

void buildCpuLoopsToLLVMPipeline(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<func::FuncOp>();
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  vectors.force32BitVectorIndices = false;
  kernels.addPass(createConvertVectorToLLVMPass(vectors));

  // LLVM's own passes simplify what the conversions leave.
  pm.addPass(createCpuLowerToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCpuMakeEntries());
  pm.addPass(createCpuVerifyKernels());
}

void buildCpuLowerToLLVMPipeline(OpPassManager &pm) {
  buildCpuExpandPipeline(pm);
  buildCpuLoopsToLLVMPipeline(pm);
}

void registerCpuPipelines() {
  registerCpuReductionPasses();
  registerCpuWeightPasses();
  registerPipeline<CpuPipelineOptions>("cpu-pipeline", "From a graph to a schedule of kernels",
                                       buildCpuPipeline);
  registerPipeline<CpuPipelineOptions>("cpu-schedule-pipeline",
                                       "From cpu ops in @main to a schedule of kernels",
                                       buildCpuSchedulePipeline);
  registerPipeline<CpuPipelineOptions>("cpu-call-pipeline", "Generates code for host calls",
                                       buildCpuCallPipeline);
  registerPipeline("cpu-expand-pipeline", "From kernels to loops on vectors",
                   buildCpuExpandPipeline);
  registerPipeline("cpu-lower-to-llvm-pipeline",
                   "From kernels to the LLVM dialect with entry points",
                   buildCpuLowerToLLVMPipeline);
}

} // namespace atc::cpu
