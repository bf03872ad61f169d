//===-- CallWindow.h - windows over dims that are known at run time -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_CALLWINDOW_H
#define OPENATC_PASSES_CPU_CALLS_CALLWINDOW_H

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/RowBuilder.h"

namespace atc::cpu {

/// The windows of a pool or convolution: output o of a dim reads inputs o * stride - before + tap *
/// dilation.
struct Window {
  llvm::SmallVector<int64_t> kernel; ///< empty where the attribute does not state it
  llvm::SmallVector<int64_t> stride, dilation, front, after;
  Indices before; ///< may depend on the dims

  int64_t rank() const { return stride.size(); }
};

/// Reads the attributes of a call on `rank` spatial dims; `before` is empty. Fails for lists of
/// other lengths, and for sizes beyond 2^20.
mlir::FailureOr<Window> readWindow(graph::HostCallOp call, int64_t rank);

/// Finds the pads in front of input 0 of a pool or convolution, whose kernels have the sizes
/// `kernel`.
void setWindow(RowBuilder &b, graph::HostCallOp call, Window &window,
               llvm::ArrayRef<mlir::Value> kernel);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_CALLWINDOW_H
