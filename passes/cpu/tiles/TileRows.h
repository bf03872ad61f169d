//===-- TileRows.h - output pixels as rows of tile registers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_TILEROWS_H
#define OPENATC_PASSES_CPU_TILES_TILEROWS_H

#include "passes/cpu/tiles/IntegerTile.h"
#include "passes/cpu/tiles/TileRegisters.h"

namespace atc::cpu {

/// Divides output pixels among the rows of tile registers, whose inputs must be equally far apart.
/// A run of pixels is a row of the output, or all rows of a task. In a run of several rows, tiles
/// either continue across row ends, and the positions between the end of a row and the begin of the
/// next, which are no pixels, are multiplied as well; or each row is a tile, where that needs no
/// more of them.
class TileRows {
public:
  /// Describes the tasks of `op` with `rows` rows each. They are one run where `flatten` is set,
  /// for which canFlatten() must hold.
  TileRows(IntegerConv2DOp op, int64_t rows, bool flatten)
      : width(shapeOf(op.getOutput())[3]), runCount(flatten ? 1 : rows),
        rowPositions(flatten ? rowStep(op) / columnStep(op) : width),
        positionCount(flatten ? (rows - 1) * rowPositions + width : width) {
    const int64_t acrossEnds = llvm::divideCeil(positionCount, TileRegisters::kMaxRows);
    tilePerRow =
        flatten && rowPositions != width && width <= TileRegisters::kMaxRows && rows <= acrossEnds;
    tileHeight = tilePerRow ? width : std::min(positionCount, TileRegisters::kMaxRows);
    tileCount = tilePerRow ? rows : llvm::divideCeil(positionCount, tileHeight);
  }

  /// Returns whether rows of the input are a whole number of positions apart, and do not overlap.
  static bool canFlatten(IntegerConv2DOp op) {
    return rowStep(op) % columnStep(op) == 0 &&
           rowStep(op) / columnStep(op) >= shapeOf(op.getOutput())[3];
  }

  /// Returns the elements of the input between output pixels of two rows, or of two columns.
  static int64_t rowStep(IntegerConv2DOp op) {
    return op.getStrides()[0] * stridesOf(op.getInput())[2];
  }
  static int64_t columnStep(IntegerConv2DOp op) {
    return op.getStrides()[1] * stridesOf(op.getInput())[3];
  }

  /// Returns the runs per task and the positions of a run.
  int64_t runs() const { return runCount; }
  int64_t positions() const { return positionCount; }
  /// Returns the positions from the begin of a row to that of the next.
  int64_t positionsPerRow() const { return rowPositions; }
  /// Returns the positions that tiles which do not overlap multiply.
  int64_t multiplied() const { return tilePerRow ? tileCount * tileHeight : positionCount; }
  /// Returns whether each row of a run is a tile.
  bool isTilePerRow() const { return tilePerRow; }
  /// Returns whether some positions of tiles are no pixels.
  bool hasGaps() const { return rowPositions != width && !tilePerRow; }
  /// Returns the rows of a tile register, and the number of tiles per run: where they continue
  /// across row ends the last two may overlap.
  int64_t height() const { return tileHeight; }
  int64_t tiles() const { return tileCount; }

private:
  int64_t width, runCount, rowPositions, positionCount, tileHeight, tileCount;
  bool tilePerRow;
};

/// Returns whether the steps of `op` fit the tile registers that the level has.
inline bool fitsTileRegisters(IntegerConv2DOp op, LevelAttr level) {
  return op.getAdjacent().has_value() && level.getMatrix() == "amx";
}

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_TILEROWS_H
