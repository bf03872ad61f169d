//===-- IntegerDot.h - sums of products of small integers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_INTEGERDOT_H
#define OPENATC_PASSES_CPU_TILES_INTEGERDOT_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// Products by what the level has for them, into vectors of `lanes` i32.
class IntegerDot {
public:
  IntegerDot(KernelBuilder &builder, int64_t lanes);

protected:
  mlir::Value bitcast(mlir::Value vector, mlir::Type element);
  /// A scalar's bits in every lane, as elements of `element`.
  mlir::Value repeat(mlir::Value word, mlir::Type element);
  mlir::Value constant(mlir::Type element, int64_t perLane, int64_t value);
  mlir::Value call(llvm::StringRef name, mlir::Type element, int64_t perLane,
                   mlir::ValueRange args);
  /// Pairs of 16-bit products, added to 32 bits: the instruction of x86.
  mlir::Value maddPairs(mlir::Value x, mlir::Value w);
  /// Products of neighbours added up to one a lane, by ordinary instructions.
  mlir::Value products(mlir::Value x, mlir::Value w, int64_t perLane, bool isUnsigned);

  KernelBuilder &b;
  int64_t lanes;
  llvm::StringRef dot;
};

/// Four bytes a lane, as cpu.integer_conv2d has them.
class ByteDot : IntegerDot {
public:
  ByteDot(KernelBuilder &builder, int64_t lanes, bool byMagnitude, bool isSigned);

  /// What multiplies the bytes of a step, and by magnitude what inverts them.
  struct Weights {
    mlir::Value factors, flip;
  };
  Weights load(mlir::Value filter, mlir::Value at);

  /// How many vectors of weights to hold in registers beside so many sums. Where there
  /// are too few registers instructions read the others from memory; nothing says so
  /// elsewhere.
  std::optional<int64_t> heldWeights(int64_t sums) const;

  /// Four bytes at `at`, repeated in every lane.
  mlir::Value spreadBytes(mlir::Value flat, mlir::Value at);

  /// Adds to each of `sums` the products of `bytes` and its weights, four a lane, of all
  /// steps; weights[step][sum] are such that pairs over all steps fit 16 bits.
  void add(llvm::MutableArrayRef<mlir::Value> sums, llvm::ArrayRef<mlir::Value> bytes,
           llvm::ArrayRef<llvm::SmallVector<Weights>> weights);

private:
  bool byMagnitude, isSigned;
  mlir::Value ones;
};

/// Two numbers of 16 bits a lane, as cpu.winograd_conv2d has them.
class PairDot : IntegerDot {
public:
  using IntegerDot::IntegerDot;

  mlir::Value load(mlir::Value filter, mlir::Value at);
  /// Two numbers at `at`, repeated in every lane.
  mlir::Value spreadPair(mlir::Value flat, mlir::Value at);
  mlir::Value add(mlir::Value sum, mlir::Value numbers, mlir::Value weights);
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_INTEGERDOT_H
