//===-- LaneBuffer.h - buffers read and written by vectors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_LANEBUFFER_H
#define OPENATC_PASSES_CPU_TILES_LANEBUFFER_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// A buffer of any element type, read and written by whole or partial vectors
/// at linear offsets. Vectors of width 1 are scalars.
class LaneBuffer {
public:
  LaneBuffer(KernelBuilder &builder, mlir::Value buffer);

  /// Signless element type of the values that are read and written.
  mlir::Type element() const { return elementType; }
  bool isUnsigned() const { return unsignedElements; }
  int64_t bytes() const;

  /// Elements at, at + stride, ... (`count` of them; stride 0: one for all).
  /// Lanes past `count` get `pad`, or 1 where none is given.
  mlir::Value load(mlir::Value at, int64_t width, int64_t count, int64_t stride = 1,
                   mlir::Value pad = {});
  mlir::Value load(mlir::Value at, int64_t width) { return load(at, width, width); }
  /// One element, spread over all lanes.
  mlir::Value splat(mlir::Value at, int64_t width);
  /// Elements at the offsets given lane by lane.
  mlir::Value gather(llvm::ArrayRef<mlir::Value> at, int64_t width, mlir::Value pad = {});
  /// Writes the first `count` lanes.
  void store(mlir::Value value, mlir::Value at, int64_t count, int64_t stride = 1);

private:
  bool masks() const;
  bool byLane(int64_t stride) const;

  KernelBuilder &b;
  mlir::Value flat;
  mlir::Type elementType;
  bool unsignedElements;
};

/// `element` for width 1, else a vector of it.
mlir::Type laneType(mlir::Type element, int64_t width);
/// `scalar` in all lanes.
mlir::Value spread(KernelBuilder &b, mlir::Value scalar, int64_t width);
/// A constant of the element type (integers: rounded) in all lanes.
mlir::Value laneConstant(KernelBuilder &b, mlir::Type element, int64_t width, double value);
/// Lane `i` of a value of any width.
mlir::Value laneOf(KernelBuilder &b, mlir::Value value, int64_t i);
int64_t widthOf(mlir::Value value);

/// The type sums and transcendental functions are computed in: f32 for floats
/// of 16 bits, else the type itself.
mlir::Type computeType(mlir::Type element);
/// Converts between an element type and its compute type.
mlir::Value widen(KernelBuilder &b, mlir::Value value);
mlir::Value narrow(KernelBuilder &b, mlir::Value value, mlir::Type element);

/// Rows of a square block become its columns; as many rows as lanes (4, 8 or
/// 16).
llvm::SmallVector<mlir::Value> transposeBlock(KernelBuilder &b, llvm::ArrayRef<mlir::Value> rows);
/// a0 a1 .., b0 b1 .. to a0 b0 a1 b1 ..: as many vectors as given.
llvm::SmallVector<mlir::Value> interleave(KernelBuilder &b, llvm::ArrayRef<mlir::Value> vectors);
/// The inverse of interleave.
llvm::SmallVector<mlir::Value> deinterleave(KernelBuilder &b, llvm::ArrayRef<mlir::Value> vectors);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_LANEBUFFER_H
