//===-- Layouts.h - how tensors are stored --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LAYOUTS_H
#define OPENATC_PASSES_KERNEL_LAYOUTS_H

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include <array>

namespace atc::kernel {

/// Rows and columns around every plane: top, left, bottom, right.
using Halo = std::array<int64_t, 4>;

/// Returns the type of a tensor, which must be ranked.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the channels per block; 0 for a tensor stored in row-major order.
int64_t blockOf(mlir::Type type);
inline int64_t blockOf(mlir::Value value) { return blockOf(value.getType()); }

/// Returns the halo of a tensor type.
Halo haloOf(mlir::Type type);
/// Returns the value that fills the halo.
int64_t haloFillOf(mlir::Type type);

/// Returns the tensor type with another layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, int64_t block, Halo halo = {},
                                  int64_t fill = 0);

/// Returns the stored sizes: [N][ceil(C/block)][H][W][block], or the shape.
llvm::SmallVector<int64_t> storedShape(mlir::RankedTensorType type);

/// Returns the bytes of a tensor stored in blocks of `block` channels (0: row-major).
int64_t storedBytes(mlir::RankedTensorType type, int64_t block);

/// Returns whether storing the tensor in blocks and in row-major order yields the same memory.
bool isSameMemory(mlir::RankedTensorType type, int64_t block);

/// The window of a convolution along one of its two spatial dims.
struct Window {
  int64_t kernel, stride, dilation, before, input, output;
  /// Returns the number of positions from the first to the last one that is read.
  int64_t extent() const { return (output - 1) * stride + (kernel - 1) * dilation + 1; }
  /// Returns the number of positions behind the input that are read.
  int64_t after() const { return std::max<int64_t>(0, extent() - before - input); }
};
/// Returns the window along spatial dim `dim` (0 or 1).
Window windowOf(graph::ConvOp conv, unsigned dim);
Window windowOf(graph::IntegerConvOp conv, unsigned dim);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LAYOUTS_H
