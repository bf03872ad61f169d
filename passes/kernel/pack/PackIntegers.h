//===-- PackIntegers.h - packs 8-bit weights for the kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_KERNEL_PACK_PACKINTEGERS_H
#define OPENATC_PASSES_KERNEL_PACK_PACKINTEGERS_H

#include "dialects/cpu/Winograd.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace atc::kernel {

/// Weights minus their zero points: 9 bits, [outputs][columns].
struct IntegerWeights {
  int64_t outputs = 0, columns = 0;
  std::vector<int16_t> values;

  /// Returns the weights; nothing where the filter is not a constant of 8-bit integers.
  /// `zeroPoints`: one per output, or none.
  static std::optional<IntegerWeights> read(mlir::Value filter, llvm::ArrayRef<int64_t> zeroPoints);
  const int16_t *row(int64_t output) const { return values.data() + output * columns; }
  /// Returns the largest magnitude that the accumulator of an output can reach for any input bytes,
  /// which are i8 if `isSigned`, else u8.
  int64_t largestSum(bool isSigned) const;
  /// Returns the sum of each output's weights times `factor`, padded with zeros to `size`.
  std::vector<int64_t> sums(int64_t factor, int64_t size) const;
};

/// Returns the elements of a constant of the graph; nothing where it is not known.
template <typename T> std::optional<std::vector<T>> readNumbers(mlir::Value value);

/// Packs [O][C][3][3] to [OB][P][C/2][16][2] of i16: the transformed weights of a Winograd form.
mlir::ElementsAttr packWinograd(const IntegerWeights &weights, cpu::Winograd form,
                                mlir::MLIRContext *context);

/// Returns the bias, which may be empty, minus the excess of the accumulators over the products of
/// the model; one value per element of `excess`.
std::vector<int32_t> sumBias(llvm::ArrayRef<int32_t> bias, llvm::ArrayRef<int64_t> excess);

/// Packs [C][1][KH][KW] to [CB][KH][KW][16] of i16.
mlir::ElementsAttr packIntegerDepthwise(const IntegerWeights &weights, int64_t height,
                                        int64_t width, mlir::MLIRContext *context);

} // namespace atc::kernel

#endif // OPENATC_PASSES_KERNEL_PACK_PACKINTEGERS_H
