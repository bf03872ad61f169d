//===-- ExpandConv2D.cpp - npu.conv2d becomes a program --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/Passes.h"
#include "passes/npu/contraction/ExpandContraction.h"

namespace atc::npu {
#define GEN_PASS_DEF_NPUEXPANDCONV2D
#include "passes/npu/Passes.h.inc"

namespace {
struct ExpandConv2DPass : impl::NpuExpandConv2DBase<ExpandConv2DPass> {
  void runOnOperation() override {
    if (failed(expandContractions<ir::Conv2DOp>(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace atc::npu
