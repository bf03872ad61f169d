//===-- Int8Contractions.h - integer sums that the cube computes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H
#define OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H

#include "passes/kernel/LowerGraph.h"
#include "passes/npu/program/ProgramWriter.h"

namespace atc::npu {

/// What becomes of a sum: it is scaled, rounded and stored, as l0c is left, and
/// maybe read again by `rest`, which is vector code.
struct SumEpilogue {
  Requantization first;
  std::optional<unsigned> scales; ///< of the op's inputs; none: `scale`
  double scale = 1;
  std::optional<unsigned> residual; ///< of the op's inputs
  /// (f32, i8 if there is a residual) -> i8; null: the first number is the result.
  std::unique_ptr<mlir::Block> rest;
};

/// Reads the body of an integer convolution or product; nothing where the
/// instructions are not made for it.
std::optional<SumEpilogue> sumEpilogueOf(mlir::Operation *op);

/// Whether the sums of few channels are small enough to be exact in f32.
bool sumsAreExactInFloats(graph::IntegerConvOp op);

mlir::LogicalResult lowerCubeSums(kernel::GraphLowering &lowering, mlir::Operation *op);

} // namespace atc::npu

#endif // OPENATC_PASSES_NPU_SELECT_INT8CONTRACTIONS_H
