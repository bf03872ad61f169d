//===-- RowKernels.h - shared by the kernels along rows ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_ROWKERNELS_H
#define OPENATC_PASSES_NPU_VECTOR_ROWKERNELS_H

#include "passes/npu/vector/BoxOperand.h"

namespace atc::npu {

/// Rows in ub, `pitch` bytes apart.
struct Rows {
  mlir::Value buffer;
  mlir::Type type;
  int64_t pitch = 0;
  /// Returns the bytes per element.
  int64_t bytes() const { return type.getIntOrFloatBitWidth() / 8; }
  /// Returns the rows as an operand of the vector queue, from byte `fromByte` of each.
  VectorSource source(int64_t fromByte = 0) const { return {{buffer, fromByte}, {0, pitch}, 32}; }
};
/// Returns the rows of an operand's box.
Rows rowsOf(const BoxOperand &operand, mlir::Type type, const BoxLayout &layout);

/// Writes vector instructions on rows of `length` elements; `rows` is their range.
class RowWriter {
public:
  RowWriter(ProgramWriter &writer, Span rows, int64_t length)
      : w(writer), rows(std::move(rows)), length(length) {}

  /// Allocates rows; runs begin and end at blocks of 16 elements.
  Rows allocate(mlir::Type type) { return allocate(type, length); }
  /// Allocates scratch memory for `reduce` and `reduceSquares`.
  Rows allocateScratch(mlir::Type type);
  /// Writes dst = op(a, b) on all lanes of all rows. Without a `b` that repeats, the padding
  /// between the rows is computed too.
  void apply(VectorOp op, const Rows &dst, const Rows &a, const Rows *b = nullptr,
             double scalar = 0);
  /// Write dst = op(a, b) with a second operand of one block per row, or one row for all.
  void applyScalars(VectorOp op, const Rows &dst, const Rows &a, mlir::Value blocks);
  void applyRow(VectorOp op, const Rows &dst, const Rows &a, mlir::Value row);
  void cast(const Rows &dst, const Rows &a);

  /// Reduces each row to one element, packed. Halves are combined while rows are long: the unit
  /// adds eight times as fast as it reduces. `scratch` may be the rows themselves if they are not
  /// needed any more.
  mlir::Value reduce(VectorOp op, const Rows &a, const Rows &scratch);
  /// Returns the sum of squares of each row, packed.
  mlir::Value reduceSquares(const Rows &a, const Rows &scratch);
  /// Applies op to packed elements in place.
  void packed(VectorOp op, mlir::Value value, mlir::Type type, double scalar = 0);
  /// Returns packed elements converted to another type.
  mlir::Value converted(mlir::Value packed, mlir::Type from, mlir::Type to);
  /// Returns a block of 32 bytes per packed element.
  mlir::Value blocks(mlir::Value packed, mlir::Type type);

private:
  /// The rows from a byte offset on.
  struct Part {
    const Rows &rows;
    int64_t fromByte = 0;
  };
  Rows allocate(mlir::Type type, int64_t elements);
  void lanes(VectorOp op, Part dst, Part a, std::optional<Part> b, int64_t count);
  /// Returns the number of lanes of a half of `left` lanes.
  static int64_t half(int64_t left, int64_t unit) {
    return llvm::alignTo(llvm::divideCeil(left, 2), unit);
  }
  mlir::Value reduceInPlace(VectorOp op, const Rows &rows, int64_t left);
  Span all(int64_t rowElements) const;

  ProgramWriter &w;
  Span rows;
  int64_t length;
};

/// A kernel along the last of a nest's three axes whose rows fit in ub as a whole.
struct RowNest {
  /// Analyzes the operands, which have the rank of `shape`; rows lie along `axis`. The last operand
  /// is the output.
  RowNest(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> operands, int64_t axis);

  /// Returns the reason why ub is too small; empty: it is not. `resident` counts bytes per element
  /// of one row, outside of the loops.
  std::string whyUnsupported(const SocTable &soc, int64_t bytesPerElement,
                             int64_t resident = 0) const;
  /// Returns the loops, with tiles that fit ub. `percent` is what boxPercent() returns.
  TileNest plan(const SocTable &soc, int64_t bytesPerElement, int64_t resident = 0,
                int64_t percent = 100) const;

  TileSpace space; ///< without the axis
  int64_t length;
  llvm::SmallVector<int64_t> along; ///< strides along the axis
  /// Returns operand `index` with elements of `element`.
  BoxOperand operand(unsigned index, mlir::Type element) const;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_ROWKERNELS_H
