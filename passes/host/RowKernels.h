//===-- RowKernels.h - host kernels that compute row by row ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of a tensor is its last dim, and all other dims count rows. A call computes row by row
// when row i of its result depends on row i of its operands and on constants, whatever the other
// dims are. Such calls can be graph ops on [rows, width].

#ifndef OPENATC_PASSES_HOST_ROWKERNELS_H
#define OPENATC_PASSES_HOST_ROWKERNELS_H

#include "dialects/graph/ops/HostOps.h"

namespace atc::host {

/// Regions whose constant matrices have fewer elements in total stay host calls.
constexpr int64_t kMinRowWeights = 4096;

/// The operands of a call, as values of [rows, width] or as constants.
struct RowOperands {
  mutable graph::HostCallOp call;        ///< accessors of ops are not const
  llvm::SmallVector<mlir::Value> values; ///< by position; null where left out
};

/// Returns the graph ops of a call on static rows; null where the call does not compute row by
/// row. Operands that are no constants have type f32 [rows, width].
mlir::Value buildRows(mlir::OpBuilder &builder, const RowOperands &operands);

/// Returns the width of the rows of the first result of a call, from the widths of the operands
/// by position; 0 where it is not known. That holds for every call, row by row or not.
int64_t rowWidthOf(graph::HostCallOp call, llvm::ArrayRef<int64_t> widths);

/// Returns the width that rows of operand `index` of a call must have for the call not to fail;
/// 0 where it may have any.
int64_t requiredRowWidth(graph::HostCallOp call, unsigned index);

} // namespace atc::host

#endif // OPENATC_PASSES_HOST_ROWKERNELS_H
