//===-- ExpandIntegerConv.cpp - integer convolutions as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for blocks of channels     several at once where they share their list of steps
//     for pixel tiles          32-bit accumulators in registers
//       for runs of steps
//         for groups of steps  four bytes of each pixel, broadcast to all lanes,
//                              times four weights of each channel
//       epilogue               one body for the pixel's 16 channels
//
// Steps contain the offsets of their bytes, so there is one loop for any window, stride, dilation
// and grouping.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/TileConv.h"
#include "passes/cpu/tiles/IntegerDot.h"
#include "passes/cpu/tiles/IntegerTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDINTEGERCONV
#include "passes/cpu/Passes.h.inc"

namespace {

class IntegerConvExpander {
public:
  IntegerConvExpander(IntegerConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), in(op.getInput(), op.getStrides()) {}

  void run() {
    input = b.flat(op.getInput());
    filter = b.flat(op.getFilter());
    steps = b.flat(op.getSteps());
    starts = b.flat(op.getStarts());
    bias = b.flat(op.getBias());
    IntegerEpilogue epilogue(b, op);
    ArrayRef<int64_t> out = epilogue.grid().shape();
    int64_t groups = std::min(tile.getGroups(), out[1]);
    PixelTiling tiling(out[2], out[3], tile);
    tilesPerTask = tiling.tilesPerTask();
    SmallVector<Value, 3> task =
        tiling.beginTasks(b, out[0], llvm::divideCeil(out[1], groups), out[1] * kSumBlock);
    const int64_t inTile = sharesSteps(op) ? tile.getBlocks() : 1;
    forBlocksOfTask(b, task[1], groups, out[1], inTile, [&](Value block, int64_t blocks) {
      tiling.forEachTile(b, task[2], [&](const PixelTile &pixels) {
        IntegerTile sums(b, pixels.count, blocks);
        sums.start(bias, b.mul(block, kSumBlock));
        if (sharesSteps(op)) {
          addSharedSteps(sums, pixels, task[0], block);
          return epilogue.finish(sums, pixels, task[0], block);
        }
        int64_t together = vectorsTakeTurns(op, b.level()) ? 1 : sums.vectors();
        for (int64_t v = 0; v < sums.vectors(); v += together)
          for (int64_t run = 0; run < int64_t(op.getGroups().size()); ++run)
            addRun(run, sums, v, together, pixels, task[0], block);
        epilogue.finish(sums, pixels, task[0], block);
      });
    });
    op.erase();
  }

private:
  /// Requests the panels of the next blocks while those at `panel` are multiplied: a network reads
  /// its weights once in a run, from beyond L2. `done` of the steps of all tiles are before this
  /// one; they share the lines evenly. Behind the last panel are the weights of the next layer.
  void requestNext(Value done, int64_t blocks, int64_t count, Value panel) {
    const int64_t stepBytes = kSumBlock * 4;
    Value line = arith::DivUIOp::create(b, b.mul(done, blocks), b.index(tilesPerTask));
    Value at = b.add(b.mulAdd(line, stepBytes, panel), blocks * count * stepBytes);
    memref::PrefetchOp::create(b, filter, ValueRange{at}, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }

  /// Adds the list of steps that all blocks share to all blocks of a tile, the first of which is
  /// `block`: the bytes of a pixel are spread once for all of them.
  void addSharedSteps(IntegerTile &sums, const PixelTile &pixels, Value image, Value block) {
    const int64_t count = shapeOf(op.getSteps())[0], stepBytes = kSumBlock * 4;
    SmallVector<Address> at = in.addresses(b, pixels, b.mul(image, in.stride(0)));
    ByteDot dot(b, sums.lanes(), /*byMagnitude=*/false, op.getSignedInput());
    Value panel = b.mul(block, count * stepBytes);
    sums.values() = b.loop(count, sums.values(), [&](Value step, ValueRange carried) {
      sums.values().assign(carried.begin(), carried.end());
      if (tilesPerTask >= kMinTilesToPrefetch)
        requestNext(b.mulAdd(pixels.ordinal, count, step), sums.blocks(), count, panel);
      Value offset =
          arith::IndexCastOp::create(b, b.getIndexType(), memref::LoadOp::create(b, steps, step));
      Value weightsAt = b.mulAdd(step, stepBytes, panel);
      SmallVector<SmallVector<ByteDot::Weights>> weights(sums.blocks());
      for (auto [j, list] : llvm::enumerate(weights))
        for (int64_t v = 0; v < sums.vectors(); ++v)
          list.push_back(
              dot.load(filter, b.add(weightsAt, j * count * stepBytes + v * sums.lanes() * 4)));
      // Pixels of a row share their base.
      llvm::SmallDenseMap<Value, Value> bases;
      for (int64_t p = 0; p < sums.pixels(); ++p) {
        Value &base = bases[at[p].base];
        if (!base)
          base = b.add(at[p].base, offset);
        Value bytes = dot.spreadBytes(input, b.add(base, at[p].offset));
        for (auto [j, list] : llvm::enumerate(weights))
          dot.add(sums.ofPixel(p, j), bytes, list);
      }
      return sums.values();
    });
  }

  /// Adds a run of steps to `count` vectors of each pixel, from `first` on.
  void addRun(int64_t run, IntegerTile &sums, int64_t first, int64_t count, const PixelTile &pixels,
              Value image, Value block) {
    int64_t group = op.getGroups()[run], stepBytes = kSumBlock * 4;
    SmallVector<Address> at = in.addresses(b, pixels, b.mul(image, in.stride(0)));
    auto indexIn = [&](Value table, Value at) -> Value {
      Value number = memref::LoadOp::create(b, table, at);
      return arith::IndexCastOp::create(b, b.getIndexType(), number);
    };
    Value start = b.add(b.mul(block, op.getGroups().size()), run);
    Value begin = indexIn(starts, start), end = indexIn(starts, b.add(start, 1));
    ByteDot dot(b, sums.lanes(), op.getByMagnitude()[run], op.getSignedInput());
    // Registers hold accumulators; most weights are loaded again for each pixel.
    std::optional<int64_t> held;
    if (group > 1 && count > 1)
      held = dot.heldWeights(sums.pixels() * count);
    SmallVector<Value> apart;
    if (held)
      for (int64_t p = 0; p < sums.pixels(); ++p)
        apart.push_back(b.unknownZero());
    SmallVector<Value> parts;
    for (int64_t p = 0; p < sums.pixels(); ++p)
      for (int64_t v = 0; v < count; ++v)
        parts.push_back(sums.sum(p, first + v));
    parts = b.loop(begin, end, group, parts, [&](Value step, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value weightsAt = b.mul(step, stepBytes);
      SmallVector<Value> offsets;
      for (int64_t g = 0; g < group; ++g)
        offsets.push_back(indexIn(steps, b.add(step, g)));
      using Steps = SmallVector<SmallVector<ByteDot::Weights>>;
      Steps weights(group, SmallVector<ByteDot::Weights>(count));
      auto loadWeights = [&](Value at, int64_t from, int64_t end) {
        for (int64_t i = from; i < end; ++i)
          weights[i / count][i % count] = dot.load(
              filter, b.add(at, i / count * stepBytes + (first + i % count) * sums.lanes() * 4));
      };
      int64_t shared = std::min(held.value_or(group * count), group * count);
      loadWeights(weightsAt, 0, shared);
      // Pixels of a row share their base.
      llvm::SmallDenseMap<std::pair<Value, int64_t>, Value> bases;
      for (int64_t p = 0; p < sums.pixels(); ++p) {
        if (held)
          loadWeights(b.add(apart[p], weightsAt), shared, group * count);
        SmallVector<Value> bytes;
        for (int64_t g = 0; g < group; ++g) {
          Value &base = bases[{at[p].base, g}];
          if (!base)
            base = b.add(at[p].base, offsets[g]);
          bytes.push_back(dot.spreadBytes(input, b.add(base, at[p].offset)));
        }
        dot.add(MutableArrayRef(next).slice(p * count, count), bytes, weights);
      }
      return next;
    });
    for (int64_t p = 0; p < sums.pixels(); ++p)
      for (int64_t v = 0; v < count; ++v)
        sums.sum(p, first + v) = parts[p * count + v];
  }

  /// Fewer tiles would request more than they have time to wait for.
  static constexpr int64_t kMinTilesToPrefetch = 4;

  IntegerConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  PixelGrid in;
  Value input, filter, steps, starts, bias;
  int64_t tilesPerTask = 0;
};

/// Expands to one multiplication per lane; the window is unrolled.
void expandDepthwise(IntegerDepthwiseOp op, TileAttr tile) {
  KernelBuilder b(op);
  ArrayRef<int64_t> filterShape = shapeOf(op.getFilter());
  SmallVector<int64_t> filterStrides = stridesOf(op.getFilter());
  Value input = b.flat(op.getInput()), filter = b.flat(op.getFilter()), bias = b.flat(op.getBias());
  PixelGrid in(op.getInput(), op.getStrides());
  IntegerEpilogue epilogue(b, op);
  ArrayRef<int64_t> out = epilogue.grid().shape();
  PixelTiling tiling(out[2], out[3], tile);
  SmallVector<Value, 3> task = tiling.beginTasks(b, out[0], out[1], out[1] * kSumBlock);
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
      TileAttr tile = op.getTileAttr();
      if (!tile)
        needsTile(op);
      else if (tile.getMatrix())
        expandOnTileRegisters(op, tile);
      else
        IntegerConvExpander(op, tile).run();
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
