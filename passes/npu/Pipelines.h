//===-- Pipelines.h - the NPU backend's passes in order -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PIPELINES_H
#define OPENATC_PASSES_NPU_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::func {
class FuncOp;
}

namespace atc::npu {

/// The options of the program pipeline.
struct NpuProgramOptions : mlir::PassPipelineOptions<NpuProgramOptions> {
  Option<int64_t> maxBuffers{
      *this, "max-buffers",
      llvm::cl::desc("Maximum number of copies of a buffer (multi-buffering)"), llvm::cl::init(2)};
  Option<bool> reorder{*this, "reorder",
                       llvm::cl::desc("Order instructions by what waits for them"),
                       llvm::cl::init(true)};
  Option<bool> minimiseSync{*this, "minimise-sync",
                            llvm::cl::desc("Leave out flags that others imply"),
                            llvm::cl::init(true)};
  Option<bool> allocateFlags{*this, "allocate-flags",
                             llvm::cl::desc("Raise flags early, with ids for copies of buffers"),
                             llvm::cl::init(true)};
};

/// The options of the NPU's pipelines.
struct NpuPipelineOptions : mlir::PassPipelineOptions<NpuPipelineOptions> {
  Option<std::string> soc{*this, "soc", llvm::cl::desc("Name of the SoC"),
                          llvm::cl::init("Ascend310P3")};
  Option<std::string> precision{*this, "precision",
                                llvm::cl::desc("force_fp16, cube_fp16 or origin"),
                                llvm::cl::init("force_fp16")};
  Option<bool> clipWeights{*this, "clip-weights",
                           llvm::cl::desc("Clamp weights to the range of f16"),
                           llvm::cl::init(true)};
  Option<bool> report{*this, "report", llvm::cl::desc("Say what stays on the CPU, and why"),
                      llvm::cl::init(false)};
  Option<std::string> tile{*this, "tile",
                           llvm::cl::desc("m x n x k of all contractions (64x64x64) instead of the "
                                          "cost model's choice"),
                           llvm::cl::init("")};
  Option<int64_t> measureTiles{*this, "measure-tiles",
                               llvm::cl::desc("How many of the cost model's best tiles are tried "
                                              "on the simulator; 0: the model's choice"),
                               llvm::cl::init(16)};
  Option<bool> doubleBuffering{*this, "double-buffering",
                               llvm::cl::desc("Use copies of buffers in turn"),
                               llvm::cl::init(true)};
  Option<bool> programs{*this, "programs", llvm::cl::desc("Make programs of the NPU's kernels"),
                        llvm::cl::init(true)};
  ListOption<std::string> disable{
      *this, "disable",
      llvm::cl::desc(
          "Passes to leave out, by name: om-remove-dead, om-reuse-in-place, "
          "npu-compose-layer-norm, npu-convert-parts, npu-fuse-epilogues, npu-split-batch, "
          "npu-prefetch-weights, npu-reorder, npu-scale-queries, npu-select-boxes, "
          "npu-select-buffers, "
          "npu-select-tiles, npu-minimise-sync, npu-allocate-flags, npu-preload-weights, "
          "npu-join-launches")};
};

/// Builds the passes from a graph to kernels on buffers in @main.
void buildNpuBufferPipeline(mlir::OpPassManager &pm, const NpuPipelineOptions &options = {});
/// Builds the passes that divide the batch of these kernels and mark those of the NPU: the first
/// whose decisions can be set from outside.
void buildNpuPartsPipeline(mlir::OpPassManager &pm, const NpuPipelineOptions &options = {});
/// Builds the passes from there to a schedule of launches with offsets in the arena, and one
/// function with one kernel op per kernel.
void buildNpuSchedulePipeline(mlir::OpPassManager &pm, const NpuPipelineOptions &options = {});
/// Builds the passes from kernel functions of the NPU to programs that run on all queues.
void buildNpuKernelPipeline(mlir::OpPassManager &pm, const NpuPipelineOptions &options = {});
/// Returns the names of the passes that `disable` may contain: models compile without them.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();
/// Returns whether there are quantized contractions that the cube may compute in int8. Where
/// there are only quantized contractions that it cannot, a remark names one.
bool canSumIntegers(mlir::func::FuncOp main);
/// Returns whether a network is computed in integers after npu-select-int8-contractions: those that
/// it has marked have at least 90 % of the multiply-accumulates of all contractions, what the CPU
/// would compute has at most 2 %, and no floats are resized beside convolutions of f16. If it
/// returns false, remarks name the contractions that are not marked.
bool sumsEnoughIntegers(mlir::func::FuncOp main);
/// Builds all of it, preceded by the graph passes.
void buildNpuPipeline(mlir::OpPassManager &pm, const NpuPipelineOptions &options = {});

/// Builds the passes from sequential programs to programs that run on all queues. `pm` runs on
/// modules or on other ops that contain npu.programs.
void buildNpuProgramPipeline(mlir::OpPassManager &pm, const NpuProgramOptions &options = {});

/// Registers `npu-program-pipeline` and `npu-pipeline`.
void registerNpuPipelines();

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PIPELINES_H
