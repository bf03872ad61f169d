//===-- VectorPasses.h - further expansions to the vector queue -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTORPASSES_H
#define OPENATC_PASSES_NPU_VECTORPASSES_H

#include "dialects/npu/Npu.h"
#include "mlir/Pass/Pass.h"

namespace atc::npu {
#define GEN_PASS_DECL
#include "passes/npu/VectorPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/npu/VectorPasses.h.inc"
} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTORPASSES_H
