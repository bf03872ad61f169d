//===-- Pipelines.cpp - the NPU backend's passes in order -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Pipelines.h"

#include "passes/PipelineRegistration.h"
#include "passes/npu/Passes.h"

namespace atc::npu {

void registerNpuPipelines() {
  registerPipeline<NpuPipelineOptions>(
      "npu-pipeline", "From a graph to a schedule of kernels of the NPU and the CPU",
      buildNpuPipeline);
  registerPipeline<NpuProgramOptions>(
      "npu-program-pipeline", "From sequential npu programs to programs that use all queues",
      buildNpuProgramPipeline);
}

} // namespace atc::npu
