//===-- IntegerDot.h - int8 and int16 dot products ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_INTEGERDOT_H
#define OPENATC_PASSES_CPU_TILES_INTEGERDOT_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// Accumulates products of small integers into vectors of `lanes` i32 with the instructions that
/// the level has.
class IntegerDot {
public:
  /// Emits code with `b` for registers of `lanes` accumulators.
  IntegerDot(KernelBuilder &builder, int64_t lanes);

protected:
  mlir::Value bitcast(mlir::Value vector, mlir::Type element);
  /// Returns a scalar's bits in every lane, as elements of `element`.
  mlir::Value repeat(mlir::Value word, mlir::Type element);
  mlir::Value constant(mlir::Type element, int64_t perLane, int64_t value);
  mlir::Value call(llvm::StringRef name, mlir::Type element, int64_t perLane,
                   mlir::ValueRange args);
  /// Returns pairs of 16-bit products added to 32 bits: the instruction pmaddwd of x86.
  mlir::Value maddPairs(mlir::Value x, mlir::Value w);
  /// Returns products of adjacent elements, added up per lane with ordinary instructions.
  mlir::Value products(mlir::Value x, mlir::Value w, int64_t perLane, bool isUnsigned);

  KernelBuilder &b;
  int64_t lanes;
  llvm::StringRef dot;
};

/// Multiplies four bytes per lane, for cpu.integer_conv2d.
class ByteDot : IntegerDot {
public:
  /// Emits code with `b` for `lanes` accumulators; `byMagnitude` multiplies magnitudes where the
  /// processor has products of unsigned with signed bytes only.
  ByteDot(KernelBuilder &builder, int64_t lanes, bool byMagnitude, bool isSigned);

  /// The weights of a step, and for a step by magnitude the mask that inverts input bytes.
  struct Weights {
    mlir::Value factors, flip;
  };
  /// Loads the weights of one step from index `at` of a flat filter.
  Weights load(mlir::Value filter, mlir::Value at);

  /// Returns how many vectors of weights to keep in registers beside `sums` accumulators. Where
  /// there are too few registers, instructions read the others from memory.
  std::optional<int64_t> heldWeights(int64_t sums) const;

  /// Returns four bytes at `at`, repeated in every lane.
  mlir::Value spreadBytes(mlir::Value flat, mlir::Value at);

  /// Adds to each of `sums` the products of `bytes` and its weights, four per lane, of all steps;
  /// weights[step][sum] must be such that pairs over all steps fit 16 bits.
  void add(llvm::MutableArrayRef<mlir::Value> sums, llvm::ArrayRef<mlir::Value> bytes,
           llvm::ArrayRef<llvm::SmallVector<Weights>> weights);

private:
  bool byMagnitude, isSigned;
  mlir::Value ones;
};

/// Multiplies two 16-bit integers per lane, for cpu.winograd_conv2d.
class PairDot : IntegerDot {
public:
  using IntegerDot::IntegerDot;

  /// Loads the weights of one step from index `at` of a flat filter.
  mlir::Value load(mlir::Value filter, mlir::Value at);
  /// Returns two integers at `at`, repeated in every lane.
  mlir::Value spreadPair(mlir::Value flat, mlir::Value at);
  /// Returns `sum` plus the products of `numbers` and `weights`.
  mlir::Value add(mlir::Value sum, mlir::Value numbers, mlir::Value weights);
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_INTEGERDOT_H
