//===-- VerifyBuffers.h - shared by the verifiers of kernel ops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_KERNEL_VERIFYBUFFERS_H
#define OPENATC_DIALECTS_KERNEL_VERIFYBUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace atc::kernel {

/// Returns the type of a buffer.
inline mlir::MemRefType typeOf(mlir::Value value) {
  return llvm::cast<mlir::MemRefType>(value.getType());
}

/// Emits an error unless the buffer `name` has rank `rank`.
inline mlir::LogicalResult verifyRank(mlir::Operation *op, mlir::Value value, int64_t rank,
                                      llvm::StringRef name) {
  int64_t actual = typeOf(value).getRank();
  if (actual == rank)
    return mlir::success();
  return op->emitOpError() << name << " must have rank " << rank << ", but has rank " << actual;
}

/// Emits an error unless two buffers have the same shape.
inline mlir::LogicalResult verifySameShape(mlir::Operation *op, mlir::Value a,
                                           llvm::StringRef nameA, mlir::Value b,
                                           llvm::StringRef nameB) {
  if (typeOf(a).getShape() == typeOf(b).getShape())
    return mlir::success();
  return op->emitOpError() << nameA << " and " << nameB << " must have the same shape, but are "
                           << a.getType() << " and " << b.getType();
}

/// Emits an error unless the attribute `name` has `length` values.
inline mlir::LogicalResult verifyLength(mlir::Operation *op, llvm::ArrayRef<int64_t> list,
                                        size_t length, llvm::StringRef name) {
  if (list.size() == length)
    return mlir::success();
  return op->emitOpError() << name << " needs " << length << " numbers, but has " << list.size();
}

/// Returns a kernel's name with its window: "conv_3x3".
inline std::string windowName(llvm::StringRef stem, int64_t kh, int64_t kw) {
  return (stem + "_" + llvm::Twine(kh) + "x" + llvm::Twine(kw)).str();
}

/// Returns the number of elements of a buffer.
inline int64_t elements(mlir::Value value) { return typeOf(value).getNumElements(); }

} // namespace atc::kernel

#endif // OPENATC_DIALECTS_KERNEL_VERIFYBUFFERS_H
