//===-- ExpandIntegerConv.cpp - integer convolutions as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for blocks of channels
//     for pixel tiles          32-bit sums in registers
//       for groups of steps    four bytes of each pixel, spread over all lanes,
//                              by four weights of each channel
//       epilogue               one body for the pixel's 16 channels
//
// Steps say where their bytes are, so there is one loop for any window, stride,
// dilation and grouping.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/IntegerDot.h"
#include "passes/cpu/IntegerTile.h"
#include "passes/cpu/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDINTEGERCONV
#include "passes/cpu/Passes.h.inc"

namespace {

class IntegerConvExpander {
public:
  IntegerConvExpander(IntegerConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), in(op.getInput(), op.getStrides()),
        steps(shapeOf(op.getFilter())[1]) {}

  void run() {
    input = b.flat(op.getInput());
    filter = b.flat(op.getFilter());
    table = b.flat(op.getSteps());
    bias = b.flat(op.getBias());
    IntegerEpilogue epilogue(b, op);
    ArrayRef<int64_t> out = epilogue.grid().shape();
    int64_t groups = std::min(tile.getGroups(), out[1]);
    PixelTiling tiling(out[2], out[3], tile);
    SmallVector<Value> task =
        b.beginTasks({out[0], int64_t(llvm::divideCeil(out[1], groups)), tiling.tasks()});
    Value firstBlock = b.mul(task[1], groups), endBlock = b.add(firstBlock, groups);
    if (out[1] % groups)
      endBlock = arith::MinUIOp::create(b, endBlock, b.index(out[1]));
    b.loop(firstBlock, endBlock, 1, [&](Value block) {
      tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
        IntegerTile sums(b, pixels.count);
        sums.start(bias, b.mul(block, kSumBlock));
        int64_t together = vectorsTakeTurns(op, b.level()) ? 1 : sums.vectors();
        for (int64_t v = 0; v < sums.vectors(); v += together)
          addSteps(sums, v, together, pixels, task[0], block);
        epilogue.finish(sums, pixels, task[0], block);
      });
    });
    op.erase();
  }

private:
  /// Adds the window to `count` vectors of each pixel, from `first` on.
  void addSteps(IntegerTile &sums, int64_t first, int64_t count, const PixelTile &pixels,
                Value image, Value block) {
    int64_t group = op.getGroup(), stepBytes = kSumBlock * 4;
    SmallVector<Address> at = in.addresses(b, pixels, b.mul(image, in.stride(0)));
    Value firstStep = b.mul(block, steps);
    ByteDot dot(b, sums.lanes(), op.getByMagnitude(), op.getSignedInput());
    SmallVector<Value> parts;
    for (int64_t p = 0; p < sums.pixels(); ++p)
      for (int64_t v = 0; v < count; ++v)
        parts.push_back(sums.sum(p, first + v));
    parts = b.loop(steps / group, parts, [&](Value i, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value step = b.mulAdd(i, group, firstStep);
      Value weightsAt = b.mul(step, stepBytes);
      SmallVector<Value> offsets;
      for (int64_t g = 0; g < group; ++g) {
        Value offset = memref::LoadOp::create(b, table, ValueRange{b.add(step, g)});
        offsets.push_back(arith::IndexCastOp::create(b, b.getIndexType(), offset));
      }
      SmallVector<SmallVector<ByteDot::Weights>> weights(count);
      for (int64_t v = 0; v < count; ++v)
        for (int64_t g = 0; g < group; ++g)
          weights[v].push_back(
              dot.load(filter, b.add(weightsAt, g * stepBytes + (first + v) * sums.lanes() * 4)));
      // Pixels of a row share their base.
      llvm::SmallDenseMap<std::pair<Value, int64_t>, Value> bases;
      for (int64_t p = 0; p < sums.pixels(); ++p) {
        SmallVector<Value> bytes;
        for (int64_t g = 0; g < group; ++g) {
          Value &base = bases[{at[p].base, g}];
          if (!base)
            base = b.add(at[p].base, offsets[g]);
          bytes.push_back(dot.spreadBytes(input, b.add(base, at[p].offset)));
        }
        for (int64_t v = 0; v < count; ++v)
          next[p * count + v] = dot.add(next[p * count + v], bytes, weights[v]);
      }
      return next;
    });
    for (int64_t p = 0; p < sums.pixels(); ++p)
      for (int64_t v = 0; v < count; ++v)
        sums.sum(p, first + v) = parts[p * count + v];
  }

  IntegerConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  PixelGrid in;
  int64_t steps;
  Value input, filter, table, bias;
};

