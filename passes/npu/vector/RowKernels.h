//===-- RowKernels.h - what kernels along rows have in common ----------------===//
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
  int64_t bytes() const { return type.getIntOrFloatBitWidth() / 8; }
  VectorSource source(int64_t fromByte = 0) const { return {{buffer, fromByte}, {0, pitch}, 32}; }
};
/// The rows of an operand's box.
Rows rowsOf(const BoxOperand &operand, mlir::Type type, const BoxLayout &layout);

/// Vector instructions on rows of `length` elements, of which `rows` count.
class RowWriter {
public:
  RowWriter(ProgramWriter &writer, Span rows, int64_t length)
      : w(writer), rows(std::move(rows)), length(length) {}

  /// Rows of their own; runs begin and end on whole blocks of 16 elements.
  Rows allocate(mlir::Type type) { return allocate(type, length); }
  /// Room for what `reduce` and `reduceSquares` keep between their steps.
  Rows allocateScratch(mlir::Type type);
  /// dst = op(a, b) on all lanes of all rows. Without a `b` that repeats what lies
  /// between the rows is computed along.
  void apply(VectorOp op, const Rows &dst, const Rows &a, const Rows *b = nullptr,
             double scalar = 0);
  /// The same with a second operand of one block for each row, or one row for all.
  void applyScalars(VectorOp op, const Rows &dst, const Rows &a, mlir::Value blocks);
  void applyRow(VectorOp op, const Rows &dst, const Rows &a, mlir::Value row);
  void cast(const Rows &dst, const Rows &a);

  /// One element for each row, packed. Halves are joined while rows are long: the
  /// unit adds eight times as fast as it reduces. `scratch` may be the rows
  /// themselves if they are not needed any more.
  mlir::Value reduce(VectorOp op, const Rows &a, const Rows &scratch);
  /// The sum of the squares.
  mlir::Value reduceSquares(const Rows &a, const Rows &scratch);
  /// op on packed elements.
  void packed(VectorOp op, mlir::Value value, mlir::Type type, double scalar = 0);
  /// Packed elements in another type.
  mlir::Value converted(mlir::Value packed, mlir::Type from, mlir::Type to);
  /// A block of 32 bytes for each packed element.
  mlir::Value blocks(mlir::Value packed, mlir::Type type);

private:
  /// Rows from a byte of theirs on.
  struct Part {
    const Rows &rows;
    int64_t fromByte = 0;
  };
  Rows allocate(mlir::Type type, int64_t elements);
  void lanes(VectorOp op, Part dst, Part a, std::optional<Part> b, int64_t count);
  /// The lanes that halves of `left` lanes have.
  static int64_t half(int64_t left, int64_t unit) {
    return llvm::alignTo(llvm::divideCeil(left, 2), unit);
  }
  mlir::Value reduceInPlace(VectorOp op, const Rows &rows, int64_t left);
  Span all(int64_t rowElements) const;

  ProgramWriter &w;
  Span rows;
  int64_t length;
};

/// Kernels along the last of a nest's three axes, whose rows fit in ub whole.
struct RowNest {
  /// `operands` have the rank of `shape`; the axis is `axis`. The last one is the
  /// output.
  RowNest(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> operands, int64_t axis);

  /// `resident` bytes of ub for each element of one row, outside of the loops.
  std::string whyUnsupported(const SocTable &soc, int64_t bytesPerElement,
                             int64_t resident = 0) const;
  TileNest plan(const SocTable &soc, int64_t bytesPerElement, int64_t resident = 0) const;

  TileSpace space; ///< without the axis
  int64_t length;
  llvm::SmallVector<int64_t> along; ///< strides along the axis
  BoxOperand operand(unsigned index, mlir::Type element) const;
};

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_ROWKERNELS_H
