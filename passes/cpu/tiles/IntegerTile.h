//===-- IntegerTile.h - 32-bit accumulators in registers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_INTEGERTILE_H
#define OPENATC_PASSES_CPU_TILES_INTEGERTILE_H

#include "passes/cpu/tiles/BodyCloner.h"
#include "passes/cpu/tiles/PixelTiles.h"

namespace atc::cpu {

/// The channels per block of accumulators.
inline constexpr int64_t kSumBlock = 16;

/// Returns whether the vectors of a block are accumulated one after the other: a weight by
/// magnitude needs two registers, and the level has few.
inline bool vectorsTakeTurns(IntegerConv2DOp op, LevelAttr level) {
  return llvm::is_contained(op.getByMagnitude(), true) && level.getRegisters() < 32;
}

/// Returns whether several blocks of outputs share one list of steps, which is a run of single
/// ones: they can then be accumulated together.
bool sharesSteps(IntegerConv2DOp op);

/// Emits loops over the blocks of a task: `perTask` of the `total` blocks, in the last task what is
/// left of them. `body` computes `blocks` blocks from `block` on: `together`, and at the end the
/// rest.
void forBlocksOfTask(KernelBuilder &b, mlir::Value task, int64_t perTask, int64_t total,
                     int64_t together,
                     llvm::function_ref<void(mlir::Value block, int64_t blocks)> body);

/// The accumulators of `pixels` x `blocks` blocks: i32 in vectors of the level's width.
class IntegerTile {
public:
  /// Prepares accumulators for `pixels` pixels times `blocks` blocks of channels.
  IntegerTile(KernelBuilder &builder, int64_t pixels, int64_t blocks = 1);

  int64_t lanes() const { return width; }
  /// Returns the vectors per pixel.
  int64_t vectors() const { return kSumBlock / width; }
  /// Returns the type of a register of `width * perLane` elements.
  mlir::VectorType vectorType(mlir::Type element, int64_t perLane = 1) const {
    return mlir::VectorType::get({width * perLane}, element);
  }
  llvm::SmallVector<mlir::Value> &values() { return sums; }
  /// Returns the accumulators of one vector of a pixel in the first block, to read or replace.
  mlir::Value &sum(int64_t pixel, int64_t vector) { return ofPixel(pixel)[vector]; }
  /// Returns the vectors of a pixel in a block.
  llvm::MutableArrayRef<mlir::Value> ofPixel(int64_t pixel, int64_t block = 0) {
    return llvm::MutableArrayRef(sums).slice((block * count + pixel) * vectors(), vectors());
  }
  int64_t pixels() const { return count; }
  int64_t blocks() const { return blockCount; }

  /// Initializes every pixel with the bias from `channel` on, that of the first block.
  void start(mlir::Value bias, mlir::Value channel);

private:
  KernelBuilder &b;
  int64_t count, blockCount, width;
  llvm::SmallVector<mlir::Value> sums;
};

/// Computes results from complete accumulators: the body of an integer convolution over the buffers
/// that it reads.
class IntegerEpilogue {
public:
  template <typename OpT>
  IntegerEpilogue(KernelBuilder &builder, OpT op)
      : b(builder), output(op.getOutput(), {1, 1}), written(builder, op.getOutput()) {
    for (mlir::Value input : op.getInputs())
      addInput(input);
    if (!op.getBody().empty())
      body.emplace(builder, op.getBody().front(), /*exact=*/true);
  }

  const PixelGrid &grid() const { return output; }

  /// Writes the results of the pixels of a tile for one image, in the blocks of channels from
  /// `block` on.
  void finish(IntegerTile &tile, const PixelTile &pixels, mlir::Value image, mlir::Value block);

private:
  /// Data that one block of channels reads and writes: addresses per pixel of inputs with the shape
  /// of the output, and the values that serve all pixels.
  struct BlockAt {
    llvm::SmallVector<llvm::SmallVector<Address>> inputs;
    llvm::SmallVector<mlir::Value> shared;
    llvm::SmallVector<Address> output;
  };
  BlockAt locate(const PixelTile &pixels, mlir::Value image, mlir::Value block);
  /// Returns how many vectors of 16 channels one body computes: with 512-bit registers, four are
  /// packed to bytes together, and tables of bytes are looked up by whole registers.
  int64_t vectorsTogether() const;
  struct Input {
    LaneBuffer buffer;
    std::optional<PixelGrid> grid; ///< for a buffer with the shape of the output
    bool isScalar = false;
  };
  void addInput(mlir::Value buffer);
  mlir::Value apply(llvm::ArrayRef<mlir::Value> args, int64_t width);

  KernelBuilder &b;
  PixelGrid output;
  LaneBuffer written;
  llvm::SmallVector<Input> inputs;
  std::optional<BodyCloner> body;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_INTEGERTILE_H
