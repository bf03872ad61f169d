//===-- ExpandTileConv.cpp - integer convolutions in tile registers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for runs of pixels         a row, or all rows of the task
//     for pairs of tiles       16 pixels each; their bytes stay in L1 while the blocks go by
//       for pairs of blocks    four accumulators of 16 pixels by 16 channels
//         for chunks of steps  up to 64 adjacent bytes of each pixel times their weights
//         store                to a buffer in L1
//         for pixels           bias and epilogue, as vectors of 16 channels
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/expand/TileConv.h"

#include "passes/cpu/tiles/TileRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

namespace {

/// The tiles and blocks that are multiplied together.
constexpr int64_t kTogether = 2;

class TileConvExpander {
public:
  TileConvExpander(IntegerConv2DOp op, TileAttr tile)
      : op(op), b(op), rows(op, tile.getRows(), tile.getFlatten()),
        stepCount(shapeOf(op.getSteps())[0]), chunk(*op.getAdjacent()),
        tiles(b, rows.height(), chunk), epilogue(b, op), taskRows(tile.getRows()),
        taskBlocks(std::min(tile.getGroups(), epilogue.grid().shape()[1])) {
    steps = b.flat(op.getSteps());
    bias = b.flat(op.getBias());
    filterAddress = tiles.addressOf(b.flat(op.getFilter()));
    inputAddress = tiles.addressOf(b.flat(op.getInput()));
    sums = memref::AllocaOp::create(
        b, MemRefType::get({kTogether * TileRegisters::kMaxRows * kSumsPerRow}, b.getI32Type()),
        b.getI64IntegerAttr(TileRegisters::kRowBytes));
    sumsAddress = tiles.addressOf(sums);
  }

  void run() {
    ArrayRef<int64_t> out = epilogue.grid().shape();
    SmallVector<Value> task =
        b.beginTasks({out[0], int64_t(llvm::divideCeil(out[1], taskBlocks)), out[2] / taskRows});
    image = task[0];
    firstBlock = b.mul(task[1], taskBlocks);
    endBlock = b.add(firstBlock, taskBlocks);
    if (out[1] % taskBlocks)
      endBlock = arith::MinUIOp::create(b, endBlock, b.index(out[1]));
    Value firstRow = b.mul(task[2], taskRows);
    b.loop(rows.runs(), [&](Value run) {
      row = b.add(firstRow, run);
      runAddress = b.mulAdd(row, TileRows::rowStep(op),
                            b.mulAdd(image, stridesOf(op.getInput())[0], inputAddress));
      addRun();
    });
    op.erase();
  }

private:
  /// Accumulators per row of their buffer: those of the blocks that are multiplied together.
  static constexpr int64_t kSumsPerRow = kTogether * kSumBlock;

  /// Rows [begin, end) of the buffer of accumulators that are finished, the first of which would be
  /// at position `from`.
  struct Finished {
    int64_t begin, end;
    Value from;
  };

  /// Multiplies all pixels of the run at `runAddress`.
  void addRun() {
    const int64_t height = rows.height(), count = rows.positions(), pair = kTogether * height;
    const int64_t whole = count / pair, rest = count % pair;
    if (whole)
      b.loop(whole, [&](Value i) {
        Value first = b.mul(i, pair);
        addBlocks({first, b.add(first, height)}, Finished{0, pair, first});
      });
    if (rest == 0)
      return;
    // The last tile ends with the run. Where it overlaps the one before, pixels are multiplied
    // twice and finished once, for the epilogue may write over what it reads.
    Value last = b.index(count - height);
    if (rest <= height)
      return addBlocks(last, Finished{height - rest, height, last});
    const int64_t begin = count - rest;
    addBlocks({b.index(begin), last},
              {Finished{0, height, b.index(begin)},
               Finished{pair + height - rest, pair, b.index(count - pair)}});
  }

  /// Multiplies the tiles at these positions of the run by all blocks of the task.
  void addBlocks(ArrayRef<Value> positions, ArrayRef<Finished> finished) {
    const int64_t blocks = epilogue.grid().shape()[1], rest = blocks % kTogether;
    // Tasks begin at an even block; only the last one may end at an odd one.
    Value endWhole =
        rest ? b.mul(arith::DivUIOp::create(b, endBlock, b.index(kTogether)), kTogether) : endBlock;
    if (blocks >= kTogether)
      b.loop(firstBlock, endWhole, kTogether,
             [&](Value block) { addPair(positions, block, kTogether, finished); });
    if (rest)
      b.loop(endWhole, endBlock, rest,
             [&](Value block) { addPair(positions, block, rest, finished); });
  }

