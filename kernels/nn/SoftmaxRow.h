//===-- SoftmaxRow.h - softmax of one contiguous row ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_SOFTMAXROW_H
#define OPENATC_KERNELS_NN_SOFTMAXROW_H

#include "kernels/core/Numbers.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

/// Computes y = exp(x - max(x)) / sum(exp(x - max(x))) for n > 0 contiguous elements, with each
/// exponential computed once. `y` may be `x`. Sums are accumulated in 16 lanes.
template <typename F> void softmaxRow(F *y, const F *x, int64_t n) {
  constexpr int64_t lanes = 16;
  const int64_t whole = n - n % lanes;
  F maxima[lanes];
  for (int64_t l = 0; l < lanes; ++l)
    maxima[l] = lowest<F>();
  for (int64_t j = 0; j < whole; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      maxima[l] = maxima[l] >= x[j + l] ? maxima[l] : x[j + l];
  for (int64_t j = whole; j < n; ++j)
    maxima[0] = maxima[0] >= x[j] ? maxima[0] : x[j];
  const F shift = fast::foldLanes(maxima, [](F a, F b) { return a >= b ? a : b; });
  F sums[lanes] = {};
  for (int64_t j = 0; j < whole; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += y[j + l] = fast::exp(x[j + l] - shift);
  for (int64_t j = whole; j < n; ++j)
    sums[0] += y[j] = fast::exp(x[j] - shift);
  const F factor = 1 / fast::sumLanes(sums);
  for (int64_t j = 0; j < n; ++j)
    y[j] *= factor;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_SOFTMAXROW_H
