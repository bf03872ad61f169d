//===-- Layouts.h - how tensors are stored --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_LAYOUTS_H
#define OPENATC_PASSES_KERNEL_LAYOUTS_H

#include "dialects/graph/Graph.h"
#include <array>

namespace atc::kernel {

/// Rows and columns around every plane: top, left, bottom, right.
using Halo = std::array<int64_t, 4>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Channels of a block; 0 for a tensor stored as its shape says.
int64_t blockOf(mlir::Type type);
inline int64_t blockOf(mlir::Value value) { return blockOf(value.getType()); }

Halo haloOf(mlir::Type type);
/// What stands in the halo.
int64_t haloFillOf(mlir::Type type);

/// The same tensor stored in another way.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, int64_t block, Halo halo = {},
                                  int64_t fill = 0);

/// The sizes that are stored: [N][ceil(C/block)][H][W][block], or the shape.
llvm::SmallVector<int64_t> storedShape(mlir::RankedTensorType type);

/// Bytes of a tensor when its channels come in blocks of `block` (0: plain).
int64_t storedBytes(mlir::RankedTensorType type, int64_t block);

/// Whether storing the tensor in `block`s and plain is the same memory.
bool isSameMemory(mlir::RankedTensorType type, int64_t block);

/// The window of a convolution over one of its two spatial dims.
struct Window {
  int64_t kernel, stride, dilation, before, input, output;
  /// Positions from the first to the last one that is read.
  int64_t extent() const { return (output - 1) * stride + (kernel - 1) * dilation + 1; }
  /// Positions behind the input that are read.
  int64_t after() const { return std::max<int64_t>(0, extent() - before - input); }
};
Window windowOf(graph::ConvOp conv, unsigned dim);
Window windowOf(graph::IntegerConvOp conv, unsigned dim);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_LAYOUTS_H
