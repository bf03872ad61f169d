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

constexpr int64_t kLineBytes = 64;

class TileConvExpander {
public:
  TileConvExpander(IntegerConv2DOp op, TileAttr tile)
      : op(op), b(op), rows(op, tile.getRows(), tile.getFlatten()),
        stepCount(shapeOf(op.getSteps())[0]), chunk(*op.getAdjacent()),
        whole(rows.multiplied() / (kTogether * rows.height())),
        rest(rows.multiplied() % (kTogether * rows.height())), tiles(b, rows.height(), chunk),
        epilogue(b, op), taskRows(tile.getRows()),
        taskBlocks(std::min(tile.getGroups(), epilogue.grid().shape()[1])) {
    steps = b.flat(op.getSteps());
    bias = b.flat(op.getBias());
    filter = b.flat(op.getFilter());
    filterAddress = tiles.addressOf(filter);
    inputAddress = tiles.addressOf(b.flat(op.getInput()));
    sums = memref::AllocaOp::create(
        b, MemRefType::get({kBuffers * kBufferRows * kSumsPerRow}, b.getI32Type()),
        b.getI64IntegerAttr(TileRegisters::kRowBytes));
    sumsAddress = tiles.addressOf(sums);
    sumsTurn = memref::AllocaOp::create(b, MemRefType::get({1}, b.getIndexType()));
    memref::StoreOp::create(b, b.index(0), sumsTurn, b.index(0));
    // Weights that are expected beyond L2 arrive at half of the rate of the products. Windows that
    // are apart fill L1 badly: those stay there instead.
    const int64_t weightBytes = stepCount * kSumBlock * 4 * epilogue.grid().shape()[1];
    streams = rows.runs() == 1 && weightBytes > b.level().getL2() / 4 && op.getStrides()[0] == 1 &&
              op.getStrides()[1] == 1;
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
  /// Accumulators per row of their buffers: those of the blocks that are multiplied together.
  static constexpr int64_t kSumsPerRow = kTogether * kSumBlock;
  static constexpr int64_t kBuffers = 2, kBufferRows = kTogether * TileRegisters::kMaxRows;

  /// Rows [begin, end) of a buffer of accumulators that are pixels, the first of which is at
  /// `position` of the run, or is pixel `position` of the output's row `row` if that is given.
  struct Span {
    int64_t begin, end;
    Value position;
    Value row = {};
  };

  /// Up to two tiles at these positions of the run, multiplied by `blocks` blocks from `block` on.
  struct Group {
    SmallVector<Value, kTogether> positions;
    SmallVector<Span, kTogether> spans;
    Value block;
    int64_t blocks;
    Value pass; ///< which part of the next blocks' weights it prefetches, if any
  };

  /// Returns the i-th pair of tiles of the run.
  Group wholeGroup(Value i, Value block, int64_t blocks) {
    if (rows.isTilePerRow())
      return groupOfRows(b.mul(i, kTogether), kTogether, i, block, blocks);
    const int64_t height = rows.height(), pair = kTogether * height;
    Value first = b.mul(i, pair);
    return {{first, b.add(first, height)}, {Span{0, pair, first}}, block, blocks, i};
  }

  /// Returns the tiles behind the whole pairs. The last tile ends with the run: where it overlaps
  /// the one before, pixels are multiplied twice and finished once, for the epilogue may write over
  /// what it reads.
  Group restGroup(Value block, int64_t blocks) {
    Value pass = b.index(whole);
    if (rows.isTilePerRow())
      return groupOfRows(b.index(kTogether * whole), /*count=*/1, pass, block, blocks);
    const int64_t height = rows.height(), count = rows.positions(), pair = kTogether * height;
    Value last = b.index(count - height), begin = b.index(count - rest);
    if (rest <= height)
      return {{last}, {Span{height - rest, height, begin}}, block, blocks, pass};
    return {
        {begin, last},
        {Span{0, height, begin}, Span{pair + height - rest, pair, b.index(count - rest + height)}},
        block,
        blocks,
        pass};
  }

  /// Returns the tiles of `count` rows of the task from `first` on.
  Group groupOfRows(Value first, int64_t count, Value pass, Value block, int64_t blocks) {
    Group group{{}, {}, block, blocks, pass};
    const int64_t height = rows.height();
    for (int64_t i = 0; i < count; ++i) {
      Value tile = b.add(first, i);
      group.positions.push_back(b.mul(tile, rows.positionsPerRow()));
      group.spans.push_back({i * height, (i + 1) * height, b.index(0), b.add(row, tile)});
    }
    return group;
  }

  /// Multiplies all pixels of the run at `runAddress`.
  void addRun() {
    // Tasks begin at an even block; only the last one may end at an odd one, or have no other.
    const int64_t blocks = epilogue.grid().shape()[1], odd = blocks % kTogether;
    const bool isWhole = taskBlocks == blocks;
    if (blocks >= kTogether) {
      Value count = isWhole ? b.index(blocks) : arith::SubIOp::create(b, endBlock, firstBlock);
      Value pairs = isWhole ? b.index(blocks / kTogether)
                            : arith::DivUIOp::create(b, count, b.index(kTogether));
      ifAtLeast(odd && !isWhole ? count : Value(), kTogether, [&] { addPairsOfBlocks(pairs); });
    }
    if (odd)
      ifAtLeast(isWhole ? Value() : endBlock, blocks,
                [&] { addTiles(b.index(blocks - odd), odd); });
    finishPending();
  }

  /// Builds `body`, so that it runs if `value` is given and at least `limit`, or if none is given.
  void ifAtLeast(Value value, int64_t limit, llvm::function_ref<void()> body) {
    if (!value)
      return body();
    finishPending();
    auto guard = scf::IfOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::uge, value, b.index(limit)),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(guard.thenBlock());
    body();
    finishPending();
  }

