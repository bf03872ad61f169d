//===-- AxisSums.h - weighted sums of a few elements along an axis --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_IMAGES_AXISSUMS_H
#define OPENATC_KERNELS_NN_IMAGES_AXISSUMS_H

#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Results along an axis of `in` elements: result i < `out` is the sum of weights[i * taps + t] *
/// input[indices[i * taps + t]] for t < used[i].
template <typename F> struct AxisSums {
  int64_t in, out, taps;
  const int64_t *indices, *used;
  const F *weights;

  /// Computes [outer, out, inner] from [outer, in, inner].
  void run(Context &c, F *to, const F *from, int64_t outer, int64_t inner) const {
    if (inner == 1)
      return runRows(c, to, from, outer);
    parallelIf(c, outer * out, inner * taps, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        sum(to + row * inner, from + row / out * in * inner, row % out, inner);
    });
  }

private:
  /// The rows whose elements are computed together, next to each other; and the columns of them
  /// that are moved there and back at once.
  static constexpr int64_t kRows = 16, kColumns = 128;

  /// Computes result i for `inner` neighbours.
  void sum(F *to, const F *from, int64_t i, int64_t inner) const {
    int64_t j = 0;
    for (; j + 4 * kRows <= inner; j += 4 * kRows)
      sumVectors<4>(to + j, from + j, i, inner);
    for (; j + kRows <= inner; j += kRows)
      sumVectors<1>(to + j, from + j, i, inner);
    for (; j < inner; ++j)
      sumElement(to + j, from + j, i, inner);
  }
  /// Computes result i for some vectors of neighbours. A loop over their elements would become
  /// sums of single ones.
  template <int64_t count> void sumVectors(F *to, const F *from, int64_t i, int64_t step) const {
    typedef F Vec __attribute__((vector_size(kRows * sizeof(F))));
    typedef F Loose __attribute__((vector_size(kRows * sizeof(F)), aligned(sizeof(F)), may_alias));
    Vec sums[count] = {};
    for (int64_t t = i * taps, end = t + used[i]; t < end; ++t) {
      const F weight = weights[t];
      const Loose *data = reinterpret_cast<const Loose *>(from + indices[t] * step);
#pragma clang loop unroll(full)
      for (int64_t j = 0; j < count; ++j)
        sums[j] += weight * data[j];
    }
#pragma clang loop unroll(full)
    for (int64_t j = 0; j < count; ++j)
      reinterpret_cast<Loose *>(to)[j] = sums[j];
  }
  void sumElement(F *to, const F *from, int64_t i, int64_t step) const {
    F sum = 0;
    for (int64_t t = i * taps, end = t + used[i]; t < end; ++t)
      sum += weights[t] * from[indices[t] * step];
    *to = sum;
  }

  /// Computes along the last dim of `rows` rows. What result i reads is at other distances than
  /// what its neighbours do, but at the same ones in all rows: rows become columns, of which a
  /// register has one element each.
  void runRows(Context &c, F *to, const F *from, int64_t rows) const {
    parallelIf(c, ceilDiv(rows, kRows), kRows * out * taps, [&](int64_t begin, int64_t end) {
      F before[kColumns * kRows], after[kColumns * kRows];
      for (int64_t group = begin; group < end; ++group) {
        const int64_t first = group * kRows, height = minimum(kRows, rows - first);
        for (int64_t i = 0, next; i < out; i = next) {
          int64_t low, high;
          next = i + fit(i, low, high);
          if (next == i || height < kRows) { // few rows, or distant elements
            next = maximum(next, i + 1);
            for (int64_t r = first; r < first + height; ++r)
              for (int64_t j = i; j < next; ++j)
                sumElement(to + r * out + j, from + r * in, j, 1);
            continue;
          }
          transposeRows(before, kRows, from + first * in + low, in, kRows, high - low);
          for (int64_t j = i; j < next; ++j)
            sumVectors<1>(after + (j - i) * kRows, before - low * kRows, j, kRows);
          transposeRows(to + first * out + i, out, after, kRows, next - i, kRows);
        }
      }
    });
  }

  /// Returns for how many results from i on the inputs are in kColumns columns: [low, high).
  int64_t fit(int64_t i, int64_t &low, int64_t &high) const {
    low = in;
    high = 0;
    int64_t count = 0;
    for (; count < kColumns && i + count < out; ++count) {
      int64_t min = low, max = high;
      for (int64_t t = (i + count) * taps, end = t + used[i + count]; t < end; ++t) {
        min = minimum(min, indices[t]);
        max = maximum(max, indices[t] + 1);
      }
      if (max - min > kColumns)
        break;
      low = min;
      high = max;
    }
    // Without any weight nothing is read.
    low = minimum(low, high);
    return count;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_IMAGES_AXISSUMS_H
