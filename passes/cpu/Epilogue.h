//===-- Epilogue.h - what follows the sum of a convolution ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_EPILOGUE_H
#define OPENATC_PASSES_CPU_EPILOGUE_H

#include "passes/cpu/RegisterTile.h"

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

/// Residual and activation on a finished tile. `residual` has an address a
/// pixel, `channel` is the tile's first channel.
void applyEpilogue(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
                   llvm::ArrayRef<Address> residual, int64_t residualBlockStride, Address channel,
                   int64_t width);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EPILOGUE_H
