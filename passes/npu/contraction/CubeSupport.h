//===-- CubeSupport.h - the contractions that the NPU supports -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H
#define OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// Returns the contraction of an op; sets `errorText` to the reason where the NPU cannot run it.
Contraction describe(ir::Conv2DOp op, const SocTable &soc, std::string &errorText);
Contraction describe(ir::MatMulOp op, const SocTable &soc, std::string &errorText);

/// Return the reason why no program can be made of an op; empty: npu-select-tiles and npu-expand-*
/// will make one.
std::string whyUnsupportedConv2D(ir::Conv2DOp op, const SocTable &soc);
std::string whyUnsupportedMatMul(ir::MatMulOp op, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H
