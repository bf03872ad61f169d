//===-- Transposes.h - copies that change the contiguous dim -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H
#define OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H

#include "passes/npu/vector/TileNest.h"

namespace atc::npu {

/// [rows][columns] with contiguous columns in the input becomes [columns][rows]
/// with contiguous rows in the output, inside of loops over other dims. Elements
/// have two bytes. Rows of the input and the output may count fewer than are
/// there in the other: rows that the input lacks become 0.
class Transposition {
public:
  Transposition(const SocTable &soc, int64_t bytes) : soc(soc), bytes(bytes) {}

  /// Strides in elements.
  void addLoop(int64_t size, int64_t inStride, int64_t outStride);
  /// Rows of the input, `inStride` apart; in the output they are contiguous.
  void setRows(int64_t size, int64_t inStride);
  /// Contiguous in the input, `outStride` apart in the output.
  void setColumns(int64_t size, int64_t outStride);
  /// Rows (columns) come in groups of 16, a dim of its own with these strides;
  /// the input has only `count` rows, the output only `count` columns.
  void groupRows(int64_t count, int64_t inStride, int64_t outStride);
  void groupColumns(int64_t count, int64_t inStride, int64_t outStride);

  bool fits() const { return plan().fitsLoops(); }
  void expand(mlir::func::FuncOp function, bool vectorCore) const;

private:
  TileNest plan() const;
  /// The loops, one at least.
  TileSpace padded() const;
  /// The loop that moves cut off at its end.
  size_t cutLoop() const { return group >= 0 ? size_t(group) : padded().rank() - 1; }

  SocTable soc;
  int64_t bytes;
  TileSpace loops{};
  int64_t rows = 1, rowStride = 0, columns = 1, columnStride = 0;
  /// The loop that counts groups, and what is there of the grouped dim.
  int group = -1;
  bool groupsRows = false;
  int64_t groupCount = 0;
};

std::string whyUnsupportedPack(mlir::Operation *op, const SocTable &soc);
void expandPack(mlir::func::FuncOp function, mlir::Operation *op);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_TRANSPOSES_H
