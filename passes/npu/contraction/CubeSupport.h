//===-- CubeSupport.h - which contractions the NPU can run -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H
#define OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H

#include "passes/npu/contraction/Contraction.h"

namespace atc::npu {

/// The contraction of an op; `fault` says why the NPU cannot run it.
Contraction describe(ir::Conv2DOp op, const SocTable &soc, std::string &fault);
Contraction describe(ir::MatMulOp op, const SocTable &soc, std::string &fault);

/// Empty: npu-select-tiles and npu-expand-* will make a program of it.
std::string whyUnsupportedConv2D(ir::Conv2DOp op, const SocTable &soc);
std::string whyUnsupportedMatMul(ir::MatMulOp op, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_CONTRACTION_CUBESUPPORT_H
