//===-- Gather.h - kernel.gather on the NPU ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_GATHER_H
#define OPENATC_PASSES_NPU_VECTOR_GATHER_H

#include "dialects/kernel/Kernel.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// Returns why the NPU of this SoC cannot gather what `op` does; empty: it can.
std::string whyUnsupportedGather(kernel::GatherOp op, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_GATHER_H
