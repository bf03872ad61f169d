//===-- ExpandDepthwise.cpp - cpu.depthwise_conv2d as loops ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, channel block, rows). A register tile holds the channels of a block for several
// pixels of a row; the window is unrolled, so the filter is read once per tile.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/tiles/Epilogue.h"
#include "passes/cpu/tiles/PixelTiles.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDDEPTHWISE
#include "passes/cpu/Passes.h.inc"

namespace {

void expand(DepthwiseConv2DOp op, TileAttr tile) {
  KernelBuilder b(op);
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  SmallVector<int64_t> filterStrides = stridesOf(op.getFilter());
  int64_t width = filterShape[3];
  ArrayRef<int64_t> dilations = op.getDilations();

  Value input = b.flat(op.getInput()), filter = b.flat(op.getFilter());
  Value output = b.flat(op.getOutput());
  EpilogueBuffers epilogue = epilogueOf(b, op);
  PixelGrid in(op.getInput(), op.getStrides()), out(op.getOutput(), {1, 1});
  PixelTiling tiling(out.shape()[2], out.shape()[3], tile,
                     columnTasksOf(out.shape()[0], out.shape()[1], 1));

  // Large windows keep a loop over their rows: the code would outgrow L1i.
  bool unrollRows = filterShape[1] * filterShape[2] <= 25;
  SmallVector<SumLoop> window = {
      {filterShape[1], dilations[0] * in.stride(2), filterStrides[1], unrollRows},
      {filterShape[2], dilations[1] * in.stride(3), filterStrides[2], /*unroll=*/true}};

  SmallVector<Value, 3> task =
      tiling.beginTasks(b, out.shape()[0], out.shape()[1], out.shape()[1] * width);
  Value image = task[0], block = task[1];
  auto planeOf = [&](const PixelGrid &grid) {
    return b.mulAdd(image, grid.stride(0), b.mul(block, grid.stride(1)));
  };
  tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
    RegisterTile acc(b, pixels.count, /*blocks=*/1, width);
    EpilogueAt at{{b.mul(block, width)}, {}, 0};
    if (epilogue.residual) {
      PixelGrid residual(op.getResidual(), {1, 1});
      at.residual = residual.addresses(b, pixels, planeOf(residual));
    }
    startSum(b, acc, epilogue, at, width);
    acc.multiply(input, in.addresses(b, pixels, planeOf(in)), filter,
                 {b.mul(block, filterStrides[0])}, window);
    finishSum(b, acc, epilogue, at, width);
    acc.store(output, out.addresses(b, pixels, planeOf(out)), /*blockStride=*/0);
  });
  op.erase();
}

struct CpuExpandDepthwisePass : impl::CpuExpandDepthwiseBase<CpuExpandDepthwisePass> {
  void runOnOperation() override {
    getOperation().walk([&](DepthwiseConv2DOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile) {
        op.emitOpError("needs a tile; run cpu-select-tiles first");
        return signalPassFailure();
      }
      expand(op, tile);
    });
  }
};

} // namespace
} // namespace atc::cpu
