//===-- BoxOperand.h - operands in ub, box by box -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H
#define OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H

#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorCode.h"

namespace atc::npu {

/// The layout of boxes in ub: runs along the last axis of a nest with `unit` elements per position,
/// rounded up to `round` elements.
struct BoxLayout {
  const TileNest &nest;
  int64_t unit = 1, round = 16;

  /// Return the indices of the box's axes: its rows, the runs in a row, the elements in a run.
  size_t outer() const { return nest.size() - 3; }
  size_t inner() const { return nest.size() - 2; }
  size_t lanes() const { return nest.size() - 1; }
  /// Returns the elements of a row in local memory, with its padding.
  int64_t rowElements() const { return llvm::alignTo(nest.axis(lanes()).tile * unit, round); }
  /// Returns the number of elements of a box, including padding.
  int64_t elements() const {
    return nest.axis(outer()).tile * nest.axis(inner()).tile * rowElements();
  }
  VectorShape shape() const {
    return {nest.span(outer()), nest.span(inner()), nest.span(lanes(), unit)};
  }
};

/// The operand's elements along the lanes: one per lane, a period of `unit` elements, or a single
/// one.
enum class LaneKind { Full, Periodic, Scalar };

/// An operand of a kernel and its buffer in ub.
class BoxOperand {
public:
  /// `strides` (in elements) are those along the nest's axes.
  BoxOperand(mlir::Type element, llvm::ArrayRef<int64_t> strides, LaneKind kind)
      : element(element), strides(strides), kind(kind) {}

  /// Returns the reason why such an operand cannot be read; empty: it can.
  std::string whyUnsupported() const;
  /// Returns the maximum number of bytes of ub per element of a box.
  int64_t bytesPerElement() const;
  /// Returns whether its part of the box is the same in all iterations of the loops.
  bool isResident(const TileNest &nest) const;
  bool isFull() const;
  /// Returns whether it is a bool that is repeated along the lanes. In ub it is 0 or 1 in f16.
  bool isScalarBool() const { return kind == LaneKind::Scalar && element.isInteger(1); }

  /// Allocates its buffer and loads it from gm: per box, or once outside of the loops for a
  /// resident operand.
  void load(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);
  /// Allocates its buffer only.
  void allocate(ProgramWriter &writer, const BoxLayout &layout);
  /// Stores the box to gm.
  void store(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);

  /// Uses an operand that is in ub already.
  void use(const VectorOperand &known) { inUb = known; }

  const VectorOperand &operand() const { return inUb; }

private:
  int64_t bytes() const { return (element.getIntOrFloatBitWidth() + 7) / 8; }
  Expr addressIn(const TileNest &nest) const;
  void loadScalars(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);
  mlir::Value asHalf(ProgramWriter &writer, mlir::Value packed, int64_t rowBytes, const Span &rows,
                     const Span &run);
  void loadPeriod(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);

  mlir::Type element;
  llvm::SmallVector<int64_t> strides;
  LaneKind kind;
  VectorOperand inUb;
};

/// Merges the inner dim into the lanes where runs of all operands are contiguous in ub: longer runs
/// leave fewer lanes of an instruction unused.
void flatten(llvm::MutableArrayRef<VectorOperand> operands, VectorShape &shape,
             const BoxLayout &layout);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H