  /// Multiplies one or two tiles by `blocks` blocks from `block` on.
  void addPair(ArrayRef<Value> positions, Value block, int64_t blocks,
               ArrayRef<Finished> finished) {
    const int64_t tileCount = positions.size(), stepBytes = kSumBlock * 4;
    for (int64_t i = 0; i < tileCount; ++i)
      for (int64_t j = 0; j < blocks; ++j)
        tiles.zero(i, j);
    SmallVector<Value> addresses;
    for (Value position : positions)
      addresses.push_back(b.mulAdd(position, TileRows::columnStep(op), runAddress));
    Value panel = b.mulAdd(block, stepCount * stepBytes, filterAddress);
    b.loop(stepCount / chunk, [&](Value i) {
      Value offset = arith::IndexCastOp::create(b, b.getIndexType(),
                                                memref::LoadOp::create(b, steps, b.mul(i, chunk)));
      Value weights = b.mulAdd(i, chunk * stepBytes, panel);
      for (int64_t k = 0; k < std::max(tileCount, blocks); ++k) {
        if (k < tileCount)
          tiles.loadRows(k, b.add(addresses[k], offset), TileRows::columnStep(op));
        if (k < blocks)
          tiles.loadWeights(k, b.add(weights, k * stepCount * stepBytes));
      }
      for (int64_t k = 0; k < tileCount; ++k)
        for (int64_t j = 0; j < blocks; ++j)
          tiles.addProducts(k, j, op.getSignedInput());
    });
    for (int64_t k = 0; k < tileCount; ++k)
      for (int64_t j = 0; j < blocks; ++j)
        tiles.store(k, j, b.add(sumsAddress, 4 * (k * rows.height() * kSumsPerRow + j * kSumBlock)),
                    4 * kSumsPerRow);
    for (const Finished &part : finished)
      finish(part, block, blocks);
  }

  /// Writes the results of rows of the buffer of accumulators.
  void finish(const Finished &part, Value block, int64_t blocks) {
    // Pixels that are finished together hide the latency of each other's arithmetic.
    const int64_t unroll = rows.hasGaps() ? 1 : 4, count = part.end - part.begin,
                  rest = count % unroll;
    b.loop(b.index(part.begin), b.index(part.end - rest), unroll, [&](Value sumRow) {
      finishPixels(sumRow, unroll, b.add(part.from, sumRow), block, blocks);
    });
    if (rest) {
      Value sumRow = b.index(part.end - rest);
      finishPixels(sumRow, rest, b.add(part.from, sumRow), block, blocks);
    }
  }

  /// Writes the results of `count` pixels from `position` on.
  void finishPixels(Value sumRow, int64_t count, Value position, Value block, int64_t blocks) {
    if (!rows.hasGaps())
      return finishTile(sumRow, {count, row, position}, block, blocks);
    Value length = b.index(rows.positionsPerRow());
    Value column = arith::RemUIOp::create(b, position, length);
    Value isPixel = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column,
                                          b.index(epilogue.grid().shape()[3]));
    auto guard = scf::IfOp::create(b, isPixel, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value pixelRow = b.add(row, arith::DivUIOp::create(b, position, length));
    finishTile(sumRow, {count, pixelRow, column}, block, blocks);
  }

  void finishTile(Value sumRow, PixelTile pixels, Value block, int64_t blocks) {
    const int64_t width = epilogue.grid().shape()[3];
    // All rows of the task are one.
    if (!rows.hasGaps() && rows.positions() > width)
      pixels = {pixels.count, Value(), Value(), b.mulAdd(row, width, pixels.column), width};
    IntegerTile tile(b, pixels.count, blocks);
    Value channel = b.mul(block, kSumBlock);
    // The first row of two is for dot products.
    if (op.getSignedInput())
      channel = b.add(channel, stridesOf(op.getBias())[0]);
    tile.start(bias, channel);
    Value first = b.mul(sumRow, kSumsPerRow);
    for (int64_t p = 0; p < pixels.count; ++p)
      for (int64_t j = 0; j < blocks; ++j) {
        Value at = b.add(first, p * kSumsPerRow + j * kSumBlock);
        Value &sum = tile.ofPixel(p, j)[0];
        sum = arith::AddIOp::create(
            b, sum, vector::LoadOp::create(b, tile.vectorType(b.getI32Type()), sums, at));
      }
    epilogue.finish(tile, pixels, image, block);
  }

  IntegerConv2DOp op;
  KernelBuilder b;
  TileRows rows;
  int64_t stepCount, chunk;
  TileRegisters tiles;
  IntegerEpilogue epilogue;
  int64_t taskRows, taskBlocks;
  Value steps, bias, sums, filterAddress, inputAddress, sumsAddress;
  // The values of the task and the run that are being built.
  Value image, firstBlock, endBlock, row, runAddress;
};

} // namespace

void expandOnTileRegisters(IntegerConv2DOp op, TileAttr tile) { TileConvExpander(op, tile).run(); }

} // namespace atc::cpu
