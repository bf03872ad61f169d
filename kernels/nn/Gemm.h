//===-- Gemm.h - products of matrices -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_GEMM_H
#define OPENATC_KERNELS_NN_GEMM_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// c[i] (m x n) = a[i] (m x k) * b[i] (k x n), for `batch` triples of matrices.
/// Steps count elements; rows of c are contiguous.
template <typename F> struct Product {
  F *c;
  const F *a, *b;
  int64_t m, n, k;
  int64_t cRow, aRow, aCol, bRow, bCol;
  bool add = false; ///< adds to what c holds
  int64_t batch = 1;
  /// Where the matrices of each triple begin; null: all at the beginning.
  const int64_t *cOffsets = nullptr, *aOffsets = nullptr, *bOffsets = nullptr;
};

/// On all threads. False when there was no memory. F is float, double, uint32_t or
/// uint64_t; integers wrap, so that they serve signed ones too.
template <typename F> bool multiply(Context &c, const Product<F> &product);

/// Columns of a packed panel.
template <typename F> inline constexpr int64_t kPanel = 64 / sizeof(F);

/// Elements of a packed k x n matrix.
template <typename F> int64_t packedSize(int64_t k, int64_t n) {
  return ceilDiv(n, kPanel<F>) * kPanel<F> * k;
}
/// Writes panels [begin, end) of a k x n matrix: panel p holds columns
/// [p * kPanel, ...) as k rows of kPanel elements; what lies beyond n is 0.
template <typename F>
void packPanels(F *packed, const F *b, int64_t bRow, int64_t bCol, int64_t k, int64_t n,
                int64_t begin, int64_t end);
/// c (m x n) = or += a * packed, on this thread. `k` is also the step of panels.
template <typename F>
void multiplyPacked(F *c, int64_t cRow, const F *a, int64_t aRow, int64_t aCol, const F *packed,
                    int64_t m, int64_t n, int64_t k, bool add);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GEMM_H