  void addPairsOfBlocks(Value pairs) {
    auto blockOf = [&](Value i) { return b.mulAdd(i, kTogether, firstBlock); };
    if (streams) {
      repeat(
          pairs, [&](Value i) { addTiles(blockOf(i), kTogether); },
          [&](Value i) {
            return rest ? restGroup(blockOf(i), kTogether)
                        : wholeGroup(b.index(whole - 1), blockOf(i), kTogether);
          });
      return;
    }
    if (whole)
      addGroups(b.mul(pairs, whole), [&](Value i) {
        return wholeGroup(arith::DivUIOp::create(b, i, pairs),
                          blockOf(arith::RemUIOp::create(b, i, pairs)), kTogether);
      });
    if (rest)
      addGroups(pairs, [&](Value i) { return restGroup(blockOf(i), kTogether); });
  }

  /// Multiplies all tiles of the run by `blocks` blocks from `block` on.
  void addTiles(Value block, int64_t blocks) {
    if (whole)
      addGroups(b.index(whole), [&](Value i) { return wholeGroup(i, block, blocks); });
    if (rest)
      addGroup(restGroup(block, blocks));
  }

  /// Multiplies `count` groups, at least one.
  void addGroups(Value count, llvm::function_ref<Group(Value)> groupAt) {
    repeat(count, [&](Value i) { addGroup(groupAt(i)); }, groupAt);
  }

  /// Builds `body` for 0 <= i < `count`, which is at least one; lastOf(i) is the group that is
  /// pending behind it.
  void repeat(Value count, llvm::function_ref<void(Value)> body,
              llvm::function_ref<Group(Value)> lastOf) {
    body(b.index(0));
    if (getConstantIntValue(count) == 1)
      return;
    b.loop(b.index(1), count, 1, [&](Value i) {
      if (pending)
        pending = lastOf(b.add(i, -1));
      body(i);
    });
    if (pending)
      pending = lastOf(b.add(count, -1));
  }

  /// Multiplies a group, which is pending then, and finishes the one that was.
  void addGroup(Group group) {
    const int64_t tileCount = group.positions.size(), chunks = stepCount / chunk;
    for (int64_t i = 0; i < tileCount; ++i)
      for (int64_t j = 0; j < group.blocks; ++j)
        tiles.zero(i, j);
    SmallVector<Value> addresses;
    for (Value position : group.positions)
      addresses.push_back(b.mulAdd(position, TileRows::columnStep(op), runAddress));
    auto add = [&](Value i) { addChunk(group, addresses, i); };
    // The first chunks finish equal parts of the group before.
    sumsRow = memref::LoadOp::create(b, sumsTurn, b.index(0));
    const int64_t parts = pending ? partsBeforeStore() : 0,
                  perChunk = llvm::divideCeil(parts, chunks),
                  together = parts ? parts / perChunk : 0;
    if (together)
      b.loop(together, [&](Value i) {
        add(i);
        b.loop(perChunk, [&](Value part) { finishPart(b.mulAdd(i, perChunk, part)); });
      });
    if (together < chunks)
      b.loop(b.index(together), b.index(chunks), 1, add);
    // The products of one chunk take less time than to divide the epilogue gains: they are finished
    // at once, and need one buffer.
    Value nextRow =
        chunks == 1 ? b.index(0) : Value(arith::SubIOp::create(b, b.index(kBufferRows), sumsRow));
    Value nextSums = b.mulAdd(nextRow, 4 * kSumsPerRow, sumsAddress);
    for (int64_t k = 0; k < tileCount; ++k)
      for (int64_t j = 0; j < group.blocks; ++j)
        tiles.store(k, j, b.add(nextSums, 4 * (k * rows.height() * kSumsPerRow + j * kSumBlock)),
                    4 * kSumsPerRow);
    memref::StoreOp::create(b, nextRow, sumsTurn, b.index(0));
    if (pending)
      finishFrom(together * perChunk);
    pending = std::move(group);
    if (chunks == 1)
      finishPending();
  }

