//===-- Epilogue.h - bias, residual and activation of a convolution -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_EPILOGUE_H
#define OPENATC_PASSES_CPU_TILES_EPILOGUE_H

#include "passes/cpu/tiles/RegisterTile.h"

namespace atc::cpu {

/// Flat views of the buffers that an epilogue reads; null where there is none.
struct EpilogueBuffers {
  mlir::Value bias, residual, slope;
  graph::ActivationAttr activation;
  bool residualLast = false;
};

/// Returns views of the epilogue operands of `op` (a conv2d or depthwise_conv2d).
template <typename ConvOp> EpilogueBuffers epilogueOf(KernelBuilder &b, ConvOp op) {
  auto flat = [&](mlir::Value buffer) { return buffer ? b.flat(buffer) : mlir::Value(); };
  return {flat(op.getBias()), flat(op.getResidual()), flat(op.getSlope()),
          op.getActivation().value_or(graph::ActivationAttr()), op.getResidualLast()};
}

/// The location of a tile: its first channel, and the residual's address per pixel in elements.
struct EpilogueAt {
  Address channel;
  llvm::SmallVector<Address> residual;
  int64_t residualBlockStride = 0;
  int64_t lastBlockWidth = 0; ///< columns of the residual's last block; 0: all
};

/// Initializes the accumulators with the bias and a residual that the activation covers. The
/// residual is read here and not at the end because the accumulators may be spilled to the output,
/// whose memory the residual may share.
void startSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
              const EpilogueAt &at, int64_t width);

/// Finishes the accumulators: activation, then a residual that comes last.
void finishSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
               const EpilogueAt &at, int64_t width);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_EPILOGUE_H
