//===-- PackIntegers.h - weights of 8-bit integers for the kernels --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACKINTEGERS_H
#define OPENATC_PASSES_KERNEL_PACKINTEGERS_H

#include "dialects/cpu/Winograd.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace atc::kernel {

/// Weights less their zero points: 9 bits, [outputs][columns].
struct IntegerWeights {
  int64_t outputs = 0, columns = 0;
  std::vector<int16_t> values;

  /// Nothing where the filter is not known, or no bytes. `zeroPoints`: one for each
  /// output, or none.
  static std::optional<IntegerWeights> read(mlir::Value filter, llvm::ArrayRef<int64_t> zeroPoints);
  const int16_t *row(int64_t output) const { return values.data() + output * columns; }
  /// What the sum of an output with bytes is at most, in size.
  int64_t largestSum() const;
  /// Sums of each output's weights times `factor`, and zeros up to `size`.
  std::vector<int64_t> sums(int64_t factor, int64_t size) const;
};

/// The numbers of a constant as the graph has it; nothing where it is not known.
template <typename T> std::optional<std::vector<T>> readNumbers(mlir::Value value);

/// [O][C][3][3] to [OB][P][C/2][16][2] of i16: what the form multiplies with.
mlir::ElementsAttr packWinograd(const IntegerWeights &weights, cpu::Winograd form,
                                mlir::MLIRContext *context);

/// The bias, of which there may be none, less what the sums of bytes as the
/// kernel sees them have too much; a number for each of the latter.
std::vector<int32_t> sumBias(llvm::ArrayRef<int32_t> bias, llvm::ArrayRef<int64_t> excess);

/// [C][1][KH][KW] to [CB][KH][KW][16] of i16.
mlir::ElementsAttr packIntegerDepthwise(const IntegerWeights &weights, int64_t height,
                                        int64_t width, mlir::MLIRContext *context);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACKINTEGERS_H
