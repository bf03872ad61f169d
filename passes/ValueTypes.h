//===-- ValueTypes.h - types of tensors and buffers -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_VALUETYPES_H
#define OPENATC_PASSES_VALUETYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace atc {

/// Returns the type of a value that is a tensor with a rank.
inline mlir::RankedTensorType tensorTypeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}

/// Returns the type of a value that is a buffer.
inline mlir::MemRefType bufferTypeOf(mlir::Value buffer) {
  return mlir::cast<mlir::MemRefType>(buffer.getType());
}

} // namespace atc

#endif // OPENATC_PASSES_VALUETYPES_H