/// One multiplication a lane; the window is unrolled.
void expandDepthwise(IntegerDepthwiseOp op, TileAttr tile) {
  KernelBuilder b(op);
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  SmallVector<int64_t> filterStrides = stridesOf(op.getFilter());
  Value input = b.flat(op.getInput()), filter = b.flat(op.getFilter()), bias = b.flat(op.getBias());
  PixelGrid in(op.getInput(), op.getStrides());
  IntegerEpilogue epilogue(b, op);
  ArrayRef<int64_t> out = epilogue.grid().shape();
  PixelTiling tiling(out[2], out[3], tile);
  SmallVector<Value> task = b.beginTasks({out[0], out[1], tiling.tasks()});
  Value image = task[0], block = task[1];
  bool unrollRows = filterShape[1] * filterShape[2] <= 25;

  tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
    IntegerTile sums(b, pixels.count);
    sums.start(bias, b.mul(block, kSumBlock));
    SmallVector<Address> at =
        in.addresses(b, pixels, b.mulAdd(image, in.stride(0), b.mul(block, in.stride(1))));
    VectorType wide = sums.vectorType(b.getI32Type());
    auto addRow = [&](Value rowBase, Value filterBase, int64_t rowOffset, int64_t filterOffset) {
      for (int64_t kw = 0; kw < filterShape[2]; ++kw)
        for (int64_t v = 0; v < sums.vectors(); ++v) {
          Value w = vector::LoadOp::create(
              b, sums.vectorType(b.getI16Type()), filter,
              ValueRange{
                  b.add(filterBase, filterOffset + kw * filterStrides[2] + v * sums.lanes())});
          w = arith::ExtSIOp::create(b, wide, w);
          for (int64_t p = 0; p < pixels.count; ++p) {
            int64_t offset = at[p].offset + rowOffset + kw * op.getDilations()[1] * in.stride(3) +
                             v * sums.lanes();
            Value base = rowBase ? b.add(at[p].base, rowBase) : at[p].base;
            Value x = vector::LoadOp::create(b, sums.vectorType(b.getI8Type()), input,
                                             ValueRange{b.add(base, offset)});
            x = op.getSignedInput() ? arith::ExtSIOp::create(b, wide, x).getResult()
                                    : arith::ExtUIOp::create(b, wide, x).getResult();
            sums.sum(p, v) =
                arith::AddIOp::create(b, sums.sum(p, v), arith::MulIOp::create(b, x, w));
          }
        }
    };
    Value filterBase = b.mul(block, filterStrides[0]);
    int64_t rowStride = op.getDilations()[0] * in.stride(2);
    if (unrollRows) {
      for (int64_t kh = 0; kh < filterShape[1]; ++kh)
        addRow(Value(), filterBase, kh * rowStride, kh * filterStrides[1]);
    } else {
      sums.values() = b.loop(filterShape[1], sums.values(), [&](Value kh, ValueRange carried) {
        sums.values().assign(carried.begin(), carried.end());
        addRow(b.mul(kh, rowStride), b.mulAdd(kh, filterStrides[1], filterBase), 0, 0);
        return sums.values();
      });
    }
    epilogue.finish(sums, pixels, image, block);
  });
  op.erase();
}

struct CpuExpandIntegerConvPass : impl::CpuExpandIntegerConvBase<CpuExpandIntegerConvPass> {
  void runOnOperation() override {
    auto needsTile = [&](Operation *op) {
      op->emitOpError("needs a tile; run cpu-select-tiles first");
      signalPassFailure();
    };
    getOperation().walk([&](IntegerConv2DOp op) {
      if (TileAttr tile = op.getTileAttr())
        IntegerConvExpander(op, tile).run();
      else
        needsTile(op);
    });
    getOperation().walk([&](IntegerDepthwiseOp op) {
      if (TileAttr tile = op.getTileAttr())
        expandDepthwise(op, tile);
      else
        needsTile(op);
    });
  }
};

} // namespace
} // namespace atc::cpu
