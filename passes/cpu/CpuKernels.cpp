//===-- CpuKernels.cpp - from graph ops to kernels of the CPU -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LowerGraph.h"

#include "passes/cpu/Passes.h"

namespace atc::cpu {
#define GEN_PASS_DEF_CPULOWERGRAPH
#include "passes/cpu/Passes.h.inc"

namespace {
class CpuKernels : public TargetKernels {
public:
  CpuKernels(bool exactDot, bool tileRegisters)
      : exactDot(exactDot), tileRegisters(tileRegisters) {}
  bool hasExactDot() const override { return exactDot; }
  bool hasTileRegisters() const override { return tileRegisters; }

private:
  bool exactDot, tileRegisters;
};

struct LowerGraphPass : impl::CpuLowerGraphBase<LowerGraphPass> {
  using CpuLowerGraphBase::CpuLowerGraphBase;

  void runOnOperation() override {
    if (failed(lowerGraph(getOperation(), CpuKernels(exactDot, tileRegisters))))
      signalPassFailure();
  }
};
} // namespace

} // namespace atc::cpu
