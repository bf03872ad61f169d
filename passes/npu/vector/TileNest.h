//===-- TileNest.h - the loops around what ub holds at a time ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the vector queue walk over boxes of elements. An axis is cut into
// steps of `tile` positions; cores share the steps of up to three axes, loops
// walk over those of a core. What a core or a loop has too much of is cut off by
// the ranges of the instructions.

#ifndef OPENATC_PASSES_NPU_VECTOR_TILENEST_H
#define OPENATC_PASSES_NPU_VECTOR_TILENEST_H

#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

struct Axis {
  int64_t size = 1;
  int64_t tile = 1;
  int64_t cores = 1;
  /// Nothing cuts off what is behind the end: cores have the same number of steps.
  bool isExact = false;
  /// Of one core.
  int64_t trips() const { return llvm::divideCeil(llvm::divideCeil(size, tile), cores); }
};

/// Makes the axes before the last `cut` ones exact.
void makeExact(llvm::MutableArrayRef<Axis> axes, size_t cut);

class TileNest {
public:
  /// Gives the axes their shares of the cores.
  TileNest(llvm::ArrayRef<Axis> axes, int64_t cores);

  llvm::ArrayRef<int64_t> grid() const { return gridSizes; }
  const Axis &axis(size_t index) const { return axes[index]; }
  size_t size() const { return axes.size(); }
  unsigned loopCount() const;
  bool fitsLoops() const { return loopCount() <= kMaxLoops; }

  /// Once the program is there: where its cores begin.
  void enter(ProgramWriter &writer);
  /// Writes the loops. In `body` the positions are those of one box.
  void loops(ProgramWriter &writer, llvm::function_ref<void()> body);

  /// First position of the box.
  const Expr &start(size_t index) const { return starts[index]; }
  /// The positions of the box, as spans of `unit` things for each.
  Span span(size_t index, int64_t unit = 1) const;
  /// The position does not change in loops.
  bool isFixed(size_t index) const { return axes[index].trips() == 1; }

private:
  void loopsFrom(ProgramWriter &writer, size_t index, llvm::function_ref<void()> body);

  llvm::SmallVector<Axis> axes;
  llvm::SmallVector<int64_t> gridSizes;
  llvm::SmallVector<int> gridDims;
  llvm::SmallVector<Expr> starts;
};

/// Dims of a kernel with the strides (in elements) that each operand has there.
struct TileSpace {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<llvm::SmallVector<int64_t>> strides; ///< [operand][dim]

  /// Of operands that have the rank of `shape`; a dim of 1 broadcasts.
  TileSpace(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> operands);
  TileSpace() = default;
  size_t rank() const { return sizes.size(); }
  void addDim(int64_t size, llvm::ArrayRef<int64_t> dimStrides);
  void removeDim(size_t dim);
  /// Leaves out dims of 1, puts dims into the order of the strides of operand
  /// `key` and merges those that lie behind each other in all operands.
  void normalize(size_t key);
  /// Dims in front, until there are at least `rank`.
  void pad(size_t rank);
};

/// Tiles of the three innermost axes: at most `capacity` elements in a box, runs
/// rounded up to `round` of them, and where it can be two boxes for each core.
void chooseTiles(llvm::MutableArrayRef<Axis> axes, int64_t capacity, int64_t cores, int64_t round,
                 int64_t lanesUnit = 128);

/// Bytes of an element in a buffer.
int64_t elementBytes(mlir::Value memref);

/// Cores that kernels of the vector queue run on, and whether these are cores of
/// their own.
inline bool onVectorCores(const SocTable &soc) { return soc.split; }
inline int64_t vectorCoreCount(const SocTable &soc) { return soc.cores(onVectorCores(soc)); }

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_TILENEST_H
