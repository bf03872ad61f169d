//===-- Pipelines.h - the CPU backend's passes in order -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_PIPELINES_H
#define OPENATC_PASSES_CPU_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace atc::cpu {

struct CpuPipelineOptions : mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> block{*this, "block", llvm::cl::desc("Channels of a block"), llvm::cl::init(16)};
  Option<bool> exactDot{*this, "exact-dot",
                        llvm::cl::desc("All levels add products of bytes without cutting"),
                        llvm::cl::init(false)};
  ListOption<std::string> disable{*this, "disable", llvm::cl::desc("Passes to leave out, by name")};
};

/// From a graph to a schedule of launches with places in the arena, and one
/// function with one cpu op for every kernel.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});

/// The first part of it, up to cpu ops on buffers in @main.
void buildCpuBufferPipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});
/// The rest of it.
void buildCpuSchedulePipeline(mlir::OpPassManager &pm, const CpuPipelineOptions &options = {});

/// From kernel functions to loops on vectors, for the level in `cpu.level`.
void buildCpuExpandPipeline(mlir::OpPassManager &pm);

/// From loops to the LLVM dialect with the entry points that the runtime calls.
void buildCpuLoopsToLLVMPipeline(mlir::OpPassManager &pm);

/// Both: from a module of kernel functions to the LLVM dialect.
void buildCpuLowerToLLVMPipeline(mlir::OpPassManager &pm);

/// Returns the names of the passes that `disable` may have: a model compiles without them.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();

/// Registers `cpu-pipeline`, `cpu-schedule-pipeline`, `cpu-expand-pipeline` and
/// `cpu-lower-to-llvm-pipeline`.
void registerCpuPipelines();

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_PIPELINES_H
