//===-- VectorCode.h - scalar code as vector instructions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of kernel.map and activations of contractions are handled alike: arith and math ops on
// scalars are computed for a box of elements in ub, one instruction per op.

#ifndef OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H
#define OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H

#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// An operand of elementwise code in ub, `offset` bytes from the start of `buffer`. A run consists
/// of blocks of 32 bytes, `block` apart: 32, or 0 to repeat its first 32 bytes.
struct VectorOperand {
  mlir::Value buffer;
  Expr offset;
  mlir::Type type;
  Steps steps;
  int64_t block = 32;
  /// Returns the operand as an instruction reads it.
  VectorSource source() const { return {BufferAddress(buffer, offset), steps, block}; }
};

struct VectorShape {
  Span outer, inner, lanes;
};

/// Returns the reason why the vector unit cannot compute the scalar ops of `body` (arith and math
/// on f32 and f16, ending in a kernel.yield); empty: it can.
std::string whyUnsupportedScalarCode(mlir::Block &body);

/// Returns which inputs the code for `body` reads: not those of which nothing depends, such as the
/// base of a power with the exponent 0.
llvm::SmallVector<bool> readInputs(mlir::Block &body);

/// Returns the bytes of ub that emitScalarCode uses for temporaries, for `elements` elements in all
/// with runs rounded up to 16 elements.
int64_t scratchBytes(mlir::Block &body, int64_t elements);

/// Returns the approximate cycles per element on a unit that processes 256 bytes per cycle.
double vectorCyclesPerElement(mlir::Block &body);

/// Computes `body` for all elements of `shape`; block argument i is inputs[i]. Temporaries are
/// dense buffers of its own. The output may be one of the inputs.
void emitScalarCode(ProgramWriter &writer, mlir::Block &body, llvm::ArrayRef<VectorOperand> inputs,
                    const VectorOperand &output, const VectorShape &shape);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_VECTOR_VECTORCODE_H