  /// Multiplies the i-th chunk of the windows at `addresses` by its weights.
  void addChunk(const Group &group, ArrayRef<Value> addresses, Value i) {
    const int64_t tileCount = addresses.size(), stepBytes = kSumBlock * 4;
    Value offset = arith::IndexCastOp::create(b, b.getIndexType(),
                                              memref::LoadOp::create(b, steps, b.mul(i, chunk)));
    Value panel = b.mul(group.block, stepCount * stepBytes),
          weights = b.mulAdd(i, chunk * stepBytes, b.add(panel, filterAddress));
    for (int64_t k = 0; k < std::max(tileCount, group.blocks); ++k) {
      if (k < tileCount)
        tiles.loadRows(k, b.add(addresses[k], offset), TileRows::columnStep(op));
      if (k < group.blocks)
        tiles.loadWeights(k, b.add(weights, k * stepCount * stepBytes));
    }
    for (int64_t k = 0; k < tileCount; ++k)
      for (int64_t j = 0; j < group.blocks; ++j)
        tiles.addProducts(k, j, op.getSignedInput());
    if (!streams || group.blocks != kTogether)
      return;
    // All passes over the weights of two blocks prefetch those of the next ones. Behind the last
    // ones follow those of another task or operation.
    const int64_t passes = whole + (rest != 0), lines = llvm::divideCeil(kTogether * chunk, passes),
                  perChunk = lines * kLineBytes;
    Value first = b.mulAdd(group.pass, stepCount / chunk * perChunk,
                           b.add(panel, kTogether * stepCount * stepBytes));
    for (int64_t line = 0; line < lines; ++line)
      memref::PrefetchOp::create(b, filter,
                                 ValueRange{b.add(b.mulAdd(i, perChunk, first), line * kLineBytes)},
                                 /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  }

  /// Returns the pixels that are finished together: they hide the latency of each other's
  /// arithmetic.
  int64_t partSize() const { return rows.hasGaps() ? 1 : 4; }
  int64_t partsOf(const Span &span) const { return (span.end - span.begin) / partSize(); }

  /// Returns the parts of the pending group that are finished before the next accumulators are
  /// stored: about a quarter is left for the time that those need to their buffer.
  int64_t partsBeforeStore() const {
    const int64_t parts = partsOf(pending->spans[0]);
    return pending->spans.size() > 1 ? parts : parts * 3 / 4;
  }

  /// Writes the results of a part of the pending group's first rows.
  void finishPart(Value part) {
    const Span &span = pending->spans[0];
    finishPixels(span, b.mul(part, partSize()), partSize());
  }

  /// Writes the results of the pending group from a part of its first rows on.
  void finishFrom(int64_t firstPart) {
    for (const Span &span : pending->spans) {
      const int64_t count = span.end - span.begin, parts = partsOf(span) * partSize();
      if (firstPart * partSize() < parts)
        b.loop(b.index(firstPart * partSize()), b.index(parts), partSize(),
               [&](Value offset) { finishPixels(span, offset, partSize()); });
      if (parts < count)
        finishPixels(span, b.index(parts), count - parts);
      firstPart = 0;
    }
  }

  void finishPending() {
    if (!pending)
      return;
    sumsRow = memref::LoadOp::create(b, sumsTurn, b.index(0));
    finishFrom(0);
    pending.reset();
  }

  /// Writes the results of `count` pixels from the `offset`-th of a span on.
  void finishPixels(const Span &span, Value offset, int64_t count) {
    Value sumRow = b.add(offset, span.begin), position = b.add(span.position, offset);
    if (span.row)
      return finishTile(sumRow, {count, span.row, position});
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
    if (!rows.hasGaps() && !rows.isTilePerRow() && rows.positions() > width)
      pixels = {pixels.count, Value(), Value(), b.mulAdd(row, width, pixels.column), width};
    IntegerTile tile(b, pixels.count, blocks);
    Value channel = b.mul(pending->block, kSumBlock);
    // The first row of two is for dot products.
    if (op.getSignedInput())
      channel = b.add(channel, stridesOf(op.getBias())[0]);
    tile.start(bias, channel);
    Value first = b.mul(b.add(sumsRow, sumRow), kSumsPerRow);
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
  /// Pairs of tiles of a run, and positions behind them that are multiplied.
  int64_t whole, rest;
  /// Whether the weights of two blocks are multiplied by all tiles of a run before those of the
  /// next blocks, which are prefetched meanwhile.
  bool streams;
  TileRegisters tiles;
  IntegerEpilogue epilogue;
  int64_t taskRows, taskBlocks;
  Value steps, bias, sums, filter, filterAddress, inputAddress, sumsAddress;
  // The values of the task and the run that are being built.
  Value image, firstBlock, endBlock, row, runAddress;
  // The first row of the buffer that holds the accumulators of the last group, as a variable of the
  // kernel and where the pending group is finished. Groups use the two buffers in turn.
  Value sumsTurn, sumsRow;
  // The group that is multiplied and not finished.
  std::optional<Group> pending;
};

} // namespace

void expandOnTileRegisters(IntegerConv2DOp op, TileAttr tile) { TileConvExpander(op, tile).run(); }

} // namespace atc::cpu
