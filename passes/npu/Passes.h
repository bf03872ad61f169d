//===-- Passes.h - passes of the NPU backend ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_PASSES_H
#define OPENATC_PASSES_NPU_PASSES_H

#include "dialects/npu/Npu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace atc::npu {
#define GEN_PASS_DECL
#include "passes/npu/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/npu/Passes.h.inc"
} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_PASSES_H
