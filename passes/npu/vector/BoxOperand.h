//===-- BoxOperand.h - operands of a kernel in ub, a box at a time -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H
#define OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H

#include "passes/npu/vector/TileNest.h"
#include "passes/npu/vector/VectorCode.h"

namespace atc::npu {

/// How boxes lie in ub: runs along the last axis of a nest, `unit` elements for
/// each of its positions, rounded up to `round` elements.
struct BoxLayout {
  const TileNest &nest;
  int64_t unit = 1, round = 16;

  size_t outer() const { return nest.size() - 3; }
  size_t inner() const { return nest.size() - 2; }
  size_t lanes() const { return nest.size() - 1; }
  int64_t rowElements() const { return llvm::alignTo(nest.axis(lanes()).tile * unit, round); }
  /// Elements of a box, dense.
  int64_t elements() const {
    return nest.axis(outer()).tile * nest.axis(inner()).tile * rowElements();
  }
  VectorShape shape() const {
    return {nest.span(outer()), nest.span(inner()), nest.span(lanes(), unit)};
  }
};

/// Along the lanes an operand has an element for each, the same `unit` elements
/// again and again, or one element.
enum class LaneKind { Full, Periodic, Scalar };

class BoxOperand {
public:
  /// `strides` (in elements) of the nest's axes.
  BoxOperand(mlir::Type element, llvm::ArrayRef<int64_t> strides, LaneKind kind)
      : element(element), strides(strides), kind(kind) {}

  /// Why such an operand cannot be read; empty: it can.
  std::string whyUnsupported() const;
  /// Bytes of ub for each element of a box, as many at most.
  int64_t bytesPerElement() const;
  /// Its part of the box changes in the loops.
  bool isResident(const TileNest &nest) const;
  bool isFull() const;

  /// Makes its buffer and brings it from gm: all positions of the box, or
  /// (resident) outside of the loops.
  void load(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);
  /// Makes a buffer only.
  void allocate(ProgramWriter &writer, const BoxLayout &layout);
  void store(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);

  /// What lies in ub already.
  void use(const VectorOperand &known) { inUb = known; }

  const VectorOperand &operand() const { return inUb; }

private:
  int64_t bytes() const { return (element.getIntOrFloatBitWidth() + 7) / 8; }
  Expr addressIn(const TileNest &nest) const;
  void loadScalars(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);
  void loadPeriod(ProgramWriter &writer, mlir::Value gm, const BoxLayout &layout);

  mlir::Type element;
  llvm::SmallVector<int64_t> strides;
  LaneKind kind;
  VectorOperand inUb;
};

/// Takes the inner dim into the lanes where runs of all operands lie behind each
/// other in ub: longer runs leave less of an instruction's repeats unused.
void flatten(llvm::MutableArrayRef<VectorOperand> operands, VectorShape &shape,
             const BoxLayout &layout);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_BOXOPERAND_H
