//===-- BufferViews.h - buffers of @main as storages ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
#define OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H

#include "dialects/om/Om.h"
#include "passes/kernel/Storage.h"

namespace atc::npu {

/// Returns the location of a buffer in the memory that its views come from.
kernel::Storage storageOf(mlir::Value buffer);

/// Returns the buffer of a storage, as a view where necessary.
mlir::Value bufferOf(mlir::OpBuilder &builder, mlir::Location location,
                     const kernel::Storage &storage);

/// Returns `storage` broadcast to `shape`, which has the same rank.
kernel::Storage broadcast(kernel::Storage storage, llvm::ArrayRef<int64_t> shape);

/// Returns whether `storage` is all of its memory, in row-major order.
bool isWhole(const kernel::Storage &storage);

/// Returns the uses of `root` and its views, except those by views.
llvm::SmallVector<mlir::OpOperand *> usesOf(mlir::Value root);

/// Returns whether any op between `op` and `last` in their block writes to memory that `op` reads.
bool isWrittenBetween(mlir::Operation *op, mlir::Operation *last);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
