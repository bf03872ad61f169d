//===-- ExpandWinograd.cpp - integer 3x3 convolutions with fewer products -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F(2x2, 3x3): four outputs of a channel pair cost 16 products instead of 36.
// F(4x4, 3x3): sixteen cost 36 instead of 144.
//
//   cpu.winograd_input   transforms each tile of the input to 16-bit values, one per
//                        position
//   cpu.winograd_conv2d  computes a matrix product per position, tiles by channels;
//                        then transforms the 32-bit accumulators to the tile's outputs
//
// Everything is exact: the accumulators have a factor, which the last step divides out.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/Winograd.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/WinogradOutputs.h"
#include "passes/cpu/tiles/IntegerDot.h"
#include "passes/cpu/tiles/IntegerTile.h"
#include "passes/cpu/tiles/PixelTiles.h"
#include "passes/cpu/tiles/Scratch.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDWINOGRAD
#include "passes/cpu/Passes.h.inc"

namespace {

/// The transforms of rows, as few operations on vectors of integers.
class Transforms {
public:
  Transforms(KernelBuilder &builder, Winograd form) : b(builder), form(form) {}

  /// Transforms a row of the input to a row of positions.
  Row input(ArrayRef<Value> d) {
    if (form.outputs == 2)
      return {sub(d[0], d[2]), add(d[1], d[2]), sub(d[2], d[1]), sub(d[1], d[3])};
    Value a = sub(d[4], shift(d[2], 2)), b = sub(d[3], shift(d[1], 2));
    Value c = sub(d[4], d[2]), e = sub(d[3], d[1]), twice = shift(e, 1);
    return {add(shift(sub(d[0], d[2]), 2), c),
            add(a, b),
            sub(a, b),
            add(c, twice),
            sub(c, twice),
            add(shift(sub(d[1], d[3]), 2), sub(d[5], d[3]))};
  }

  /// Transforms a row of accumulators to a row of outputs.
  Row output(ArrayRef<Value> m) {
    if (form.outputs == 2)
      return {add(add(m[0], m[1]), m[2]), sub(sub(m[1], m[2]), m[3])};
    Value a = shift(add(m[1], m[2]), 2), b = shift(sub(m[1], m[2]), 2);
    Value c = add(m[3], m[4]), d = sub(m[3], m[4]);
    Value first = add(shift(m[0], 2), shift(m[0], 1)), last = add(shift(m[5], 4), shift(m[5], 3));
    return {add(add(first, a), c), add(b, shift(d, 1)), add(a, shift(c, 2)),
            add(add(b, shift(d, 3)), last)};
  }

  /// Takes back the factor of an output: an odd one by its inverse modulo 2^32.
  Value scaledBack(Value sum) {
    uint32_t inverse = 1;
    for (int i = 0; i < 5; ++i)
      inverse *= 2 - form.odd * inverse;
    if (form.odd != 1)
      sum = arith::MulIOp::create(b, sum, splat(b, sum.getType(), inverse));
    return arith::ShRSIOp::create(b, sum, splat(b, sum.getType(), form.shift));
  }

private:
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value shift(Value x, int64_t bits) {
    return arith::ShLIOp::create(b, x, splat(b, x.getType(), bits));
  }

  KernelBuilder &b;
  Winograd form;
};

class InputExpander {
public:
  explicit InputExpander(WinogradInputOp op)
      : op(op), b(op), form(*Winograd::ofPoints(shapeOf(op.getOutput())[1])), transforms(b, form),
        in(shapeOf(op.getInput())), strides(stridesOf(op.getInput())) {}

