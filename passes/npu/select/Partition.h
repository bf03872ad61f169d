//===-- Partition.h - decides which kernels the NPU runs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_PARTITION_H
#define OPENATC_PASSES_NPU_SELECT_PARTITION_H

#include "mlir/IR/Operation.h"
#include "npu/soc/Soc.h"

namespace atc::npu {

/// The reason of a kernel that could become a program but is on the CPU by --op_placement or
/// --target=auto (graph::HostNodes).
inline constexpr llvm::StringLiteral kPlacedOnHost = "it is placed there";

/// Returns the reason why `op`, a kernel on buffers, cannot become a program; empty when it can.
std::string whyNotOnNpu(mlir::Operation *op, const SocTable &soc);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_PARTITION_H
