//===-- ExpandFloatWinograd.cpp - cpu.float_winograd as loops -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// F(4x4, 3x3): sixteen outputs of a channel pair cost 36 products instead of 144; F(2x2, 3x3): four
// cost 16 instead of 36. A task is (image, rows of tiles, group of channel blocks). Inside it:
//
//   transform the tiles of the input      to scratch memory [position][input block][tile][16]
//   for blocks of output channels, as many as a second area of scratch memory holds
//     for position
//       for register tiles                matrix product: tiles by channels
//     transform the products to outputs   bias, residual and activation in registers
//
// Both areas are chosen to stay in L2. Tasks that follow each other in a call and have the same
// tiles share the transformed input.
//
//===----------------------------------------------------------------------===//

#include "dialects/cpu/FloatWinograd.h"
#include "dialects/cpu/Winograd.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/expand/RowInput.h"
#include "passes/cpu/expand/WinogradOutputs.h"
#include "passes/cpu/tiles/Epilogue.h"
#include "passes/cpu/tiles/PixelTiles.h"
#include "passes/cpu/tiles/Scratch.h"
#include "passes/cpu/tiles/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {
#define GEN_PASS_DEF_CPUEXPANDFLOATWINOGRAD
#include "passes/cpu/Passes.h.inc"

namespace {

/// Elements of padding after each position, so that the same tile of all positions is not in one
/// set of a cache.
constexpr int64_t kPositionPadding = 16;

/// The transforms of rows, as few operations on vectors of f32 (kernels/core/WinogradPoint.h).
class Transforms {
public:
  Transforms(KernelBuilder &builder, Winograd form) : b(builder), form(form) {}

  /// Transforms a row of the input to a row of positions.
  Row input(ArrayRef<Value> d) {
    if (form.outputs == 2)
      return {sub(d[0], d[2]), add(d[1], d[2]), sub(d[2], d[1]), sub(d[1], d[3])};
    Value nearEven = madd(d[2], -4 * kA2, d[4]), nearOdd = madd(d[1], -4 * kA2, d[3]);
    Value farEven = madd(d[2], -kA2, d[4]), farOdd = madd(d[1], -kA2, d[3]);
    return {madd(d[0], 4 * kA4, madd(d[2], -5 * kA2, d[4])),
            madd(nearOdd, kA, nearEven),
            madd(nearOdd, -kA, nearEven),
            madd(farOdd, 2 * kA, farEven),
            madd(farOdd, -2 * kA, farEven),
            madd(d[1], 4 * kA4, madd(d[3], -5 * kA2, d[5]))};
  }

  /// Transforms a row of products to a row of outputs.
  Row output(ArrayRef<Value> m) {
    Value sum = add(m[1], m[2]), difference = sub(m[1], m[2]);
    if (form.outputs == 2)
      return {add(m[0], sum), sub(difference, m[3])};
    Value farSum = add(m[3], m[4]), farDifference = sub(m[3], m[4]);
    return {add(add(m[0], sum), farSum), scaled(madd(farDifference, 2, difference), kA),
            scaled(madd(farSum, 4, sum), kA2), madd(madd(farDifference, 8, difference), kA3, m[5])};
  }

private:
  static constexpr double kA = kernels::kWinogradPoint, kA2 = kernels::kWinogradPoint2,
                          kA3 = kernels::kWinogradPoint3, kA4 = kernels::kWinogradPoint4;

  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value scaled(Value x, double factor) {
    return arith::MulFOp::create(b, x, splat(b, x.getType(), factor));
  }
  /// Returns x * factor + y.
  Value madd(Value x, double factor, Value y) {
    return b.madd(x, splat(b, x.getType(), factor), y);
  }

