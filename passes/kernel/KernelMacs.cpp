//===-- KernelMacs.cpp - the multiply-accumulates of kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/KernelMacs.h"

#include "dialects/cpu/Reduction.h"
#include "dialects/cpu/Transformer.h"
#include "dialects/npu/Npu.h"

namespace atc::kernel {

bool isContraction(KernelOpInterface op) {
  if (llvm::isa<npu::ir::Conv2DOp, npu::ir::MatMulOp>(op))
    return true;
  // All of the CPU's own kernels are, but for norms and the one that prepares an input.
  return op->getName().getDialectNamespace() == "cpu" &&
         !llvm::isa<cpu::LayerNormOp, cpu::MapReduceOp, cpu::WinogradInputOp>(op);
}

} // namespace atc::kernel
