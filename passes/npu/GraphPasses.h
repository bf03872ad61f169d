//===-- GraphPasses.h - passes on graphs for the NPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_GRAPHPASSES_H
#define OPENATC_PASSES_NPU_GRAPHPASSES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Pass/Pass.h"

namespace atc::npu {
#define GEN_PASS_DECL
#include "passes/npu/GraphPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/npu/GraphPasses.h.inc"
} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_GRAPHPASSES_H
