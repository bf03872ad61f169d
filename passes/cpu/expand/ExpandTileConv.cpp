//===-- ExpandTileConv.cpp - integer convolutions in tile registers -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is (image, group of channel blocks, rows of pixels). Inside it:
//
//   for runs of pixels         a row, or all rows of the task
//     for pairs of tiles       16 pixels each; their bytes stay in L1 while the blocks go by
//       for pairs of blocks    four accumulators of 16 pixels by 16 channels: a group
//         for chunks of steps  up to 64 adjacent bytes of each pixel times their weights
//           for some pixels    of the group before: bias and epilogue, as vectors of 16 channels
//         store                to a buffer in L1
//
// Tile registers and vectors have units of their own, but the products of a group and its epilogue
// are each longer than what a core looks ahead. So the epilogue of a group is divided among the
// chunks of the next one.
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

  /// Up to two tiles at these positions of the run, multiplied by `blocks` blocks from `block` on.
  struct Group {
    SmallVector<Value, kTogether> positions;
    SmallVector<Finished, kTogether> finished;
    Value block;
    int64_t blocks;
  };

  /// Multiplies all pixels of the run at `runAddress`.
  void addRun() {
    const int64_t height = rows.height(), count = rows.positions(), pair = kTogether * height;
    const int64_t whole = count / pair, rest = count % pair;
    if (whole)
      addBlocks(whole, [&](Value i, Value block, int64_t blocks) -> Group {
        Value first = b.mul(i, pair);
        return {{first, b.add(first, height)}, {Finished{0, pair, first}}, block, blocks};
      });
    // The last tile ends with the run. Where it overlaps the one before, pixels are multiplied
    // twice and finished once, for the epilogue may write over what it reads.
    if (rest)
      addBlocks(1, [&](Value, Value block, int64_t blocks) -> Group {
        Value last = b.index(count - height);
        if (rest <= height)
          return {{last}, {Finished{height - rest, height, last}}, block, blocks};
        Value begin = b.index(count - rest);
        return {{begin, last},
                {Finished{0, height, begin},
                 Finished{pair + height - rest, pair, b.index(count - pair)}},
                block,
                blocks};
      });
    finishPending();
  }

  /// Returns the group of the i-th tiles of the run and of blocks.
  using MakeGroup = llvm::function_ref<Group(Value i, Value block, int64_t blocks)>;

  /// Multiplies `tileGroups` groups of tiles by all blocks of the task.
  void addBlocks(int64_t tileGroups, MakeGroup makeGroup) {
    const int64_t blocks = epilogue.grid().shape()[1], rest = blocks % kTogether;
    // Tasks begin at an even block; only the last one may end at an odd one.
    if (blocks >= kTogether) {
      Value pairs = taskBlocks == blocks
                        ? b.index(blocks / kTogether)
                        : arith::DivUIOp::create(b, arith::SubIOp::create(b, endBlock, firstBlock),
                                                 b.index(kTogether));
      auto addPairs = [&] {
        addGroups(b.mul(pairs, tileGroups), [&](Value i) {
          Value block = b.mulAdd(arith::RemUIOp::create(b, i, pairs), kTogether, firstBlock);
          return makeGroup(arith::DivUIOp::create(b, i, pairs), block, kTogether);
        });
      };
      // A task that has no pair has only the odd block.
      if (rest && taskBlocks < blocks)
        ifGreater(pairs, 0, addPairs);
      else
        addPairs();
    }
    if (!rest)
      return;
    auto addLast = [&] {
      addGroups(b.index(tileGroups),
                [&](Value i) { return makeGroup(i, b.index(blocks - rest), rest); });
    };
    if (taskBlocks < blocks)
      ifGreater(endBlock, blocks - rest, addLast);
    else
      addLast();
  }

  /// Builds `body` so that it runs if `value` is greater than `limit`.
  void ifGreater(Value value, int64_t limit, llvm::function_ref<void()> body) {
    finishPending();
    auto guard = scf::IfOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, value, b.index(limit)),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(guard.thenBlock());
    body();
    finishPending();
  }

  /// Multiplies `count` groups, at least one. The last one is pending then.
  void addGroups(Value count, llvm::function_ref<Group(Value)> groupAt) {
    addGroup(groupAt(b.index(0)));
    if (getConstantIntValue(count) == 1)
      return;
    b.loop(b.index(1), count, 1, [&](Value i) {
      pending = groupAt(b.add(i, -1));
      addGroup(groupAt(i));
    });
    pending = groupAt(b.add(count, -1));
  }

  /// Multiplies a group, which is pending then, and finishes the one that was.
  void addGroup(Group group) {
    const int64_t tileCount = group.positions.size(), stepBytes = kSumBlock * 4;
    for (int64_t i = 0; i < tileCount; ++i)
      for (int64_t j = 0; j < group.blocks; ++j)
        tiles.zero(i, j);
    SmallVector<Value> addresses;
    for (Value position : group.positions)
      addresses.push_back(b.mulAdd(position, TileRows::columnStep(op), runAddress));
    Value panel = b.mulAdd(group.block, stepCount * stepBytes, filterAddress);
    auto addChunk = [&](Value i) {
      Value offset = arith::IndexCastOp::create(b, b.getIndexType(),
                                                memref::LoadOp::create(b, steps, b.mul(i, chunk)));
      Value weights = b.mulAdd(i, chunk * stepBytes, panel);
      for (int64_t k = 0; k < std::max(tileCount, group.blocks); ++k) {
        if (k < tileCount)
          tiles.loadRows(k, b.add(addresses[k], offset), TileRows::columnStep(op));
        if (k < group.blocks)
          tiles.loadWeights(k, b.add(weights, k * stepCount * stepBytes));
      }
      for (int64_t k = 0; k < tileCount; ++k)
        for (int64_t j = 0; j < group.blocks; ++j)
          tiles.addProducts(k, j, op.getSignedInput());
    };
    const int64_t chunks = stepCount / chunk;
    if (pending) {
      // The first chunks finish equal parts of the group before.
      const int64_t parts = partsOf(pending->finished[0]),
                    perChunk = llvm::divideCeil(parts, chunks), together = parts / perChunk;
      b.loop(together, [&](Value i) {
        addChunk(i);
        b.loop(perChunk, [&](Value part) { finishPart(b.mulAdd(i, perChunk, part)); });
      });
      if (together < chunks)
        b.loop(b.index(together), b.index(chunks), 1, addChunk);
      finishFrom(together * perChunk);
    } else {
      b.loop(chunks, addChunk);
    }
    for (int64_t k = 0; k < tileCount; ++k)
      for (int64_t j = 0; j < group.blocks; ++j)
        tiles.store(k, j, b.add(sumsAddress, 4 * (k * rows.height() * kSumsPerRow + j * kSumBlock)),
                    4 * kSumsPerRow);
    pending = std::move(group);
  }

  /// Returns the pixels that are finished together: they hide the latency of each other's
  /// arithmetic.
  int64_t partSize() const { return rows.hasGaps() ? 1 : 4; }
  int64_t partsOf(const Finished &finished) const {
    return (finished.end - finished.begin) / partSize();
  }

  /// Writes the results of a part of the pending group's first rows.
  void finishPart(Value part) {
    const Finished &finished = pending->finished[0];
    finishPixels(b.add(b.mul(part, partSize()), finished.begin), partSize(), finished.from);
  }

  /// Writes the results of the pending group from a part of its first rows on.
  void finishFrom(int64_t firstPart) {
    for (const Finished &finished : pending->finished) {
      const int64_t begin = finished.begin + firstPart * partSize(),
                    end = finished.begin + partsOf(finished) * partSize();
      if (begin < end)
        b.loop(b.index(begin), b.index(end), partSize(),
               [&](Value sumRow) { finishPixels(sumRow, partSize(), finished.from); });
      if (end < finished.end)
        finishPixels(b.index(end), finished.end - end, finished.from);
      firstPart = 0;
    }
  }

  void finishPending() {
    if (pending)
      finishFrom(0);
    pending.reset();
  }

  /// Writes the results of `count` rows of the buffer of accumulators, the first of which would be
  /// at position `from`.
  void finishPixels(Value sumRow, int64_t count, Value from) {
    Value position = b.add(from, sumRow);
    if (!rows.hasGaps())
      return finishTile(sumRow, {count, row, position});
    Value length = b.index(rows.positionsPerRow());
    Value column = arith::RemUIOp::create(b, position, length);
    Value isPixel = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column,
                                          b.index(epilogue.grid().shape()[3]));
    auto guard = scf::IfOp::create(b, isPixel, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value pixelRow = b.add(row, arith::DivUIOp::create(b, position, length));
    finishTile(sumRow, {count, pixelRow, column});
  }

  void finishTile(Value sumRow, PixelTile pixels) {
    const int64_t width = epilogue.grid().shape()[3], blocks = pending->blocks;
    // All rows of the task are one.
    if (!rows.hasGaps() && rows.positions() > width)
      pixels = {pixels.count, Value(), Value(), b.mulAdd(row, width, pixels.column), width};
    IntegerTile tile(b, pixels.count, blocks);
    Value channel = b.mul(pending->block, kSumBlock);
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
    epilogue.finish(tile, pixels, image, pending->block);
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
  // The group whose accumulators are in their buffer.
  std::optional<Group> pending;
};

} // namespace

void expandOnTileRegisters(IntegerConv2DOp op, TileAttr tile) { TileConvExpander(op, tile).run(); }

} // namespace atc::cpu
