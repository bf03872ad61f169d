//===-- LaneBuffer.h - vector loads and stores of any element type --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_LANEBUFFER_H
#define OPENATC_PASSES_CPU_TILES_LANEBUFFER_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// A buffer of any element type that is read and written by whole or partial vectors at linear
/// offsets in elements. Vectors of width 1 are scalars.
class LaneBuffer {
public:
  LaneBuffer(KernelBuilder &builder, mlir::Value buffer);

  /// Returns the signless element type of the values that are read and written.
  mlir::Type element() const { return elementType; }
  bool isUnsigned() const { return unsignedElements; }
  /// Returns the bytes per element.
  int64_t bytes() const;

  /// Loads elements at, at + stride, ... (`count` of them; stride 0: one for all lanes). Lanes past
  /// `count` are `pad`, or 1 where none is given.
  mlir::Value load(mlir::Value at, int64_t width, int64_t count, int64_t stride = 1,
                   mlir::Value pad = {});
  mlir::Value load(mlir::Value at, int64_t width) { return load(at, width, width); }
  /// Loads one element into all lanes.
  mlir::Value splat(mlir::Value at, int64_t width);
  /// Loads the elements at one offset per lane.
  mlir::Value gather(llvm::ArrayRef<mlir::Value> at, int64_t width, mlir::Value pad = {});
  /// Returns whether an instruction loads the elements at one offset per lane, a vector of i32.
  bool hasGathers() const;
  /// Loads the elements at `base` + offsets with that instruction; all of them must exist.
  mlir::Value gather(mlir::Value base, mlir::Value offsets);
  /// Stores the first `count` lanes.
  void store(mlir::Value value, mlir::Value at, int64_t count, int64_t stride = 1);

private:
  bool masks() const;
  /// Convert between what is in memory and what it means: a bool is a byte in memory and a bit in a
  /// vector. Any byte but 0 is true.
  mlir::Value valueOf(mlir::Value stored);
  mlir::Value storedOf(mlir::Value value);

  KernelBuilder &b;
  mlir::Value flat;
  mlir::Type elementType, storedType;
  bool unsignedElements;
};

/// Returns `element` for width 1, else a vector of it.
mlir::Type laneType(mlir::Type element, int64_t width);
/// Returns `scalar` in all lanes.
mlir::Value spread(KernelBuilder &b, mlir::Value scalar, int64_t width);
/// Returns a constant of the element type (rounded for integers) in all lanes.
mlir::Value laneConstant(KernelBuilder &b, mlir::Type element, int64_t width, double value);
/// Returns lane `i` of a value of any width.
mlir::Value laneOf(KernelBuilder &b, mlir::Value value, int64_t i);
int64_t widthOf(mlir::Value value);

/// Returns the type in which accumulators and transcendental functions are computed: f32 for 16-bit
/// floats, else the type itself.
mlir::Type computeType(mlir::Type element);
/// Convert between an element type and its compute type.
mlir::Value widen(KernelBuilder &b, mlir::Value value);
mlir::Value narrow(KernelBuilder &b, mlir::Value value, mlir::Type element);

/// Transposes a square block of as many rows as lanes (4, 8 or 16).
llvm::SmallVector<mlir::Value> transposeBlock(KernelBuilder &b, llvm::ArrayRef<mlir::Value> rows);
/// Interleaves vectors: a0 a1 .., b0 b1 .. become a0 b0 a1 b1 .. in as many vectors.
llvm::SmallVector<mlir::Value> interleave(KernelBuilder &b, llvm::ArrayRef<mlir::Value> vectors);
/// Undoes interleave.
llvm::SmallVector<mlir::Value> deinterleave(KernelBuilder &b, llvm::ArrayRef<mlir::Value> vectors);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_LANEBUFFER_H
