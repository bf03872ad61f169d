//===-- BufferViews.h - buffers of @main as storages ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_BUFFERVIEWS_H
#define OPENATC_PASSES_KERNEL_BUFFERVIEWS_H

#include "dialects/om/Om.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel/Storage.h"

namespace atc::kernel {

/// Returns the location of a buffer in the memory that its views come from.
Storage storageOf(mlir::Value buffer);

/// Returns the buffer of a storage, as a view where necessary.
mlir::Value bufferOf(mlir::OpBuilder &builder, mlir::Location location, const Storage &storage);

/// Returns `storage` broadcast to `shape`, which has the same rank.
Storage broadcast(Storage storage, llvm::ArrayRef<int64_t> shape);

/// Returns whether `storage` is all of its memory, in row-major order.
bool isWhole(const Storage &storage);

/// Calls `visit` with each use of `root` and its views, except those by views, until it returns
/// false. Returns whether it never did.
bool visitUses(mlir::Value root, llvm::function_ref<bool(mlir::OpOperand &)> visit);

/// Returns the uses that visitUses visits.
llvm::SmallVector<mlir::OpOperand *> usesOf(mlir::Value root);

/// Returns whether any op between `op` and `last` in their block writes to memory that `op` reads.
bool isWrittenBetween(mlir::Operation *op, mlir::Operation *last);

/// Memory with more uses is no step of a formula. Without a limit, all parts of a tensor that is
/// split thousands of times would each look at all others.
inline constexpr unsigned kMaxUsesOfWritten = 256;

/// Returns the only kernel of @main that writes to the memory of `buffer`; null where several do,
/// and where it has more than kMaxUsesOfWritten uses.
mlir::Operation *writerOf(mlir::Value buffer);

/// Erases the kernels of `main` whose results nothing reads any more, and their buffers, views and
/// weights.
void eraseUnread(mlir::func::FuncOp main);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_BUFFERVIEWS_H