  KernelBuilder &b;
  Winograd form;
};

class FloatWinogradExpander {
public:
  FloatWinogradExpander(FloatWinogradOp op, TileAttr tile)
      : op(op), tile(tile), b(op), form(*Winograd::ofPoints(shapeOf(op.getFilter())[1])),
        transforms(b, form), in(shapeOf(op.getInput())), inStrides(stridesOf(op.getInput())),
        out(op.getOutput(), {1, 1}) {
    width = in[4];
    lanes = std::min(width, b.level().getLanes());
    tileColumns = form.tilesAlong(out.shape()[3]);
    rows = std::min(tile.getRows(), form.tilesAlong(out.shape()[2]));
    tiles = rows * tileColumns;
    groups = std::min(tile.getGroups(), out.shape()[1]);
    depth = std::min(tile.getDepth(), groups);
    inputPosition = in[1] * tiles * width + kPositionPadding;
    productPosition = depth * tiles * width + kPositionPadding;
  }

  void run();

private:
  void transformInput(Value image, Value firstRow);
  void transformTile(ArrayRef<Value> rowAt, ArrayRef<Value> columnAt, Value to);
  void multiply(Value position, Value firstBlock, Value block);
  void transformOutput(Value image, Value firstRow, Value block, Value index);
  void finishTile(Value image, Value tileRow, Value column, Value block, Value from,
                  int64_t columns);
  SmallVector<Value> positions(Value tile, int64_t size, int64_t stride, int64_t missing);

