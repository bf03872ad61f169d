//===-- AllPasses.h - every pass that has a name --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_COMMON_ALLPASSES_H
#define OPENATC_TOOLS_COMMON_ALLPASSES_H

#include "passes/cpu/Passes.h"
#include "passes/cpu/Pipelines.h"
#include "passes/graph/Passes.h"
#include "passes/host/Passes.h"
#include "passes/host/Pipelines.h"
#include "passes/kernel/Passes.h"
#include "passes/npu/Passes.h"
#include "passes/npu/Pipelines.h"
#include "passes/om/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace atc::tools {

/// Registers the passes and pipelines of the project and those of MLIR that work
/// on what it makes. To be called once in a process.
inline void registerAllPasses() {
  mlir::registerTransformsPasses();
  graph::registerGraphPassesAndPipelines();
  mlir::registerConversionPasses();
  mlir::memref::registerMemRefPasses();
  mlir::math::registerMathPasses();
  cpu::registerCpuPasses();
  kernel::registerKernelPasses();
  cpu::registerCpuPipelines();
  host::registerHostPasses();
  host::registerHostPipelines();
  npu::registerNpuPasses();
  npu::registerNpuPipelines();
  om::registerOmPasses();
}

} // namespace atc::tools

#endif // OPENATC_TOOLS_COMMON_ALLPASSES_H
