//===-- ProgramPipeline.cpp - from sequential to parallel programs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"

namespace atc::npu {

void buildNpuProgramPipeline(mlir::OpPassManager &pm, const NpuProgramOptions &options) {
  mlir::OpPassManager &programs = pm.nest<ir::ProgramOp>();
  NpuSelectBuffersOptions buffers;
  buffers.maxBuffers = options.maxBuffers;
  programs.addPass(createNpuSelectBuffers(buffers));
  programs.addPass(createNpuAllocateLocalMemory());
  if (options.reorder)
    programs.addPass(createNpuReorder());
  NpuInsertSyncOptions sync;
  sync.minimise = options.minimiseSync;
  sync.allocate = options.allocateFlags;
  programs.addPass(createNpuInsertSync(sync));
}

} // namespace atc::npu
