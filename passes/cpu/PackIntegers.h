//===-- PackIntegers.h - weights of 8-bit integers as lists of steps ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_PACKINTEGERS_H
#define OPENATC_PASSES_CPU_PACKINTEGERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include <array>
#include <vector>

namespace atc::cpu {

/// Weights less their zero points: 9 bits, [outputs][columns].
struct IntegerWeights {
  int64_t outputs = 0, columns = 0;
  std::vector<int16_t> values;

  /// Nothing where the filter is not known, or no bytes. `zeroPoints`: one for each
  /// output, or none.
  static std::optional<IntegerWeights> read(mlir::Value filter,
                                            llvm::ArrayRef<int64_t> zeroPoints);
  const int16_t *row(int64_t output) const { return values.data() + output * columns; }
};

/// The numbers of a constant as the graph has it; nothing where it is not known.
template <typename T> std::optional<std::vector<T>> readNumbers(mlir::Value value);

/// Four neighbouring bytes of the input and where each one's weight is.
struct Quad {
  int64_t offset;
  /// Index of the weight in an output's row for the input channels of group g is
  /// column[lane] - g * columns; anything outside the row has none.
  std::array<int64_t, 4> column;
};

/// What cpu.integer_conv2d reads.
struct PackedSteps {
  mlir::ElementsAttr filter, steps;
  int64_t group = 1;
  bool byMagnitude = false;
};

/// Makes the shortest lists of steps for blocks of 16 outputs. Unless all levels
/// have an exact dot product, sums of two neighbouring products over `group` steps
/// then fit 16 bits, whatever the bytes.
/// A quad whose weights are too large for that becomes two; where that would be too
/// many, sums are by magnitude.
PackedSteps packSteps(const IntegerWeights &weights, llvm::ArrayRef<Quad> quads, int64_t groups,
                      bool exactDot, mlir::MLIRContext *context);

/// [O][C][3][3] to [OB][16][C/2][16][2] of i16: what F(2x2, 3x3) multiplies with,
/// times four.
mlir::ElementsAttr packWinograd(const IntegerWeights &weights, mlir::MLIRContext *context);

/// The bias as i32 for sums of bytes as the kernel sees them: less zeroPoint times
/// the weights, and what inverted bytes lack in sums by magnitude. `size` numbers,
/// zeros past the last output.
mlir::ElementsAttr packSumBias(const IntegerWeights &weights, llvm::ArrayRef<int32_t> bias,
                               int64_t zeroPoint, int64_t size, mlir::MLIRContext *context,
                               bool byMagnitude = false);

/// [C][1][KH][KW] to [CB][KH][KW][16] of i16.
mlir::ElementsAttr packIntegerDepthwise(const IntegerWeights &weights, int64_t height,
                                        int64_t width, mlir::MLIRContext *context);

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_PACKINTEGERS_H
