//===-- LoopNest.h - tasks and loops over the positions of buffers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_LOOPNEST_H
#define OPENATC_PASSES_CPU_TILES_LOOPNEST_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// The positions at which several buffers are visited together: the sizes of the dims and, per
/// buffer, its element strides along them (0: the buffer does not move).
struct Space {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<llvm::SmallVector<int64_t>> strides;

  Space() = default;
  /// Makes the dims of `shape` for buffers that have this shape or size 1 in broadcast dims.
  Space(llvm::ArrayRef<int64_t> shape, mlir::ValueRange buffers);

  size_t rank() const { return sizes.size(); }
  /// Returns the number of elements.
  int64_t volume() const;
  /// Appends the innermost dim, with one stride in elements per buffer.
  void addDim(int64_t size, llvm::ArrayRef<int64_t> dimStrides);
  /// Removes dim `dim` and returns its size and strides as a space of rank 1.
  Space takeDim(size_t dim);

  /// Orders the dims by descending stride of buffer `key`, drops those of size 1 and merges dims
  /// that are contiguous in every buffer. At least one dim remains.
  void normalize(unsigned key);
};

/// The part of a dim that a loop covers: all of it or, with `begin`, the `step` positions from
/// there on that are below `size`.
struct Range {
  int64_t size = 1;
  mlir::Value begin = {};
  int64_t step = 0;
};

/// The vectors per step of a loop and the elements per vector.
struct Lanes {
  int64_t width = 1;
  int64_t unroll = 1;
  /// Returns the elements per step.
  int64_t group() const { return width * unroll; }
};

/// Divides a space into tasks that move some tens of kilobytes each, opens the loop over the
/// kernel's tasks and returns the range of every dim that the current task covers. `multiples` (one
/// per dim, or none) keeps boundaries at multiples.
llvm::SmallVector<Range> beginTasks(KernelBuilder &b, llvm::ArrayRef<int64_t> sizes,
                                    int64_t bytesPerPosition,
                                    llvm::ArrayRef<int64_t> multiples = {});

/// Builds a loop over every position of a range.
void forEach(KernelBuilder &b, const Range &range, llvm::function_ref<void(mlir::Value)> body);

/// Builds loops over the vectors of a range in groups. `body` receives the first position of a
/// group and the number of elements of each of its vectors; only the last vector of a range can be
/// partial.
using VectorsFn = llvm::function_ref<void(mlir::Value, llvm::ArrayRef<int64_t>)>;
void forEachVectors(KernelBuilder &b, const Range &range, Lanes lanes, VectorsFn body);
/// Builds such loops over a whole dim with values carried from group to group.
using CarryFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value, llvm::ArrayRef<int64_t>, mlir::ValueRange)>;
llvm::SmallVector<mlir::Value> forEachVectors(KernelBuilder &b, int64_t size, Lanes lanes,
                                              mlir::ValueRange carried, CarryFn body);

/// Builds loops over all rows (the last dim) of the part `ranges` of a space; `body` receives the
/// buffers' offsets at the start of the row.
using RowFn = llvm::function_ref<void(llvm::ArrayRef<mlir::Value>, const Range &)>;
void forEachRow(KernelBuilder &b, const Space &space, llvm::ArrayRef<Range> ranges,
                llvm::ArrayRef<mlir::Value> offsets, RowFn body);
/// Builds loops over all rows of a space, divided into tasks.
void forEachRow(KernelBuilder &b, const Space &space, int64_t bytesPerPosition, Lanes lanes,
                RowFn body);

/// Builds loops over all positions of a space with carried values; `body` receives the offsets.
using PositionFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>,
                                                                     mlir::ValueRange)>;
llvm::SmallVector<mlir::Value> forEachPosition(KernelBuilder &b, const Space &space,
                                               llvm::ArrayRef<mlir::Value> offsets,
                                               mlir::ValueRange carried, PositionFn body);

/// Returns the offsets advanced by `position` along dim `dim`.
llvm::SmallVector<mlir::Value> advance(KernelBuilder &b, const Space &space, size_t dim,
                                       mlir::Value position, llvm::ArrayRef<mlir::Value> offsets);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_LOOPNEST_H
