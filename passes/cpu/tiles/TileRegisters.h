//===-- TileRegisters.h - products of matrices in tile registers ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_TILEREGISTERS_H
#define OPENATC_PASSES_CPU_TILES_TILEREGISTERS_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// Emits the instructions of AMX. There are eight registers; the first four hold accumulators, 16
/// columns of i32 of each row, the next two rows of bytes, and the last two as many rows of fours
/// of weights for 16 columns as the rows of bytes have fours:
///
///   sum[row][column] += rows[row][4 k + i] * weights[k][column][i]
///
/// The shapes are a state of the thread that is set when a kernel begins and released when it ends,
/// so that the system need not save the registers.
class TileRegisters {
public:
  static constexpr int64_t kMaxRows = 16, kMaxSteps = 16;
  static constexpr int64_t kRowBytes = 64; ///< of accumulators and of weights

  /// Sets the shapes in front of the tasks of a kernel, for accumulators of `rows` rows and chunks
  /// of `steps` fours of bytes, and releases the registers behind them. `builder` must stand at the
  /// beginning of the kernel.
  TileRegisters(KernelBuilder &builder, int64_t rows, int64_t steps);

  /// Returns the address of the first byte of a flat buffer, as an index.
  mlir::Value addressOf(mlir::Value flat);

  /// Sets the accumulator of rows `row` and columns `column` (0 or 1) to zero.
  void zero(int64_t row, int64_t column);
  /// Loads rows of bytes that are `stride` bytes apart from an address.
  void loadRows(int64_t row, mlir::Value address, int64_t stride);
  /// Loads the weights of a chunk of steps, which are contiguous, from an address.
  void loadWeights(int64_t column, mlir::Value address);
  /// Adds the products of bytes, which are i8 where `isSigned` and u8 otherwise, and of signed
  /// weights to an accumulator.
  void addProducts(int64_t row, int64_t column, bool isSigned);
  /// Stores an accumulator to rows that are `stride` bytes apart.
  void store(int64_t row, int64_t column, mlir::Value address, int64_t stride);

private:
  static int64_t sumOf(int64_t row, int64_t column) { return 2 * row + column; }
  static int64_t rowsOf(int64_t row) { return 4 + row; }
  static int64_t weightsOf(int64_t column) { return 6 + column; }
  void emit(llvm::StringRef name, llvm::ArrayRef<int64_t> registers, mlir::Value address = {},
            int64_t stride = 0);

  KernelBuilder &b;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_TILEREGISTERS_H