  FloatWinogradOp op;
  TileAttr tile;
  KernelBuilder b;
  Winograd form;
  Transforms transforms;
  ArrayRef<int64_t> in;
  SmallVector<int64_t> inStrides;
  PixelGrid out;
  EpilogueBuffers epilogue;
  int64_t width, lanes, tileColumns, rows, tiles, groups, depth;
  int64_t inputPosition, productPosition; ///< elements between positions in scratch memory
  Value input, filter, output, scratch, productsAt;
};

/// Returns the offsets of the rows (or columns) that a tile reads. Of a tile that extends beyond
/// the input by up to `missing` it clamps the last ones: no valid output depends on them.
SmallVector<Value> FloatWinogradExpander::positions(Value tile, int64_t size, int64_t stride,
                                                    int64_t missing) {
  SmallVector<Value> result;
  Value first = b.mul(tile, form.outputs);
  for (int64_t i = 0; i < form.side(); ++i) {
    Value at = b.add(first, i);
    if (i >= form.side() - missing)
      at = arith::MinUIOp::create(b, at, b.index(size - 1));
    result.push_back(b.mul(at, stride));
  }
  return result;
}

/// Transforms 16 channels of a tile, whose rows and columns are at the given offsets; `to` is the
/// offset of position 0 in scratch memory.
void FloatWinogradExpander::transformTile(ArrayRef<Value> rowAt, ArrayRef<Value> columnAt,
                                          Value to) {
  int64_t side = form.side();
  auto type = VectorType::get({lanes}, b.getF32Type());
  for (int64_t v = 0; v < width; v += lanes) {
    // Down the columns, then along the rows.
    SmallVector<Row> half(side, Row(side));
    for (int64_t j = 0; j < side; ++j) {
      Row column;
      for (int64_t i = 0; i < side; ++i)
        column.push_back(
            vector::LoadOp::create(b, type, input, b.add(b.add(rowAt[i], columnAt[j]), v)));
      for (auto [i, value] : llvm::enumerate(transforms.input(column)))
        half[i][j] = value;
    }
    for (int64_t i = 0; i < side; ++i)
      for (auto [j, value] : llvm::enumerate(transforms.input(half[i])))
        vector::StoreOp::create(b, value, scratch,
                                ValueRange{b.add(to, (i * side + int64_t(j)) * inputPosition + v)});
  }
}

void FloatWinogradExpander::transformInput(Value image, Value firstRow) {
  int64_t outHeight = out.shape()[2], outWidth = out.shape()[3];
  // Whole tasks may have more rows of tiles than are left.
  int64_t missingRows = llvm::alignTo(form.tilesAlong(outHeight), rows) * form.outputs - outHeight;
  int64_t missingColumns = tileColumns * form.outputs - outWidth;
  int64_t whole = missingColumns ? tileColumns - 1 : tileColumns;
  b.loop(in[1], [&](Value block) {
    Value base = b.mulAdd(block, inStrides[1], b.mul(image, inStrides[0]));
    Value to = b.mul(block, tiles * width);
    b.loop(rows, [&](Value row) {
      SmallVector<Value> rowAt = positions(b.add(firstRow, row), in[2], inStrides[2], missingRows);
      for (Value &at : rowAt)
        at = b.add(at, base);
      Value rowTo = b.mulAdd(row, tileColumns * width, to);
      b.loop(whole, [&](Value column) {
        // Columns are constants apart, which addressing modes absorb.
        SmallVector<Value> here, columnAt;
        for (Value at : rowAt)
          here.push_back(b.mulAdd(column, form.outputs * inStrides[3], at));
        for (int64_t j = 0; j < form.side(); ++j)
          columnAt.push_back(b.index(j * inStrides[3]));
        transformTile(here, columnAt, b.mulAdd(column, width, rowTo));
      });
      if (missingColumns)
        transformTile(rowAt, positions(b.index(whole), in[3], inStrides[3], missingColumns),
                      b.add(rowTo, whole * width));
    });
  });
}

/// Multiplies one position of all tiles of the task by the weights of `tile.blocks` blocks.
void FloatWinogradExpander::multiply(Value position, Value firstBlock, Value block) {
  int64_t channels = in[1] * width, blocks = tile.getBlocks();
  int64_t panel = channels * width, blockStride = form.points() * panel;
  // The panel that comes next: of this position for the next blocks, else of the next position.
  const int64_t distance = depth > blocks ? blocks * blockStride : panel;
  Value from = b.mul(position, inputPosition);
  Value weightsAt = b.mulAdd(block, blockStride, b.mul(position, panel));
  Value nextAt = b.add(weightsAt, distance);
  Value inPass = arith::SubIOp::create(b, block, firstBlock);
  Value to = b.mulAdd(position, productPosition, b.mulAdd(inPass, tiles * width, productsAt));
  auto flat = TileAttr::get(b.getContext(), tile.getPixels(), 1, 1, 1, 1, /*flatten=*/false);
  const PixelTiling tiling(1, tiles, flat);
  tiling.forEachTile(b, b.index(0), [&](const PixelTile &run) {
    RegisterTile acc(b, run.count, blocks, width);
    acc.zero();
    SmallVector<Address> tileAt, productAt;
    Value first = b.mulAdd(run.column, width, from), firstTo = b.mulAdd(run.column, width, to);
    for (int64_t p = 0; p < run.count; ++p) {
      tileAt.push_back({first, p * width});
      productAt.push_back({firstTo, p * width});
    }
    const Lookahead ahead{nextAt, tiling.tilesPerTask(), run.ordinal};
    acc.contract(scratch, tileAt, filter, {weightsAt}, blockStride,
                 {{in[1], tiles * width, width * width}, {width, 1, width, /*unroll=*/true}},
                 /*lastBlockWidth=*/0, &ahead);
    acc.store(scratch, productAt, tiles * width);
  });
}

/// Computes the outputs of one tile in `columns` columns from the products, position 0 of which is
/// at `from`. Rows below the last one are not written.
void FloatWinogradExpander::finishTile(Value image, Value tileRow, Value column, Value block,
                                       Value from, int64_t columns) {
  int64_t outputs = form.outputs, height = out.shape()[2];
  RegisterTile line(b, columns, 1, width);
  auto half = transformColumns(transforms, form, line.vectors(), [&](int64_t v, int64_t position) {
    return line.loadVector(scratch, {from, position * productPosition + v * lanes});
  });
  Value firstY = b.mul(tileRow, outputs), x = b.mul(column, outputs);
  int64_t coveredRows = llvm::alignTo(form.tilesAlong(height), rows) * outputs;
  finishRows(b, form, firstY, height, coveredRows, [&](int64_t i, Value y) {
    PixelTile pixels{columns, y, x, Value(), 0, Value()};
    auto addressesIn = [&](const PixelGrid &grid) {
      return grid.addresses(b, pixels,
                            b.mulAdd(image, grid.stride(0), b.mul(block, grid.stride(1))));
    };
    EpilogueAt at{{b.mul(block, width)}, {}, 0};
    if (epilogue.residual)
      at.residual = addressesIn(PixelGrid(op.getResidual(), {1, 1}));
    startSum(b, line, epilogue, at, width);
    SmallVector<Row> values;
    for (int64_t v = 0; v < line.vectors(); ++v)
      values.push_back(transforms.output(half[v][i]));
    line.map([&](Value sum, int64_t p, int64_t, int64_t v) -> Value {
      return arith::AddFOp::create(b, sum, values[v][p]);
    });
    finishSum(b, line, epilogue, at, width);
    line.store(output, addressesIn(out), /*blockStride=*/0);
  });
}

void FloatWinogradExpander::transformOutput(Value image, Value firstRow, Value block, Value index) {
  int64_t whole = out.shape()[3] / form.outputs, rest = out.shape()[3] % form.outputs;
  b.loop(rows, [&](Value row) {
    Value tileRow = b.add(firstRow, row);
    Value from = b.mulAdd(index, tiles * width, b.mulAdd(row, tileColumns * width, productsAt));
    b.loop(whole, [&](Value column) {
      finishTile(image, tileRow, column, block, b.mulAdd(column, width, from), form.outputs);
    });
    if (rest)
      finishTile(image, tileRow, b.index(whole), block, b.add(from, whole * width), rest);
  });
}

void FloatWinogradExpander::run() {
  scratch = addScratch(op, form.points() * (inputPosition + productPosition));
  auto kernel = op->getParentOfType<func::FuncOp>();
  Value begin = kernel.getArgument(kernel.getNumArguments() - 2);
  input = b.flat(op.getInput());
  filter = b.flat(op.getFilter());
  output = b.flat(op.getOutput());
  epilogue = epilogueOf(b, op);
  productsAt = b.index(form.points() * inputPosition);

  ArrayRef<int64_t> shape = out.shape();
  int64_t groupTasks = llvm::divideCeil(shape[1], groups);
  int64_t rowTasks = llvm::divideCeil(form.tilesAlong(shape[2]), rows);
  SmallVector<Value> task = b.beginTasks({shape[0], rowTasks, groupTasks});
  Value firstRow = b.mul(task[1], rows);
  emitRowInput(b, task, groupTasks, begin, [&] { transformInput(task[0], firstRow); });

  auto endOf = [&](Value first, int64_t count, int64_t total, Value limit) {
    Value end = b.add(first, count);
    return total % count ? arith::MinUIOp::create(b, end, limit).getResult() : end;
  };
  Value firstBlock = b.mul(task[2], groups);
  Value endBlock = endOf(firstBlock, groups, shape[1], b.index(shape[1]));
  b.loop(firstBlock, endBlock, depth, [&](Value first) {
    // The last group of tasks may be smaller than the others.
    bool even = shape[1] % groups == 0 && groups % depth == 0;
    Value end = b.add(first, depth);
    if (!even)
      end = arith::MinUIOp::create(b, end, endBlock);
    b.loop(form.points(), [&](Value position) {
      b.loop(first, end, tile.getBlocks(), [&](Value block) { multiply(position, first, block); });
    });
    b.loop(first, end, 1, [&](Value block) {
      transformOutput(task[0], firstRow, block, arith::SubIOp::create(b, block, first));
    });
  });
  op.erase();
}

struct CpuExpandFloatWinogradPass : impl::CpuExpandFloatWinogradBase<CpuExpandFloatWinogradPass> {
  void runOnOperation() override {
    getOperation().walk([&](FloatWinogradOp op) {
      TileAttr tile = op.getTileAttr();
      if (!tile || shapeOf(op.getOutput())[1] % tile.getBlocks() ||
          tile.getGroups() % tile.getBlocks() || tile.getDepth() % tile.getBlocks()) {
        op.emitOpError("needs a tile whose blocks divide the output's, its groups and its depth; "
                       "run cpu-select-tiles first");
        return signalPassFailure();
      }
      FloatWinogradExpander(op, tile).run();
    });
  }
};

} // namespace
} // namespace atc::cpu
