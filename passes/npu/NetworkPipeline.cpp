//===-- NetworkPipeline.cpp - from a graph to kernels of the NPU ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/DisabledPasses.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/npu/GraphPasses.h"
#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"
#include "passes/npu/VectorPasses.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/om/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace atc::npu {

ArrayRef<StringLiteral> optionalPasses() {
  // Disabling some of them selects a default instead: without npu-select-buffers there is one copy
  // of each buffer, without npu-select-tiles all contractions have tiles of 64x64x64, and
  // npu-minimise-sync and npu-allocate-flags are options of npu-insert-sync.
  static constexpr StringLiteral names[] = {"om-remove-dead",
                                            "om-reuse-in-place",
                                            "npu-add-on-cube",
                                            "npu-align-rows",
                                            "npu-compose-layer-norm",
                                            "npu-convert-parts",
                                            "npu-decompose",
                                            "npu-fuse-epilogues",
                                            "npu-fuse-input-quantization",
                                            "npu-split-batch",
                                            "npu-prefetch-weights",
                                            "npu-reorder",
                                            "npu-scale-queries",
                                            "npu-select-boxes",
                                            "npu-select-buffers",
                                            "npu-select-preprocessing",
                                            "npu-select-tiles",
                                            "npu-minimise-sync",
                                            "npu-allocate-flags",
                                            "npu-preload-weights",
                                            "npu-join-launches"};
  return names;
}

void buildNpuBufferPipeline(OpPassManager &pm, const NpuPipelineOptions &options) {
  NpuSetSocOptions soc;
  soc.soc = options.soc;
  pm.addPass(createNpuSetSoc(soc));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createNpuSelectInt8Contractions());
  functions.addPass(createNpuBytesAsHalves());
  // Where contractions stay f32 the cube computes none of them.
  if (options.precision != "origin" && isOn(options, "npu-decompose"))
    functions.addPass(createNpuDecompose());
  if (options.precision != "origin" && isOn(options, "npu-scale-queries"))
    functions.addPass(createNpuScaleQueries());
  if (options.precision != "origin" && isOn(options, "npu-compose-layer-norm"))
    functions.addPass(createNpuTransposeNorms());
  NpuPrecisionOptions precision;
  precision.mode = options.precision;
  precision.clipWeights = options.clipWeights;
  functions.addPass(createNpuPrecision(precision));
  // Otherwise f16 is the model's own choice.
  if (options.precision != "origin")
    functions.addPass(createNpuCheckHalfRange());
  if (isOn(options, "npu-convert-parts"))
    functions.addPass(createNpuConvertParts());
  functions.addPass(createNpuSelectPreprocessing());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(graph::createGraphCse());
  // Tensors between contractions of f16 are f32 with casts.
  if (options.precision == "cube_fp16")
    functions.addPass(graph::createGraphFuseElementwise());
  kernel::KernelAssignLayoutOptions layout;
  layout.block = kFractal;
  functions.addPass(kernel::createKernelAssignLayout(layout));
  functions.addPass(kernel::createKernelAssignHalo());
  pm.addPass(createNpuLowerGraph());
  if (isOn(options, "npu-compose-layer-norm"))
    pm.addPass(createNpuComposeLayerNorm());
  if (isOn(options, "npu-fuse-epilogues"))
    pm.addPass(createNpuFuseEpilogues());
  if (isOn(options, "npu-fuse-input-quantization"))
    pm.addPass(createNpuFuseInputQuantization());
  if (isOn(options, "npu-add-on-cube"))
    pm.addPass(createNpuAddOnCube());
  pm.addPass(createNpuSplitEpilogues());
  pm.addPass(createNpuSplitBorders());
  pm.addPass(createNpuSplitReductions());
  pm.addPass(createNpuIntegersAsFloats());
  pm.addPass(createNpuDensifyOperands());
  if (isOn(options, "npu-align-rows"))
    pm.addPass(createNpuAlignRows());
}

void buildNpuPartsPipeline(OpPassManager &pm, const NpuPipelineOptions &options) {
  if (isOn(options, "npu-split-batch"))
    pm.addNestedPass<func::FuncOp>(createNpuSplitBatch());
  NpuPartitionOptions partition;
  partition.report = options.report;
  pm.addPass(createNpuPartition(partition));
}

void buildNpuSchedulePipeline(OpPassManager &pm, const NpuPipelineOptions &options) {
  pm.addPass(kernel::createKernelOutline());
  if (isOn(options, "om-remove-dead"))
    pm.addPass(om::createOmRemoveDead());
  if (isOn(options, "om-reuse-in-place"))
    pm.addPass(om::createOmReuseInPlace());
  if (isOn(options, "npu-prefetch-weights"))
    pm.addNestedPass<func::FuncOp>(createNpuPrefetchWeights());
  pm.addPass(om::createOmPlanMemory());
  pm.addPass(om::createOmVerifySchedule());
}

void buildNpuKernelPipeline(OpPassManager &pm, const NpuPipelineOptions &options) {
  NpuSelectTilesOptions tiles;
  tiles.fixed = options.tile;
  tiles.measure = options.measureTiles;
  if (options.tile.empty() && !isOn(options, "npu-select-tiles"))
    tiles.fixed = "64x64x64";
  pm.addNestedPass<func::FuncOp>(createNpuSelectTiles(tiles));
  if (isOn(options, "npu-select-boxes"))
    pm.addNestedPass<func::FuncOp>(createNpuSelectBoxes());
  pm.addPass(createNpuExpandArgReduce());
  pm.addPass(createNpuExpandConv2D());
  pm.addPass(createNpuExpandCopy());
  pm.addPass(createNpuExpandGather());
  pm.addPass(createNpuExpandLayerNorm());
  pm.addPass(createNpuExpandMap());
  pm.addPass(createNpuExpandMatMul());
  pm.addPass(createNpuExpandPool());
  pm.addPass(createNpuExpandReduce());
  pm.addPass(createNpuExpandResize());
  pm.addPass(createNpuExpandSoftmax());
  NpuProgramOptions programs;
  programs.maxBuffers = options.doubleBuffering && isOn(options, "npu-select-buffers") ? 2 : 1;
  programs.reorder = isOn(options, "npu-reorder");
  programs.minimiseSync = isOn(options, "npu-minimise-sync");
  programs.allocateFlags = isOn(options, "npu-allocate-flags");
  buildNpuProgramPipeline(pm, programs);
  if (isOn(options, "npu-preload-weights"))
    pm.addPass(createNpuPreloadWeights());
  if (isOn(options, "npu-join-launches"))
    pm.addPass(createNpuJoinLaunches());
}

void buildNpuPipeline(OpPassManager &pm, const NpuPipelineOptions &options) {
  graph::buildGraphPipeline(pm, {});
  buildNpuBufferPipeline(pm, options);
  buildNpuPartsPipeline(pm, options);
  buildNpuSchedulePipeline(pm, options);
  if (options.programs)
    buildNpuKernelPipeline(pm, options);
}

} // namespace atc::npu
