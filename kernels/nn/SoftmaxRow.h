//===-- SoftmaxRow.h - softmax of one contiguous row ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_SOFTMAXROW_H
#define OPENATC_KERNELS_NN_SOFTMAXROW_H

#include "kernels/core/Numbers.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

/// Computes y = exp(x - max(x)) / sum(exp(x - max(x))) for n > 0 contiguous elements, with each
/// exponential computed once. `y` may be `x`. Sums are accumulated in 16 lanes, and what no whole
/// vector holds is a vector, too, the last one of the row where that has so many elements.
template <typename F> void softmaxRow(F *y, const F *x, int64_t n) {
  constexpr int64_t lanes = 16;
  const int64_t rest = n % lanes, whole = n - rest, first = whole ? lanes - rest : 0;
  F tail[lanes], maxima[lanes];
  for (int64_t l = 0; l < lanes; ++l)
    tail[l] = maxima[l] = lowest<F>();
  if (whole)
    __builtin_memcpy(tail, x + n - lanes, sizeof tail);
  else
    for (int64_t l = 0; l < rest; ++l)
      tail[l] = x[l];
  for (int64_t j = 0; j < whole; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      maxima[l] = maxima[l] >= x[j + l] ? maxima[l] : x[j + l];
  for (int64_t l = 0; l < lanes; ++l)
    maxima[l] = maxima[l] >= tail[l] ? maxima[l] : tail[l];
  const F shift = fast::foldLanes(maxima, [](F a, F b) { return a >= b ? a : b; });
  F sums[lanes] = {};
  for (int64_t j = 0; j < whole; j += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += y[j + l] = fast::exp(x[j + l] - shift);
  if (rest)
    for (int64_t l = 0; l < lanes; ++l) {
      tail[l] = fast::exp(tail[l] - shift);
      sums[l] += uint64_t(l - first) < uint64_t(rest) ? tail[l] : 0;
    }
  const F factor = 1 / fast::sumLanes(sums);
  for (int64_t j = 0; j < whole; ++j)
    y[j] *= factor;
  for (int64_t l = 0; l < rest; ++l)
    y[whole + l] = tail[first + l] * factor;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_SOFTMAXROW_H
