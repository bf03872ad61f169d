//===-- HalfTiles.cpp - the sizes of a contraction in f16 -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/expand/HalfTiles.h"

#include "passes/cpu/tiles/KernelBuilder.h"

using namespace mlir;

namespace atc::cpu {

static HalfChunk chunkOf(HalfConv2DOp op) {
  ArrayRef<int64_t> filter = shapeOf(op.getFilter());
  return {filter[1], filter[2], filter[3], filter[4]};
}

HalfTiles::HalfTiles(HalfConv2DOp op, TileAttr tile) : chunk(chunkOf(op)) {
  constexpr int64_t kLine = 16, kPage = 512;
  ArrayRef<int64_t> in = shapeOf(op.getInput()), filter = shapeOf(op.getFilter());
  blocks = in[1];
  columns = in[3];
  const int64_t outRows = tile.getFlatten() ? shapeOf(op.getOutput())[2]
                                            : std::min(tile.getRows(), shapeOf(op.getOutput())[2]);
  rows = (outRows - 1) * op.getStrides()[0] + (filter[2] - 1) * op.getDilations()[0] + 1;
  // A line more, so that the pixels of a tile are not in one set of a cache.
  pixelStride = filter[4] + (filter[4] % kPage == 0 ? kLine : 0);
}

int64_t HalfTiles::scratchElements(TileAttr tile) const {
  constexpr int64_t kWidth = 16;
  return inputElements() + tile.getPixels() * tile.getBlocks() * kWidth;
}

} // namespace atc::cpu
