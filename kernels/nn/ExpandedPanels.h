//===-- ExpandedPanels.h - products with weights that are expanded --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_EXPANDEDPANELS_H
#define OPENATC_KERNELS_NN_EXPANDEDPANELS_H

#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

/// The rows and columns of weights that are expanded at a time.
inline constexpr int64_t kExpandedDepth = 256, kExpandedColumns = 64;

/// Computes y (m x n) = x (m x k) times weights, plus a float of `add` per column where that is not
/// null. Each task expands some columns, a piece of k at a time: expand(to, column, columns, first,
/// depth) writes rows [first, first + depth) of columns [column, column + columns) as
/// multiplyPacked reads them. `column` and `first` are multiples of the sizes above.
template <typename Expand>
void multiplyExpandedPanels(Context &c, float *y, const float *x, const float *add, int64_t m,
                            int64_t n, int64_t k, Expand &&expand) {
  const int64_t tasks = ceilDiv(n, kExpandedColumns);
  parallelIf(c, tasks, m * k * kExpandedColumns, [&](int64_t begin, int64_t end) {
    alignas(64) float panels[kExpandedDepth * kExpandedColumns];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task * kExpandedColumns;
      const int64_t columns = minimum(kExpandedColumns, n - column);
      for (int64_t i = 0; add && i < m; ++i)
        copyBytes(y + i * n + column, add + column, columns * 4);
      for (int64_t first = 0; first < k; first += kExpandedDepth) {
        const int64_t depth = minimum(kExpandedDepth, k - first);
        expand(panels, column, columns, first, depth);
        multiplyPacked(y + column, n, x + first, k, 1, panels, m, columns, depth, add || first > 0);
      }
    }
  });
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_EXPANDEDPANELS_H
