//===-- Epilogue.cpp - bias, residual and activation of a convolution -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/Epilogue.h"

#include "dialects/graph/scalar/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace atc::cpu {

static void addResidual(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
                        const EpilogueAt &at) {
  int64_t lanes = tile.vectorType().getNumElements();
  tile.map([&](Value x, int64_t p, int64_t j, int64_t v) -> Value {
    Value addend =
        tile.loadVector(buffers.residual, at.residual[p] + (j * at.residualBlockStride + v * lanes),
                        tile.validLanes(j, v, at.lastBlockWidth));
    return arith::AddFOp::create(b, x, addend);
  });
}

void startSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
              const EpilogueAt &at, int64_t width) {
  if (buffers.bias)
    tile.broadcast(buffers.bias, at.channel, width);
  else
    tile.zero();
  if (buffers.residual && !buffers.residualLast)
    addResidual(b, tile, buffers, at);
}

void finishSum(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
               const EpilogueAt &at, int64_t width) {
  int64_t lanes = tile.vectorType().getNumElements();
  if (buffers.activation)
    tile.map([&](Value x, int64_t, int64_t j, int64_t v) {
      Value slope;
      if (buffers.slope)
        slope = tile.loadVector(buffers.slope, at.channel + (j * width + v * lanes));
      return graph::buildActivation(b, b.getLoc(), buffers.activation, x, slope);
    });
  if (buffers.residual && buffers.residualLast)
    addResidual(b, tile, buffers, at);
}

} // namespace atc::cpu
