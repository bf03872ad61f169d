//===-- TileNest.h - the loops around the boxes in ub ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the vector queue process boxes of elements. An axis is divided into steps of `tile`
// positions; cores share the steps of up to three axes, loops iterate over those of a core.
// Positions of a core or loop beyond the end are clamped away by the ranges of the instructions.

#ifndef OPENATC_PASSES_NPU_VECTOR_TILENEST_H
#define OPENATC_PASSES_NPU_VECTOR_TILENEST_H

#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// An axis of a nest.
struct Axis {
  int64_t size = 1;
  int64_t tile = 1;
  int64_t cores = 1;
  /// Nothing clamps positions beyond the end: all cores have the same number of steps.
  bool isExact = false;
  /// Returns the steps per core.
  int64_t trips() const { return llvm::divideCeil(llvm::divideCeil(size, tile), cores); }
};

/// Makes the axes before the last `cut` ones exact.
void makeExact(llvm::MutableArrayRef<Axis> axes, size_t cut);

/// The loops over boxes and the division among cores.
class TileNest {
public:
  /// Divides the axes among up to `cores` cores.
  TileNest(llvm::ArrayRef<Axis> axes, int64_t cores);

  llvm::ArrayRef<int64_t> grid() const { return gridSizes; }
  /// Returns an axis, outermost first.
  const Axis &axis(size_t index) const { return axes[index]; }
  size_t size() const { return axes.size(); }
  /// Returns the number of loops, which axes of one tile do not need.
  unsigned loopCount() const;
  /// Returns whether a program can have as many loops.
  bool fitsLoops() const { return loopCount() <= kMaxLoops; }

  /// Computes the start positions of cores; called once the program exists.
  void enter(ProgramWriter &writer);
  /// Writes the loops around `body`, in which the positions are those of one box.
  void loops(ProgramWriter &writer, llvm::function_ref<void()> body);

  /// Returns the first position of the box.
  const Expr &start(size_t index) const { return starts[index]; }
  /// Returns the positions of the box as a span with `unit` elements per position.
  Span span(size_t index, int64_t unit = 1) const;
  /// Returns whether the position does not change in loops.
  bool isFixed(size_t index) const { return axes[index].trips() == 1; }

private:
  void loopsFrom(ProgramWriter &writer, size_t index, llvm::function_ref<void()> body);

  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<int64_t> gridSizes;
  llvm::SmallVector<int> gridDims;
  llvm::SmallVector<Expr> starts;
};

/// The dims of a kernel with each operand's strides (in elements).
struct TileSpace {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<llvm::SmallVector<int64_t>> strides; ///< [operand][dim]

  /// Makes the dims of operands that have the rank of `shape`; a dim of 1 broadcasts.
  TileSpace(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> operands);
  TileSpace() = default;
  size_t rank() const { return sizes.size(); }
  void addDim(int64_t size, llvm::ArrayRef<int64_t> dimStrides);
  void removeDim(size_t dim);
  /// Removes dims of 1, sorts dims by the strides of operand `key` and merges dims that are
  /// contiguous in all operands.
  void normalize(size_t key);
  /// Adds leading dims of 1 until there are at least `rank`.
  void pad(size_t rank);
};

/// Chooses tiles of the three innermost axes: at most `capacity` elements per box, with runs
/// rounded up to `round` elements, and at least two boxes per core where possible. `percent` is
/// what boxPercent() returns.
void chooseTiles(llvm::MutableArrayRef<Axis> axes, int64_t capacity, int64_t cores, int64_t round,
                 int64_t lanesUnit = 128, int64_t percent = 100);

/// The size of boxes that npu-select-boxes has set on a kernel, in percent of what its expansion
/// chooses (integer).
inline constexpr llvm::StringLiteral kBoxAttr = "tuning.box";

/// Returns the size that is set on a kernel; 100 without any.
int64_t boxPercent(mlir::Operation *op);

/// Returns a number of elements, rows or planes of a box in `percent`; at least 1.
inline int64_t scaledBox(int64_t size, int64_t percent) {
  return std::max<int64_t>(1, size * percent / 100);
}

/// Returns the nest that `plan` makes for the percent set on a kernel, or for 100 where the program
/// would have too many loops.
TileNest planOfBoxes(mlir::Operation *op, llvm::function_ref<TileNest(int64_t percent)> plan);

/// Returns the bytes per element of a buffer.
int64_t elementBytes(mlir::Value memref);

/// Return whether kernels of the vector queue run on separate vector cores, and on how many cores.
inline bool onVectorCores(const SocTable &soc) { return soc.split; }
inline int64_t vectorCoreCount(const SocTable &soc) { return soc.cores(onVectorCores(soc)); }

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_TILENEST_H
