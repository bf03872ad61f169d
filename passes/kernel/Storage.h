//===-- Storage.h - where a tensor lies -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_STORAGE_H
#define OPENATC_PASSES_KERNEL_STORAGE_H

#include "mlir/IR/BuiltinTypes.h"
#include "passes/kernel/Layouts.h"

namespace atc::kernel {

/// A tensor's place: part of the memory of `base`, in elements of it. `base` is
/// a graph value that has memory of its own, or a buffer made while lowering.
struct Storage {
  mlir::Value base;
  mlir::Type element;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;
  /// Zeros, or `haloFill`, that stand around dims 2 and 3.
  Halo halo{};
  int64_t haloFill = 0;

  /// All of a row-major buffer.
  static Storage whole(mlir::Value base, mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// What is left of [N][CB][H][W][b] when its halo is taken off.
  Storage inside(Halo border) const;

  int64_t rank() const { return shape.size(); }
  bool isContiguous() const;
  /// The memref type of a view, with the strides of dims of size 1 as if they
  /// were contiguous, so that equal views have equal types.
  mlir::MemRefType type() const;

  /// `size` elements of one dim: start, start + step, ...
  Storage slice(int64_t dim, int64_t start, int64_t size, int64_t step = 1) const;
  /// Result dim i is dim order[i].
  Storage permuted(llvm::ArrayRef<int64_t> order) const;
  /// A new dim of one element before `dim`, or with `stride` of `size`.
  Storage withDim(int64_t dim, int64_t size = 1, int64_t stride = 0) const;
  /// Dim `dim` cut into `size / inner` x `inner`.
  Storage split(int64_t dim, int64_t inner) const;
  /// [N][1][H][W][b] as [N][channels][H][W]: the lanes of the only block.
  Storage lanes(int64_t channels) const;
  bool operator==(const Storage &other) const {
    return base == other.base && offset == other.offset && type() == other.type();
  }
  /// The same elements in row-major order under another shape, where strides
  /// can say so.
  std::optional<Storage> reshaped(llvm::ArrayRef<int64_t> to) const;
};

/// Whether the zeros around `storage` are enough for a tensor of `type`.
bool hasHaloFor(const Storage &storage, mlir::RankedTensorType type);

/// The functions below do not look at halos.

/// The tensor stored as `from` seen in the storage of another relayout, where
/// that is the same memory.
std::optional<Storage> relayoutView(const Storage &from, mlir::RankedTensorType fromType,
                                    mlir::RankedTensorType toType);

/// The elements that `slice` takes of its source, where strides can say so.
std::optional<Storage> sliceView(const Storage &source, graph::SliceOp slice);

/// The place of part `index` in the result of `concat`; nothing when its
/// channels do not start a block.
std::optional<Storage> concatView(const Storage &result, graph::ConcatOp concat, unsigned index);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_STORAGE_H
