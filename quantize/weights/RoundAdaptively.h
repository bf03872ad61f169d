//===-- RoundAdaptively.h - learns whether weights round up or down -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_ROUNDADAPTIVELY_H
#define OPENATC_QUANTIZE_WEIGHTS_ROUNDADAPTIVELY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace atc::quantize {

/// The parameters of adaptive rounding, by the names of `ada_quantize`.
struct AdaptiveOptions {
  int64_t iterations = 10000;   ///< num_iteration
  double regularization = 0.01; ///< reg_param
  double betaStart = 20;        ///< beta_range_start
  double betaEnd = 2;           ///< beta_range_end
  double warmStart = 0.2;       ///< warm_start: the share of iterations before the penalty
};

/// Rounds `rows` rows of weights to integers of one scale per row so that the squared error of
/// their products with inputs is small: `matrix` is the second moments E[x x^T] of the inputs. A
/// weight is rounded up or down, whichever a relaxed choice converges to (AdaRound). The result is
/// never worse than the nearest integers, which are in [-127, 127] as it is. Deterministic.
std::vector<int8_t> roundAdaptively(llvm::ArrayRef<float> weights, int64_t rows,
                                    llvm::ArrayRef<float> scales, llvm::ArrayRef<float> matrix,
                                    const AdaptiveOptions &options);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_ROUNDADAPTIVELY_H
