//===-- VectorCode.h - scalar code as vector instructions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of kernel.map and activations of contractions are the same thing to the
// vector unit: arith and math ops on scalars, computed for a box of elements in
// ub, one instruction for each op.

#ifndef OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H
#define OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H

#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// An operand of elementwise code in ub: `offset` bytes from the begin of
/// `buffer` lies the first element. A run is blocks of 32 bytes, `block` apart:
/// 32, or 0 to repeat its first 32 bytes.
struct VectorOperand {
  mlir::Value buffer;
  Expr offset;
  mlir::Type type;
  Steps steps;
  int64_t block = 32;
  VectorSource source() const { return {Place(buffer, offset), steps, block}; }
};

struct VectorShape {
  Span outer, inner, lanes;
};

/// Why the vector unit cannot compute the scalar ops of `body` (arith and math
/// on f32 and f16, ending in a kernel.yield); empty: it can.
std::string whyUnsupportedScalarCode(mlir::Block &body);

/// Bytes of ub that emitScalarCode takes for temporaries, for `elements`
/// elements in all with runs rounded up to 16 of them.
int64_t scratchBytes(mlir::Block &body, int64_t elements);

/// Cycles that the vector unit takes for an element, roughly, of a unit that
/// does 256 bytes a cycle.
double vectorCyclesPerElement(mlir::Block &body);

/// Computes `body` for all elements of `shape`; block argument i is inputs[i].
/// Temporaries are buffers of its own, dense. The output may be one of the
/// inputs.
void emitScalarCode(ProgramWriter &writer, mlir::Block &body, llvm::ArrayRef<VectorOperand> inputs,
                    const VectorOperand &output, const VectorShape &shape);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H