  void run() {
    Value input = b.flat(op.getInput()), output = b.flat(op.getOutput());
    ArrayRef<int64_t> out = shapeOf(op.getOutput());
    int64_t tileRows = form.tilesAlong(in[2] - 2), tileColumns = form.tilesAlong(in[3] - 2);
    int64_t side = form.side(), tiles = out[2], channels = out[3];
    SmallVector<Value> task = b.beginTasks({in[0], tileRows});
    Value image = b.mul(task[0], strides[0]);
    b.loop(tileColumns, [&](Value column) {
      Row rowAt = positions(task[1], in[2], strides[2], image);
      Row columnAt = positions(column, in[3], strides[3], b.index(0));
      Value tile = b.add(b.mul(task[1], tileColumns), column);
      Value firstOut = b.mulAdd(tile, channels, b.mul(task[0], form.points() * tiles * channels));
      b.loop(in[1], [&](Value block) {
        Value blockAt = b.mul(block, strides[1]);
        // Down the columns, then along the rows.
        SmallVector<Row> half(side, Row(side));
        for (int64_t j = 0; j < side; ++j) {
          Row piece;
          for (int64_t i = 0; i < side; ++i)
            piece.push_back(load(input, b.add(b.add(rowAt[i], columnAt[j]), blockAt)));
          for (auto [i, value] : llvm::enumerate(transforms.input(piece)))
            half[i][j] = value;
        }
        Value outAt = b.mulAdd(block, kSumBlock, firstOut);
        for (int64_t i = 0; i < side; ++i)
          for (auto [j, value] : llvm::enumerate(transforms.input(half[i])))
            vector::StoreOp::create(
                b, value, output,
                ValueRange{b.add(outAt, (i * side + int64_t(j)) * tiles * channels)});
      });
    });
    op.erase();
  }

private:
  /// Returns the positions of the rows (or columns) of a tile. A last tile that extends beyond the
  /// input reads the last one again: no valid output depends on it.
  Row positions(Value tile, int64_t size, int64_t stride, Value base) {
    int64_t missing = form.tilesAlong(size - 2) * form.outputs - (size - 2);
    Row result;
    for (int64_t i = 0; i < form.side(); ++i) {
      Value at = b.add(b.mul(tile, form.outputs), i);
      if (i >= form.side() - missing)
        at = arith::MinUIOp::create(b, at, b.index(size - 1));
      result.push_back(b.mulAdd(at, stride, base));
    }
    return result;
  }
  Value load(Value flat, Value at) {
    Value bytes = vector::LoadOp::create(b, VectorType::get({kSumBlock}, b.getI8Type()), flat, at);
    auto wide = VectorType::get({kSumBlock}, b.getI16Type());
    return op.getSignedInput() ? arith::ExtSIOp::create(b, wide, bytes).getResult()
                               : arith::ExtUIOp::create(b, wide, bytes).getResult();
  }

  WinogradInputOp op;
  KernelBuilder b;
  Winograd form;
  Transforms transforms;
  ArrayRef<int64_t> in;
  SmallVector<int64_t> strides;
};

class ConvExpander {
public:
  ConvExpander(WinogradConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), in(shapeOf(op.getInput())), form(*Winograd::ofPoints(in[1])),
        transforms(b, form), epilogue(b, op) {}

  void run() {
    ArrayRef<int64_t> out = epilogue.grid().shape();
    height = out[2];
    width = out[3];
    tileColumns = form.tilesAlong(width);
    tiles = tile.getRows() * tileColumns;
    input = b.flat(op.getInput());
    filter = b.flat(op.getFilter());
    bias = b.flat(op.getBias());
    const int64_t together = std::min(tile.getBlocks(), out[1]);
    scratch = addScratch(op, together * blockSums());
    int64_t groups = std::min(tile.getGroups(), out[1]);
    const int64_t groupTasks = llvm::divideCeil(out[1], groups),
                  rowTasks = form.tilesAlong(height) / tile.getRows();
    // In large planes the rows are slower than the groups, as in PixelTiling::beginTasks(): threads
    // find in their own caches the rows that they have transformed.
    const bool byRows = isLargePlane(height, width, out[1] * kSumBlock);
    SmallVector<Value> task = byRows ? b.beginTasks({out[0], rowTasks, groupTasks})
                                     : b.beginTasks({out[0], groupTasks, rowTasks});
    if (byRows)
      std::swap(task[1], task[2]);
    Value firstRow = b.mul(task[2], tile.getRows());
    forBlocksOfTask(b, task[1], groups, out[1], together, [&](Value block, int64_t blocks) {
      b.loop(form.points(),
             [&](Value point) { multiply(task[0], block, blocks, point, firstRow); });
      b.loop(blocks, [&](Value index) { finishBlock(task[0], block, index, firstRow); });
    });
    op.erase();
  }

private:
  /// Returns the accumulators of a block in scratch memory, which has [block][position][tile][16].
  int64_t blockSums() const { return form.points() * tiles * kSumBlock; }

