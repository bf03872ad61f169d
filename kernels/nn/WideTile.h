//===-- WideTile.h - matrix products with registers of 64 bytes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 12 rows times two panels of the result stay in 24 of 32 registers during the loop over k. Rows
// of a are read as they are: each element is broadcast to two multiplications, for which the
// processor has time, and the copy that packing them takes would not pay for small products.

#ifndef OPENATC_KERNELS_NN_WIDETILE_H
#define OPENATC_KERNELS_NN_WIDETILE_H

#include "kernels/core/RowTiles.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels::wide {

/// The depth of k at a time: two panels of it stay in the first cache.
inline constexpr int64_t kWideDepth = 256;

/// Computes c = or += a * b for `rows` x P panels. Row r of a begins at a + r * aRow and is
/// contiguous; panel p of b begins at b + p * panelStep. Strides count elements. `columns` of the
/// P * kPanel columns exist in c.
template <int rows, int P, typename F>
inline __attribute__((always_inline)) void tile(F *c, int64_t cRow, int64_t columns, const F *a,
                                                int64_t aRow, const F *b, int64_t panelStep,
                                                int64_t k, bool add) {
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));
  constexpr int64_t width = kPanel<F>;
  // Addresses of three rows follow from one register and the stride.
  const F *starts[(rows + 2) / 3];
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; r += 3)
    starts[r / 3] = a + r * aRow;
  Vec sums[rows][P] = {};
  for (int64_t i = 0; i < k; ++i) {
    Vec panel[P];
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      panel[p] = *reinterpret_cast<const Loose *>(b + p * panelStep + i * width);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r) {
      const F value = starts[r / 3][(r % 3) * aRow + i];
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p)
        sums[r][p] += value * panel[p];
    }
  }
  if (columns >= P * width) {
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r) {
      Loose *to = reinterpret_cast<Loose *>(c + r * cRow);
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p)
        to[p] = add ? Vec(to[p]) + sums[r][p] : sums[r][p];
    }
    return;
  }
  F row[P * width];
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r) {
    __builtin_memcpy(row, sums[r], sizeof(row));
    F *to = c + r * cRow;
    for (int64_t j = 0; j < columns; ++j)
      to[j] = add ? to[j] + row[j] : row[j];
  }
}

/// Computes all m rows of P panels; the other arguments are those of tile().
template <int P, typename F>
__attribute__((noinline)) void multiplyPanels(F *c, int64_t cRow, int64_t columns, const F *a,
                                              int64_t aRow, const F *b, int64_t panelStep,
                                              int64_t m, int64_t k, bool add) {
  forRowTiles(m, [&]<int rows>(int64_t row) {
    tile<rows, P>(c + row * cRow, cRow, columns, a + row * aRow, aRow, b, panelStep, k, add);
  });
}

/// Computes c (m x n) = or += a * packed as multiplyPacked does, where rows of a are contiguous.
template <typename F>
void multiply(F *c, int64_t cRow, const F *a, int64_t aRow, const F *packed, int64_t m, int64_t n,
              int64_t k, bool add, int64_t panelRows) {
  constexpr int64_t width = kPanel<F>;
  const int64_t panelStep = width * panelRows;
  for (int64_t k0 = 0; k0 < k; k0 += kWideDepth) {
    const int64_t depth = minimum(kWideDepth, k - k0);
    for (int64_t j = 0; j < n; j += 2 * width) {
      const F *panel = packed + j * panelRows + k0 * width;
      const bool accumulate = add || k0 > 0;
      if (n - j > width)
        multiplyPanels<2>(c + j, cRow, n - j, a + k0, aRow, panel, panelStep, m, depth, accumulate);
      else
        multiplyPanels<1>(c + j, cRow, n - j, a + k0, aRow, panel, panelStep, m, depth, accumulate);
    }
  }
}

} // namespace atc::kernels::wide

#endif // OPENATC_KERNELS_NN_WIDETILE_H
