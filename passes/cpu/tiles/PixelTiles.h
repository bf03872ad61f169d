//===-- PixelTiles.h - walking the output pixels in tiles -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_PIXELTILES_H
#define OPENATC_PASSES_CPU_TILES_PIXELTILES_H

#include "passes/cpu/tiles/RegisterTile.h"

namespace atc::cpu {

/// `count` consecutive output pixels: in one row from (row, column), or, when
/// `flat` is set, from that pixel on in row-major order over the whole plane.
struct PixelTile {
  int64_t count;
  mlir::Value row, column;
  mlir::Value flat;
  int64_t rowLength = 0;
  mlir::Value ordinal; // Which tile of its task this is, from 0.
};

/// Addresses of output pixels in a buffer [N][blocks][H][W][b], which moves by
/// `steps` rows and columns for each output row and column.
class PixelGrid {
public:
  PixelGrid(mlir::Value buffer, llvm::ArrayRef<int64_t> steps);

  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  int64_t stride(unsigned dim) const { return strides[dim]; }

  /// One address for each pixel of the tile, `base` added.
  llvm::SmallVector<Address> addresses(KernelBuilder &b, const PixelTile &tile,
                                       mlir::Value base) const;

private:
  llvm::ArrayRef<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;
  int64_t rowStep, columnStep;
};

/// Cuts an OH x OW plane into tasks and register tiles as a #cpu.tile says.
/// Tiles of a row differ by at most one pixel, so that none is much smaller
/// than the register file allows.
class PixelTiling {
public:
  PixelTiling(int64_t height, int64_t width, TileAttr tile);

  int64_t tasks() const { return llvm::divideCeil(height, rows); }

  /// Tiles in a task (the last task may have fewer).
  int64_t tilesPerTask() const;

  /// Emits the loops over the tiles of one task.
  void forEachTile(KernelBuilder &b, mlir::Value task,
                   llvm::function_ref<void(const PixelTile &)> body) const;

private:
  void forEachRun(
      KernelBuilder &b, int64_t length,
      llvm::function_ref<void(mlir::Value first, int64_t count, mlir::Value ordinal)> body) const;

  int64_t height, width, pixels, rows;
  bool flatten;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_PIXELTILES_H
