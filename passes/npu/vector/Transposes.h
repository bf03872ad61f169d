//===-- Transposes.h - copies that change the contiguous dim -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H
#define OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H

#include "passes/npu/vector/TileNest.h"

namespace atc::npu {

/// Writes a transposition: [rows][columns] with contiguous columns in the input becomes
/// [columns][rows] with contiguous rows in the output, inside of loops over other dims. Elements
/// have two bytes, or one: bytes are f16 in ub, where each of their values is exact. The input and
/// the output may have different numbers of rows: rows that the input lacks become 0.
class Transposition {
public:
  Transposition(const SocTable &soc, int64_t bytes) : soc(soc), bytes(bytes) {}

  /// Adds a loop; strides are in elements.
  void addLoop(int64_t size, int64_t inStride, int64_t outStride);
  /// Sets the rows, which are `inStride` apart in the input and contiguous in the output.
  void setRows(int64_t size, int64_t inStride);
  /// Sets the columns, which are contiguous in the input and `outStride` apart in the output.
  void setColumns(int64_t size, int64_t outStride);
  /// Divide the rows (columns) into groups of `size`, a dim of its own with these strides; the
  /// input has only `count` rows, the output only `count` columns.
  void groupRows(int64_t size, int64_t count, int64_t inStride, int64_t outStride);
  void groupColumns(int64_t size, int64_t count, int64_t inStride, int64_t outStride);

  /// Returns whether a program can have as many loops.
  bool fits() const { return plan().fitsLoops(); }
  /// Appends the program to the body of `function`.
  void expand(mlir::func::FuncOp function, bool vectorCore) const;

private:
  TileNest plan() const;
  /// Returns the loops, at least one.
  TileSpace padded() const;
  /// Returns the loop at whose end moves are clamped.
  size_t cutLoop() const { return group >= 0 ? size_t(group) : padded().rank() - 1; }

  SocTable soc;
  int64_t bytes;
  TileSpace loops{};
  int64_t rows = 1, rowStride = 0, columns = 1, columnStride = 0;
  /// The loop that counts groups (-1: none), their size, and the actual size of the grouped dim.
  int group = -1;
  bool groupsRows = false;
  int64_t groupSize = 0, groupCount = 0;
};

/// Returns the reason why a pack or unpack cannot become a program; empty: it can.
std::string whyUnsupportedPack(mlir::Operation *op, const SocTable &soc);
void expandPack(mlir::func::FuncOp function, mlir::Operation *op);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H
