//===-- PixelTiles.h - iterates over the output pixels in tiles -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_PIXELTILES_H
#define OPENATC_PASSES_CPU_TILES_PIXELTILES_H

#include "passes/cpu/tiles/RegisterTile.h"

namespace atc::cpu {

/// A tile of `count` consecutive output pixels: in one row from (row, column), or, when `flat` is
/// set, from that pixel on in row-major order over the whole plane.
struct PixelTile {
  int64_t count;
  mlir::Value row = {}, column = {};
  mlir::Value flat = {};
  int64_t rowLength = 0;
  mlir::Value ordinal = {}; // The index of this tile in its task.
};

/// The addresses of output pixels in a buffer [N][blocks][H][W][b], which advances by `steps` rows
/// and columns per output row and column.
class PixelGrid {
public:
  /// Describes a buffer whose rows and columns are read in these steps.
  PixelGrid(mlir::Value buffer, llvm::ArrayRef<int64_t> steps);
  /// Describes a buffer with these sizes, which must outlive the grid, and strides in elements.
  PixelGrid(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides,
            llvm::ArrayRef<int64_t> steps);

  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  /// Returns the elements between two indices of a dim.
  int64_t stride(unsigned dim) const { return strides[dim]; }

  /// Returns one address per pixel of the tile, `base` added.
  llvm::SmallVector<Address> addresses(KernelBuilder &b, const PixelTile &tile,
                                       mlir::Value base) const;

private:
  llvm::ArrayRef<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;
  int64_t rowStep, columnStep;
};

/// Returns whether threads had better divide a plane by its rows than by its channels: where it has
/// more pixels than channels, filters are small compared to images.
inline bool isLargePlane(int64_t height, int64_t width, int64_t channels) {
  return height * width > channels;
}

/// Returns how many tasks the columns of an image of one row are divided into: one where `images`
/// and the tiles of `tileBlocks` among `blocks` blocks of channels are enough, because each task
/// reads the filter.
inline int64_t columnTasksOf(int64_t images, int64_t blocks, int64_t tileBlocks) {
  constexpr int64_t kEnoughTasks = 4, kWantedTasks = 8;
  const int64_t tasks = images * llvm::divideCeil(blocks, tileBlocks);
  return tasks < kEnoughTasks ? llvm::divideCeil(kWantedTasks, tasks) : 1;
}

/// Divides an OH x OW plane into tasks and register tiles according to a #cpu.tile. Tiles of a row
/// differ by at most one pixel, so that none is much smaller than the register file allows.
class PixelTiling {
public:
  /// Divides an image of height x width pixels by `tile`. The columns of an image of one row, a
  /// signal, which has no rows to divide, become `columnTasks` tasks.
  PixelTiling(int64_t height, int64_t width, TileAttr tile, int64_t columnTasks = 1);

  /// Returns the columns per task of a row that is divided into `tasks`, or fewer where it is
  /// short; whole tiles of `pixels`. The last task may have fewer.
  static int64_t columnsPerTask(int64_t width, int64_t pixels, int64_t tasks);

  /// Returns the number of tasks per plane.
  int64_t tasks() const {
    return columns ? llvm::divideCeil(width, columns) : llvm::divideCeil(height, rows);
  }

  /// Returns the number of tiles per task (the last task may have fewer).
  int64_t tilesPerTask() const;

  /// Opens the loop over the tasks of `images` planes of `channels` channels in `groups` groups,
  /// and returns the image, the group and the rows of a task. In large planes (isLargePlane) the
  /// rows are slower than the groups: threads that take tasks from both ends then have the upper
  /// and the lower half of every layer, and find in their own caches what the next layer reads.
  llvm::SmallVector<mlir::Value, 3> beginTasks(KernelBuilder &b, int64_t images, int64_t groups,
                                               int64_t channels) const;

  /// Builds the loops over the tiles of one task.
  void forEachTile(KernelBuilder &b, mlir::Value task,
                   llvm::function_ref<void(const PixelTile &)> body) const;

private:
  void forEachColumns(KernelBuilder &b, mlir::Value first, int64_t length,
                      llvm::function_ref<void(const PixelTile &)> body) const;
  void forEachRun(
      KernelBuilder &b, int64_t length,
      llvm::function_ref<void(mlir::Value first, int64_t count, mlir::Value ordinal)> body) const;

  int64_t height, width, pixels, rows;
  int64_t columns = 0; ///< of a task, where tasks divide a row; else 0
  bool flatten;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_PIXELTILES_H
