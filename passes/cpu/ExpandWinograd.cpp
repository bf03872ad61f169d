//===-- ExpandWinograd.cpp - integer 3x3 convolutions by fewer products ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F(2x2, 3x3): four outputs of a channel pair cost 16 products instead of 36.
//
//   cpu.winograd_input   each 4x4 piece of the input to 16 sums of 16 bits
//   cpu.winograd_conv2d  for each of the 16 places a product of matrices, tiles by
//                        channels; then 16 sums of 32 bits to 2x2 outputs
//
// Everything is exact: the weights carry a factor of four, which the last step
// takes back.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/IntegerDot.h"
#include "passes/cpu/IntegerTile.h"
#include "passes/cpu/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDWINOGRAD
#include "passes/cpu/Passes.h.inc"

namespace {

/// Places of a tile in the transformed domain, and of a row of it.
constexpr int64_t kPlaces = 16, kSide = 4;

using Row = std::array<Value, kSide>;

class InputExpander {
public:
  explicit InputExpander(WinogradInputOp op)
      : op(op), b(op), in(shapeOf(op.getInput())), strides(stridesOf(op.getInput())) {}

  void run() {
    Value input = b.flat(op.getInput()), output = b.flat(op.getOutput());
    ArrayRef<int64_t> out = shapeOf(op.getOutput());
    int64_t tileRows = llvm::divideCeil(in[2] - 2, 2), tileColumns = llvm::divideCeil(in[3] - 2, 2);
    int64_t tiles = out[2], channels = out[3];
    SmallVector<Value> task = b.beginTasks({in[0], tileRows});
    Value image = b.mul(task[0], strides[0]);
    b.loop(tileColumns, [&](Value column) {
      Row rowAt = positions(task[1], in[2], strides[2], image);
      Row columnAt = positions(column, in[3], strides[3], b.index(0));
      Value tile = b.add(b.mul(task[1], tileColumns), column);
      Value firstOut = b.mulAdd(tile, channels, b.mul(task[0], kPlaces * tiles * channels));
      b.loop(in[1], [&](Value block) {
        Value blockAt = b.mul(block, strides[1]);
        std::array<Row, kSide> piece;
        for (int64_t i = 0; i < kSide; ++i)
          for (int64_t j = 0; j < kSide; ++j)
            piece[i][j] = load(input, b.add(b.add(rowAt[i], columnAt[j]), blockAt));
        // Down the columns, then along the rows.
        std::array<Row, kSide> half;
        for (int64_t j = 0; j < kSide; ++j) {
          Row column = transform({piece[0][j], piece[1][j], piece[2][j], piece[3][j]});
          for (int64_t i = 0; i < kSide; ++i)
            half[i][j] = column[i];
        }
        Value outAt = b.mulAdd(block, kSumBlock, firstOut);
        for (int64_t i = 0; i < kSide; ++i)
          for (auto [j, value] : llvm::enumerate(transform(half[i])))
            vector::StoreOp::create(
                b, value, output,
                ValueRange{b.add(outAt, (i * kSide + int64_t(j)) * tiles * channels)});
      });
    });
    op.erase();
  }

private:
  /// Where the four rows (or columns) of a tile are. A last tile that is cut off
  /// reads the last one again: no output that exists depends on it.
  Row positions(Value tile, int64_t size, int64_t stride, Value base) {
    Row result;
    for (int64_t i = 0; i < kSide; ++i) {
      Value at = b.add(b.mul(tile, 2), i);
      if (size % 2 && i == kSide - 1)
        at = arith::MinUIOp::create(b, at, b.index(size - 1));
      result[i] = b.mulAdd(at, stride, base);
    }
    return result;
  }
  Value load(Value flat, Value at) {
    Value bytes = vector::LoadOp::create(b, VectorType::get({kSumBlock}, b.getI8Type()), flat, at);
    auto wide = VectorType::get({kSumBlock}, b.getI16Type());
    return op.getSignedInput() ? arith::ExtSIOp::create(b, wide, bytes).getResult()
                               : arith::ExtUIOp::create(b, wide, bytes).getResult();
  }
  Row transform(const Row &d) {
    auto add = [&](Value x, Value y) { return arith::AddIOp::create(b, x, y).getResult(); };
    auto sub = [&](Value x, Value y) { return arith::SubIOp::create(b, x, y).getResult(); };
    return {sub(d[0], d[2]), add(d[1], d[2]), sub(d[2], d[1]), sub(d[1], d[3])};
  }

  WinogradInputOp op;
  KernelBuilder b;
  ArrayRef<int64_t> in;
  SmallVector<int64_t> strides;
};

class ConvExpander {
public:
  ConvExpander(WinogradConv2DOp op, TileAttr tile)
      : op(op), tile(tile), b(op), in(shapeOf(op.getInput())), epilogue(b, op) {}

