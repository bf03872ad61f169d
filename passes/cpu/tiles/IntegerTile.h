//===-- IntegerTile.h - 32-bit sums in registers --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_INTEGERTILE_H
#define OPENATC_PASSES_CPU_TILES_INTEGERTILE_H

#include "passes/cpu/tiles/BodyCloner.h"
#include "passes/cpu/tiles/PixelTiles.h"

namespace atc::cpu {

/// Channels of a block of sums.
inline constexpr int64_t kSumBlock = 16;

/// A weight by magnitude needs two registers: where there are few of them, the vectors
/// of a block are summed one after the other.
inline bool vectorsTakeTurns(IntegerConv2DOp op, LevelAttr level) {
  return llvm::is_contained(op.getByMagnitude(), true) && level.getRegisters() < 32;
}

/// `pixels` x one block of i32 sums, in vectors of the level's width.
class IntegerTile {
public:
  IntegerTile(KernelBuilder &builder, int64_t pixels);

  int64_t lanes() const { return width; }
  int64_t vectors() const { return kSumBlock / width; }
  mlir::VectorType vectorType(mlir::Type element, int64_t perLane = 1) const {
    return mlir::VectorType::get({width * perLane}, element);
  }
  llvm::SmallVector<mlir::Value> &values() { return sums; }
  mlir::Value &sum(int64_t pixel, int64_t vector) { return sums[pixel * vectors() + vector]; }
  int64_t pixels() const { return count; }

  /// Every pixel starts with the bias from `channel` on.
  void start(mlir::Value bias, mlir::Value channel);

private:
  KernelBuilder &b;
  int64_t count, width;
  llvm::SmallVector<mlir::Value> sums;
};

/// What happens to sums when they are complete: the body of an integer
/// convolution over the buffers it reads.
class IntegerEpilogue {
public:
  template <typename OpT>
  IntegerEpilogue(KernelBuilder &builder, OpT op)
      : b(builder), output(op.getOutput(), {1, 1}), flatOutput(builder.flat(op.getOutput())) {
    for (mlir::Value input : op.getInputs())
      addInput(input);
    if (!op.getBody().empty())
      body.emplace(builder, op.getBody().front(), /*exact=*/true);
  }

  const PixelGrid &grid() const { return output; }

  /// Writes the sums of the pixels of a tile, whose channels start at `channel`.
  void finish(IntegerTile &tile, const PixelTile &pixels, mlir::Value image, mlir::Value block);

private:
  struct Input {
    mlir::Value flat;
    std::optional<PixelGrid> grid; ///< of a buffer like the output
    bool isScalar = false;
  };
  void addInput(mlir::Value buffer);
  mlir::Value apply(llvm::ArrayRef<mlir::Value> args);

  KernelBuilder &b;
  PixelGrid output;
  mlir::Value flatOutput;
  llvm::SmallVector<Input> inputs;
  std::optional<BodyCloner> body;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_INTEGERTILE_H
