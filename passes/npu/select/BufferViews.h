//===-- BufferViews.h - buffers of @main as parts of memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
#define OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H

#include "dialects/om/Om.h"
#include "passes/kernel/Storage.h"

namespace atc::npu {

/// Where a buffer lies in the memory that its views come from.
kernel::Storage storageOf(mlir::Value buffer);

/// The buffer of a place.
mlir::Value bufferOf(mlir::OpBuilder &builder, mlir::Location location,
                     const kernel::Storage &storage);

/// `storage` broadcast to `shape`, of the same rank.
kernel::Storage broadcast(kernel::Storage storage, llvm::ArrayRef<int64_t> shape);

/// Whether `storage` is all of its memory, in order.
bool isWhole(const kernel::Storage &storage);

/// The ops that use `root` or a view of it, views apart.
llvm::SmallVector<mlir::OpOperand *> usesOf(mlir::Value root);

/// Whether any op between two of one block writes to memory that `op` reads.
bool isWrittenBetween(mlir::Operation *op, mlir::Operation *last);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_BUFFERVIEWS_H