  void run() {
    ArrayRef<int64_t> out = epilogue.grid().shape();
    height = out[2];
    width = out[3];
    tileColumns = llvm::divideCeil(width, 2);
    tiles = tile.getRows() * tileColumns;
    input = b.flat(op.getInput());
    filter = b.flat(op.getFilter());
    bias = b.flat(op.getBias());
    // One for all tasks of a call, on its stack.
    sums = memref::AllocaOp::create(
        b, MemRefType::get({kPlaces * tiles * kSumBlock}, b.getI32Type()), b.getI64IntegerAttr(64));
    int64_t groups = std::min(tile.getGroups(), out[1]);
    SmallVector<Value> task = b.beginTasks({out[0], int64_t(llvm::divideCeil(out[1], groups)),
                                            int64_t(llvm::divideCeil(height, 2)) / tile.getRows()});
    Value firstBlock = b.mul(task[1], groups), endBlock = b.add(firstBlock, groups);
    if (out[1] % groups)
      endBlock = arith::MinUIOp::create(b, endBlock, b.index(out[1]));
    Value firstRow = b.mul(task[2], tile.getRows());
    b.loop(firstBlock, endBlock, 1, [&](Value block) {
      b.loop(kPlaces, [&](Value place) { multiply(task[0], block, place, firstRow); });
      b.loop(tile.getRows(), [&](Value row) {
        int64_t whole = width / 2;
        b.loop(whole, [&](Value column) { finishTile(task[0], block, firstRow, row, column, 2); });
        if (width % 2)
          finishTile(task[0], block, firstRow, row, b.index(whole), 1);
      });
    });
    op.erase();
  }

private:
  /// The sums of one place for all tiles of the task.
  void multiply(Value image, Value block, Value place, Value firstRow) {
    int64_t channels = in[3];
    Value tilesAt =
        b.mulAdd(image, kPlaces * in[2] * channels,
                 b.mulAdd(place, in[2] * channels, b.mul(firstRow, tileColumns * channels)));
    Value weightsAt = b.mul(b.mulAdd(block, kPlaces, place), channels * kSumBlock);
    Value sumsAt = b.mul(place, tiles * kSumBlock);
    auto flat = TileAttr::get(b.getContext(), tile.getPixels(), 1, 1, 1, 1, false);
    PixelTiling(1, tiles, flat).forEachTile(b, b.index(0), [&](const PixelTile &run) {
      IntegerTile acc(b, run.count);
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(acc.vectorType(b.getI32Type())));
      llvm::fill(acc.values(), zero);
      PairDot dot(b, acc.lanes());
      Value first = b.mulAdd(run.column, channels, tilesAt);
      acc.values() = b.loop(channels / 2, acc.values(), [&](Value pair, ValueRange carried) {
        acc.values().assign(carried.begin(), carried.end());
        SmallVector<Value> weights;
        for (int64_t v = 0; v < acc.vectors(); ++v)
          weights.push_back(dot.load(
              filter, b.add(b.mulAdd(pair, 2 * kSumBlock, weightsAt), v * acc.lanes() * 2)));
        Value at = b.mulAdd(pair, 2, first);
        for (int64_t p = 0; p < run.count; ++p) {
          Value numbers = dot.spreadPair(input, b.add(at, p * channels));
          for (int64_t v = 0; v < acc.vectors(); ++v)
            acc.sum(p, v) = dot.add(acc.sum(p, v), numbers, weights[v]);
        }
        return acc.values();
      });
      for (int64_t p = 0; p < run.count; ++p)
        for (int64_t v = 0; v < acc.vectors(); ++v)
          vector::StoreOp::create(b, acc.sum(p, v), sums,
                                  ValueRange{b.add(b.mulAdd(run.column, kSumBlock, sumsAt),
                                                   p * kSumBlock + v * acc.lanes())});
    });
  }

  /// 2 x `columns` outputs of one tile; in the last row of tiles there may be one
  /// row less.
  void finishTile(Value image, Value block, Value firstRow, Value row, Value column,
                  int64_t columns) {
    IntegerTile rows[2] = {{b, columns}, {b, columns}};
    Value tileAt = b.mul(b.mulAdd(row, tileColumns, column), kSumBlock);
    for (IntegerTile &half : rows)
      half.start(bias, b.mul(block, kSumBlock));
    for (int64_t v = 0; v < rows[0].vectors(); ++v) {
      std::array<std::array<Value, kSide>, 2> half;
      for (int64_t j = 0; j < kSide; ++j) {
        Row place;
        for (int64_t i = 0; i < kSide; ++i)
          place[i] = vector::LoadOp::create(
              b, rows[0].vectorType(b.getI32Type()), sums,
              ValueRange{b.add(tileAt, (i * kSide + j) * tiles * kSumBlock + v * rows[0].lanes())});
        std::array<Value, 2> column = transform(place);
        half[0][j] = column[0];
        half[1][j] = column[1];
      }
      auto two =
          arith::ConstantOp::create(b, DenseElementsAttr::get(rows[0].vectorType(b.getI32Type()),
                                                              Attribute(b.getI32IntegerAttr(2))));
      for (int64_t i = 0; i < 2; ++i) {
        std::array<Value, 2> pair = transform(half[i]);
        for (int64_t p = 0; p < columns; ++p)
          rows[i].sum(p, v) =
              arith::AddIOp::create(b, rows[i].sum(p, v), arith::ShRSIOp::create(b, pair[p], two));
      }
    }
    Value y = b.mul(b.add(firstRow, row), 2), x = b.mul(column, 2);
    epilogue.finish(rows[0], {columns, y, x, Value(), 0, Value()}, image, block);
    Value below = b.add(y, 1);
    auto finishBelow = [&] {
      epilogue.finish(rows[1], {columns, below, x, Value(), 0, Value()}, image, block);
    };
    if (height % 2 == 0)
      return finishBelow();
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, below, b.index(height));
    auto ifOp = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    finishBelow();
  }

  std::array<Value, 2> transform(const Row &m) {
    auto add = [&](Value x, Value y) { return arith::AddIOp::create(b, x, y).getResult(); };
    auto sub = [&](Value x, Value y) { return arith::SubIOp::create(b, x, y).getResult(); };
    return {add(add(m[0], m[1]), m[2]), sub(sub(m[1], m[2]), m[3])};
  }

  WinogradConv2DOp op;
  TileAttr tile;
  KernelBuilder b;
  ArrayRef<int64_t> in;
  IntegerEpilogue epilogue;
  int64_t height = 0, width = 0, tileColumns = 0, tiles = 0;
  Value input, filter, bias, sums;
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
