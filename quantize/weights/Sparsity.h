//===-- Sparsity.h - zeros in a fixed pattern ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_SPARSITY_H
#define OPENATC_QUANTIZE_WEIGHTS_SPARSITY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace atc::quantize {

/// Returns rows of weights of which two of each four channels of inputs are zero, at each tap of a
/// kernel: a row has `channels` x `taps` weights. Channels beyond the last four stay. The weights
/// of larger magnitude are kept.
std::vector<float> keepTwoOfFour(llvm::ArrayRef<float> weights, int64_t rows, int64_t channels,
                                 int64_t taps);

/// Chooses by the second moments E[x x^T] of the inputs of the rows, `matrix`: keeps the weights
/// whose loss would cost more, and lets them absorb the errors of the others. Keeps those of larger
/// magnitude where that is better.
std::vector<float> keepTwoOfFour(llvm::ArrayRef<float> weights, int64_t rows, int64_t channels,
                                 int64_t taps, llvm::ArrayRef<float> matrix);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_SPARSITY_H
