//===-- TimeWarping.cpp - the cheapest way through a matrix of costs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Support.h"

namespace atc::kernels {

/// The cheapest way from the first to the last element, by steps along rows, columns or both: its
/// rows, and its columns. Of steps that cost the same, the one along a row is taken.
ATC_KERNEL(DynamicTimeWarping) {
  const Tensor costs = in(0);
  const bool isBatch = costs.rank() == 3;
  if (isBatch && costs.dim(0) != 1)
    return fail("has % matrices, expected 1", costs.dim(0));
  const int64_t rows = costs.dim(isBatch), columns = costs.dim(isBatch + 1);
  if (!costs.known())
    return;
  if (rows < 1 || columns < 1)
    return fail("has % x % costs, expected at least 1 x 1", rows, columns);
  enum : uint8_t { Both, Down, Along };
  uint8_t *steps = scratch<uint8_t>(rows * columns);
  // The sums of the row before, and of this one; element 0 lies in front of the matrix.
  float *before = scratch<float>(columns + 1), *sums = scratch<float>(columns + 1);
  if (!steps || !before || !sums)
    return;
  for (int64_t j = 0; j <= columns; ++j)
    before[j] = j ? __builtin_inff() : 0;
  for (int64_t i = 0; i < rows; ++i) {
    sums[0] = __builtin_inff();
    for (int64_t j = 0; j < columns; ++j) {
      const float both = before[j], down = before[j + 1], along = sums[j];
      const uint8_t step = both < down && both < along   ? Both
                           : down < both && down < along ? Down
                                                         : Along;
      steps[i * columns + j] = step;
      sums[j + 1] = costs.as<float>()[i * columns + j] + (step == Both   ? both
                                                          : step == Down ? down
                                                                         : along);
    }
    float *swapped = before;
    before = sums;
    sums = swapped;
  }
  // Behind an edge there is one way only.
  const auto stepAt = [=](int64_t i, int64_t j) {
    return i == 0 && j == 0 ? Both : i == 0 ? Along : j == 0 ? Down : steps[i * columns + j];
  };
  const auto walk = [&](auto visit) {
    for (int64_t i = rows - 1, j = columns - 1; i >= 0 && j >= 0;) {
      visit(i, j);
      const auto step = stepAt(i, j);
      i -= step != Along;
      j -= step != Down;
    }
  };
  int64_t length = 0;
  walk([&](int64_t, int64_t) { ++length; });
  int32_t *out = make<int32_t>(0, I32, Dims(2, length));
  if (!out)
    return;
  walk([&, at = length](int64_t i, int64_t j) mutable {
    out[--at] = int32_t(i);
    out[length + at] = int32_t(j);
  });
}

} // namespace atc::kernels
