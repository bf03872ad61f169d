//===-- Epilogue.cpp - what follows the sum of a convolution --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/Epilogue.h"

#include "dialects/graph/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace atc::cpu {

void applyEpilogue(KernelBuilder &b, RegisterTile &tile, const EpilogueBuffers &buffers,
                   ArrayRef<Address> residual, int64_t residualBlockStride, Address channel,
                   int64_t width) {
  int64_t lanes = tile.vectorType().getNumElements();
  tile.map([&](Value x, int64_t p, int64_t j, int64_t v) -> Value {
    Value addend;
    if (buffers.residual)
      addend = tile.loadVector(buffers.residual,
                               residual[p] + (j * residualBlockStride + v * lanes));
    if (addend && !buffers.residualLast)
      x = arith::AddFOp::create(b, x, addend);
    if (buffers.activation) {
      Value slope;
      if (buffers.slope)
        slope = tile.loadVector(buffers.slope, channel + (j * width + v * lanes));
      x = graph::buildActivation(b, b.getLoc(), buffers.activation, x, slope);
    }
    if (addend && buffers.residualLast)
      x = arith::AddFOp::create(b, x, addend);
    return x;
  });
}

} // namespace atc::cpu
