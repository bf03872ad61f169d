//===-- Partition.h - decides which kernels the NPU runs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_PARTITION_H
#define OPENATC_PASSES_NPU_SELECT_PARTITION_H

#include "npu/soc/Soc.h"
#include "passes/graph/Float32Nodes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace atc::npu {

/// The reason of a kernel that could become a program but is on the CPU by --op_placement or
/// --target=auto (graph::HostNodes).
inline constexpr llvm::StringLiteral kPlacedOnHost = "it is placed there";

/// Returns the reason why `op`, a kernel on buffers, cannot become a program; empty when it can.
std::string whyNotOnNpu(mlir::Operation *op, const SocTable &soc);

/// The function whose kernels the passes of this folder distribute, and what decides where a kernel
/// runs: the NPU's sizes, and what the user has placed on the CPU.
struct MainFunction {
  mlir::func::FuncOp function;
  SocTable soc;
  graph::HostNodes hostNodes;

  /// Returns `main` of a module; nothing for a module without one, or with its declaration alone.
  static std::optional<MainFunction> find(mlir::ModuleOp module);

  /// Returns whether the NPU computes `op`, a kernel on buffers: it has a program, and no user
  /// wants it on the CPU.
  bool runsOnNpu(mlir::Operation *op) const {
    return !hostNodes.contains(op) && whyNotOnNpu(op, soc).empty();
  }
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_PARTITION_H
