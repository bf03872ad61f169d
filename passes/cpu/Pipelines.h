//===-- Pipelines.h - the CPU backend's passes in order -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_PIPELINES_H
#define OPENATC_PASSES_CPU_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace atc::cpu {

/// The options of the CPU's pipelines.
struct CpuPipelineOptions : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> block{*this, "block", llvm::cl::desc("Channels of a block"), llvm::cl::init(16)};
  Option<bool> exactDot{*this, "exact-dot",
                        llvm::cl::desc("All levels add products of bytes without cutting"),
                        llvm::cl::init(false)};
  Option<bool> tileRegisters{*this, "tile-registers",
                             llvm::cl::desc("Some level has tile registers for bytes"),
                             llvm::cl::init(false)};
  Option<bool> byteTables{*this, "byte-tables",
                          llvm::cl::desc("All levels have an instruction that permutes bytes"),
                          llvm::cl::init(false)};
  Option<std::string> storage{*this, "storage",
                              llvm::cl::desc("Element type of weights: f32, exact, f16 or bf16"),
                              llvm::cl::init("exact")};
  Option<bool> convertsHalfs{*this, "converts-halfs",
                             llvm::cl::desc("All levels have an instruction that makes floats of "
                                            "f16"),
                             llvm::cl::init(true)};
  Option<bool> halfProducts{*this, "half-products",
                            llvm::cl::desc("Products of constant weights are computed in f16, for "
                                           "which all levels have instructions"),
                            llvm::cl::init(false)};
  ListOption<std::string> disable{*this, "disable", llvm::cl::desc("Passes to leave out, by name")};
};

/// Builds the passes from a graph to a schedule of launches with offsets in the arena, and one
/// function with one cpu op per kernel.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});

/// Builds the first part of it, up to cpu ops on buffers in @main.
void buildCpuBufferPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});
/// Builds the rest of it, from cpu ops on buffers to the schedule.
void buildCpuSchedulePipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});

/// Builds the passes that generate code for the host calls of a dynamic schedule, whose static
/// regions have been compiled.
void buildCpuCallPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});

/// Builds the passes from kernel functions to loops on vectors, for the level in `cpu.level`.
void buildCpuExpandPipeline(mlir::OpPassManager &pm);

/// Builds the passes from loops to the LLVM dialect with the entry points that the runtime calls.
void buildCpuLoopsToLLVMPipeline(mlir::OpPassManager &pm);

/// Builds both: from a module of kernel functions to the LLVM dialect.
void buildCpuLowerToLLVMPipeline(mlir::OpPassManager &pm);

/// Returns the names of the passes that `disable` may contain: models compile without them.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();

/// Registers `cpu-pipeline`, `cpu-schedule-pipeline`, `cpu-expand-pipeline` and
/// `cpu-lower-to-llvm-pipeline`.
void registerCpuPipelines();

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_PIPELINES_H
