//===-- PixelTiles.cpp - walking the output pixels in tiles ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/PixelTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace atc::cpu {

PixelGrid::PixelGrid(Value buffer, ArrayRef<int64_t> steps)
    : PixelGrid(shapeOf(buffer), stridesOf(buffer), steps) {}

PixelGrid::PixelGrid(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, ArrayRef<int64_t> steps)
    : sizes(sizes), strides(strides), rowStep(steps[0] * strides[2]),
      columnStep(steps[1] * strides[3]) {}

SmallVector<Address> PixelGrid::addresses(KernelBuilder &b, const PixelTile &tile,
                                          Value base) const {
  SmallVector<Address> result;
  if (!tile.flat) {
    Value first = b.mulAdd(tile.row, rowStep, b.mulAdd(tile.column, columnStep, base));
    for (int64_t p = 0; p < tile.count; ++p)
      result.push_back({first, p * columnStep});
    return result;
  }
  // Rows that follow each other without a gap are one long row.
  if (rowStep == tile.rowLength * columnStep) {
    Value first = b.mulAdd(tile.flat, columnStep, base);
    for (int64_t p = 0; p < tile.count; ++p)
      result.push_back({first, p * columnStep});
    return result;
  }
  for (int64_t p = 0; p < tile.count; ++p) {
    Value pixel = b.add(tile.flat, p), length = b.index(tile.rowLength);
    Value row = arith::DivUIOp::create(b, pixel, length);
    Value column = arith::RemUIOp::create(b, pixel, length);
    result.push_back({b.mulAdd(row, rowStep, b.mulAdd(column, columnStep, base)), 0});
  }
  return result;
}

PixelTiling::PixelTiling(int64_t height, int64_t width, TileAttr tile, int64_t columnTasks)
    : height(height), width(width), pixels(tile.getPixels()),
      rows(tile.getFlatten() ? height : std::min(tile.getRows(), height)),
      flatten(tile.getFlatten()) {
  if (const int64_t part = columnsPerTask(width, pixels, columnTasks);
      height == 1 && part < width) {
    columns = part;
    flatten = false;
  }
}

int64_t PixelTiling::columnsPerTask(int64_t width, int64_t pixels, int64_t tasks) {
  constexpr int64_t kTilesPerTask = 8;
  tasks = std::clamp<int64_t>(width / (kTilesPerTask * pixels), 1, tasks);
  return llvm::alignTo(llvm::divideCeil(width, tasks), pixels);
}

int64_t PixelTiling::tilesPerTask() const {
  if (columns)
    return columns / pixels;
  return flatten ? llvm::divideCeil(height * width, pixels)
                 : rows * llvm::divideCeil(width, pixels);
}

SmallVector<Value, 3> PixelTiling::beginTasks(KernelBuilder &b, int64_t images, int64_t groups,
                                              int64_t channels) const {
  if (isLargePlane(height, width, channels)) {
    SmallVector<Value> task = b.beginTasks({images, tasks(), groups});
    return {task[0], task[2], task[1]};
  }
  SmallVector<Value> task = b.beginTasks({images, groups, tasks()});
  return {task[0], task[1], task[2]};
}

void PixelTiling::forEachRun(KernelBuilder &b, int64_t length,
                             function_ref<void(Value, int64_t, Value)> body) const {
  int64_t tiles = llvm::divideCeil(length, pixels), small = length / tiles;
  int64_t largeTiles = length % tiles, large = small + 1;
  if (largeTiles)
    b.loop(largeTiles, [&](Value i) { body(b.mul(i, large), large, i); });
  if (tiles > largeTiles)
    b.loop(tiles - largeTiles, [&](Value i) {
      body(b.add(b.mul(i, small), largeTiles * large), small, b.add(i, largeTiles));
    });
}

/// Builds the loop over the tiles of `length` columns from `first` on.
void PixelTiling::forEachColumns(KernelBuilder &b, Value first, int64_t length,
                                 function_ref<void(const PixelTile &)> body) const {
  forEachRun(b, length, [&](Value column, int64_t count, Value ordinal) {
    body({count, b.index(0), b.add(first, column), Value(), 0, ordinal});
  });
}

void PixelTiling::forEachTile(KernelBuilder &b, Value task,
                              function_ref<void(const PixelTile &)> body) const {
  if (columns) {
    Value first = b.mul(task, columns);
    if (width % columns == 0)
      return forEachColumns(b, first, columns, body);
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, task, b.index(tasks() - 1));
    auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    forEachColumns(b, first, width % columns, body);
    b.setInsertionPointToStart(ifOp.elseBlock());
    return forEachColumns(b, first, columns, body);
  }
  if (flatten) {
    forEachRun(b, height * width, [&](Value first, int64_t count, Value ordinal) {
      body({count, Value(), Value(), first, width, ordinal});
    });
    return;
  }
  Value begin = b.mul(task, rows), end = b.add(begin, rows);
  if (height % rows)
    end = arith::MinUIOp::create(b, end, b.index(height));
  b.loop(begin, end, 1, [&](Value row) {
    Value before = b.mul(arith::SubIOp::create(b, row, begin), llvm::divideCeil(width, pixels));
    forEachRun(b, width, [&](Value column, int64_t count, Value ordinal) {
      body({count, row, column, Value(), 0, b.add(before, ordinal)});
    });
  });
}

} // namespace atc::cpu
