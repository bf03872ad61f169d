//===-- ExpandMatMul.cpp - npu.matmul becomes a program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/npu/ExpandContraction.h"
#include "passes/npu/Passes.h"

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDMATMUL
#include "passes/npu/Passes.h.inc"

namespace {
struct ExpandMatMulPass : impl::NpuExpandMatMulBase<ExpandMatMulPass> {
  void runOnOperation() override {
    if (failed(expandContractions<ir::MatMulOp>(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace atc::npu