  /// Multiplies one position of all tiles of the task by the weights of `blocks` blocks, the first
  /// of which is `block`.
  void multiply(Value image, Value block, int64_t blocks, Value point, Value firstRow) {
    const int64_t channels = in[3], panel = channels * kSumBlock;
    Value tilesAt =
        b.mulAdd(image, form.points() * in[2] * channels,
                 b.mulAdd(point, in[2] * channels, b.mul(firstRow, tileColumns * channels)));
    Value weightsAt = b.mul(b.mulAdd(block, form.points(), point), panel);
    Value sumsAt = b.mul(point, tiles * kSumBlock);
    auto flat = TileAttr::get(b.getContext(), tile.getPixels(), 1, 1, 1, 1, false);
    PixelTiling(1, tiles, flat).forEachTile(b, b.index(0), [&](const PixelTile &run) {
      IntegerTile acc(b, run.count, blocks);
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(acc.vectorType(b.getI32Type())));
      llvm::fill(acc.values(), zero);
      PairDot dot(b, acc.lanes());
      Value first = b.mulAdd(run.column, channels, tilesAt);
      // Channels are whole blocks: several pairs share what a loop costs, where a tile has few
      // products. LLVM would make two instructions of each but the first in a chain of dot
      // products.
      const int64_t pairs = blocks > 1 ? 1 : 2;
      acc.values() = b.loop(channels / (2 * pairs), acc.values(), [&](Value i, ValueRange carried) {
        acc.values().assign(carried.begin(), carried.end());
        for (int64_t pair = 0; pair < pairs; ++pair) {
          Value at = b.add(b.mulAdd(i, pairs * 2 * kSumBlock, weightsAt), pair * 2 * kSumBlock);
          SmallVector<SmallVector<Value>> weights(blocks);
          for (auto [j, list] : llvm::enumerate(weights)) {
            Value blockAt = b.add(at, j * form.points() * panel);
            for (int64_t v = 0; v < acc.vectors(); ++v)
              list.push_back(dot.load(filter, b.add(blockAt, v * acc.lanes() * 2)));
            memref::PrefetchOp::create(b, filter, ValueRange{b.add(blockAt, panel)},
                                       /*isWrite=*/false, /*localityHint=*/3,
                                       /*isDataCache=*/true);
          }
          Value numbersAt = b.add(b.mulAdd(i, pairs * 2, first), pair * 2);
          for (int64_t p = 0; p < run.count; ++p) {
            Value numbers = dot.spreadPair(input, b.add(numbersAt, p * channels));
            for (int64_t j = 0; j < blocks; ++j)
              for (auto [sum, factors] : llvm::zip_equal(acc.ofPixel(p, j), weights[j]))
                sum = dot.add(sum, numbers, factors);
          }
        }
        return acc.values();
      });
      Value to = b.mulAdd(run.column, kSumBlock, sumsAt);
      for (int64_t j = 0; j < blocks; ++j)
        for (int64_t p = 0; p < run.count; ++p)
          for (auto [v, sum] : llvm::enumerate(acc.ofPixel(p, j)))
            vector::StoreOp::create(
                b, vector::BitCastOp::create(b, acc.vectorType(b.getF32Type()), sum), scratch,
                ValueRange{b.add(to, j * blockSums() + p * kSumBlock + int64_t(v) * acc.lanes())});
    });
  }

  /// Computes the outputs of all tiles of the task in the block that is `index` behind `first`.
  void finishBlock(Value image, Value first, Value index, Value firstRow) {
    Value block = b.add(first, index), sumsAt = b.mul(index, blockSums());
    b.loop(tile.getRows(), [&](Value row) {
      int64_t whole = width / form.outputs, rest = width % form.outputs;
      b.loop(whole, [&](Value column) {
        finishTile(image, block, sumsAt, firstRow, row, column, form.outputs);
      });
      if (rest)
        finishTile(image, block, sumsAt, firstRow, row, b.index(whole), rest);
    });
  }

  /// The outputs of one tile in `columns` columns; in the last row of tiles there may be
  /// rows less. The accumulators of the block begin at `sumsAt`.
  void finishTile(Value image, Value block, Value sumsAt, Value firstRow, Value row, Value column,
                  int64_t columns) {
    int64_t outputs = form.outputs;
    Value tileAt = b.mulAdd(b.mulAdd(row, tileColumns, column), kSumBlock, sumsAt);
    IntegerTile line(b, columns);
    auto half =
        transformColumns(transforms, form, line.vectors(), [&](int64_t v, int64_t position) {
          Value stored = vector::LoadOp::create(
              b, line.vectorType(b.getF32Type()), scratch,
              ValueRange{b.add(tileAt, position * tiles * kSumBlock + v * line.lanes())});
          return vector::BitCastOp::create(b, line.vectorType(b.getI32Type()), stored);
        });
    Value firstY = b.mul(b.add(firstRow, row), outputs), x = b.mul(column, outputs);
    finishRows(b, form, firstY, height, form.tilesAlong(height) * outputs, [&](int64_t i, Value y) {
      line.start(bias, b.mul(block, kSumBlock));
      for (int64_t v = 0; v < line.vectors(); ++v) {
        Row numbers = transforms.output(half[v][i]);
        for (int64_t p = 0; p < columns; ++p)
          line.sum(p, v) =
              arith::AddIOp::create(b, line.sum(p, v), transforms.scaledBack(numbers[p]));
      }
      epilogue.finish(line, {columns, y, x, Value(), 0, Value()}, image, block);
    });
  }

  WinogradConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  ArrayRef<int64_t> in;
  Winograd form;
  Transforms transforms;
  IntegerEpilogue epilogue;
  int64_t height = 0, width = 0, tileColumns = 0, tiles = 0;
  Value input, filter, bias, scratch;
};

struct CpuExpandWinogradPass : impl::CpuExpandWinogradBase<CpuExpandWinogradPass> {
  void runOnOperation() override {
    getOperation().walk([](WinogradInputOp op) { InputExpander(op).run(); });
    getOperation().walk([&](WinogradConv2DOp op) {
      if (TileAttr tile = op.getTileAttr())
        return ConvExpander(op, tile).run();
      op.emitOpError("needs a tile; run cpu-select-tiles first");
      signalPassFailure();
    });
  }
};

} // namespace
} // namespace atc::cpu
