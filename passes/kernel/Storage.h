//===-- Storage.h - the location of a tensor in memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_STORAGE_H
#define OPENATC_PASSES_KERNEL_STORAGE_H

#include "dialects/graph/ops/ShapeOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/kernel/Layouts.h"

namespace atc::kernel {

/// The location of a tensor: a strided part of the memory of `base`, in elements. `base` is a graph
/// value with memory of its own, or a buffer made while lowering.
struct Storage {
  mlir::Value base;
  mlir::Type element;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;
  /// The size of the border around dims 2 and 3, which is filled with `haloFill`.
  Halo halo{};
  int64_t haloFill = 0;

  /// Returns all of a row-major buffer.
  static Storage whole(mlir::Value base, mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// Returns the shape [N][H][W][CB][b] of the memory of a blocked tensor `shape`,
  /// [N][CB][H][W][b], whose channels are side by side.
  static llvm::SmallVector<int64_t> joinedShape(llvm::ArrayRef<int64_t> shape) {
    return {shape[0], shape[2], shape[3], shape[1], shape[4]};
  }
  /// Returns such memory as the tensor, [N][CB][H][W][b].
  static Storage joined(const Storage &memory) { return memory.permuted({0, 3, 1, 2, 4}); }
  /// Returns [N][CB][H][W][b] without a border.
  Storage inside(Halo border) const;

  int64_t rank() const { return shape.size(); }
  /// Returns whether the elements are row-major without gaps.
  bool isContiguous() const;
  /// Returns where a view begins in the buffer, in bytes; 0 where it has no elements, for then
  /// there may be no such place in the buffer.
  int64_t byteOffset() const;
  /// Returns the memref type of a view. The strides of dims of size 1 are canonical, so that equal
  /// views have equal types.
  mlir::MemRefType type() const;

  /// Returns `size` elements of one dim: start, start + step, ...
  Storage slice(int64_t dim, int64_t start, int64_t size, int64_t step = 1) const;
  /// Returns the storage with its dims permuted: result dim i is dim order[i].
  Storage permuted(llvm::ArrayRef<int64_t> order) const;
  /// Returns the storage with a new dim before `dim`, of one element or of `size` with `stride`.
  Storage withDim(int64_t dim, int64_t size = 1, int64_t stride = 0) const;
  /// Returns the storage with dim `dim` split into `size / inner` x `inner`.
  Storage split(int64_t dim, int64_t inner) const;
  /// Returns [N][1][H][W][b] as [N][channels][H][W]: the lanes of the only block.
  Storage lanes(int64_t channels) const;
  bool operator==(const Storage &other) const {
    return base == other.base && offset == other.offset && type() == other.type();
  }
  /// Returns the elements in row-major order with another shape, where strides can express that.
  std::optional<Storage> reshaped(llvm::ArrayRef<int64_t> to) const;
};

/// Returns whether the halo of `storage` suffices for a tensor of `type`.
bool hasHaloFor(const Storage &storage, mlir::RankedTensorType type);

/// The functions below ignore halos.

/// Returns the view of a tensor stored as `from` in another layout, where that is the same memory.
std::optional<Storage> relayoutView(const Storage &from, mlir::RankedTensorType fromType,
                                    mlir::RankedTensorType toType);

/// Returns the elements that `slice` takes of its source, where strides can express that.
std::optional<Storage> sliceView(const Storage &source, graph::SliceOp slice);

/// Returns where each operand of a concatenation begins on its axis.
llvm::SmallVector<int64_t> concatStarts(graph::ConcatOp concat);

/// Returns the storage of operand `index`, which begins at `start` of the axis, in the result of
/// `concat`; nothing when its channels do not start at a block boundary.
std::optional<Storage> concatView(const Storage &result, graph::ConcatOp concat, unsigned index,
                                  int64_t start);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_STORAGE_H
