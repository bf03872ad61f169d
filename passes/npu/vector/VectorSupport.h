//===-- VectorSupport.h - the kernels that the vector queue supports ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_VECTORSUPPORT_H
#define OPENATC_PASSES_NPU_VECTOR_VECTORSUPPORT_H

#include "mlir/IR/Operation.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// Returns the reason why npu-expand-* has no program for a kernel op other than a contraction;
/// empty: it has one.
std::string whyUnsupportedVectorKernel(mlir::Operation *kernelOp, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_VECTORSUPPORT_H
