//===-- Epilogue.h - what a convolution adds to its sum -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_EPILOGUE_H
#define OPENATC_PASSES_CPU_TILES_EPILOGUE_H

#include "passes/cpu/tiles/RegisterTile.h"

namespace atc::cpu {

/// Flat views of the buffers an epilogue reads; null where there is none.
struct EpilogueBuffers {
  mlir::Value bias, residual, slope;
  graph::ActivationAttr activation;
  bool residualLast = false;
};

/// Views of the epilogue operands of `op` (a conv2d or depthwise_conv2d).
template <typename ConvOp> EpilogueBuffers epilogueOf(KernelBuilder &b, ConvOp op) {
  auto flat = [&](mlir::Value buffer) { return buffer ? b.flat(buffer) : mlir::Value(); };
  return {flat(op.getBias()), flat(op.getResidual()), flat(op.getSlope()),
          op.getActivation().value_or(graph::ActivationAttr()), op.getResidualLast()};
}

/// Where a tile's numbers are: its first channel, and each pixel's residual.
struct EpilogueAt {
  Address channel;
  llvm::SmallVector<Address> residual;
  int64_t residualBlockStride = 0;
};

/// The accumulators before the sum: bias and a residual that the activation
/// covers. The residual is read here and not at the end because the sum may
/// rest in the output, whose memory the residual may share.
void startSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
              const EpilogueAt &at, int64_t width);

/// What follows the sum: activation, then a residual that comes last.
void finishSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
               const EpilogueAt &at, int64_t width);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_EPILOGUE_H
