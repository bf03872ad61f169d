//===-- Gemm.h - products of matrices -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_GEMM_H
#define OPENATC_KERNELS_NN_GEMM_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// The product c[i] (m x n) = a[i] (m x k) * b[i] (k x n) for `batch` triples of matrices. Strides
/// count elements; rows of c are contiguous.
template <typename F> struct Product {
  F *c;
  const F *a, *b;
  int64_t m, n, k;
  int64_t cRow, aRow, aCol, bRow, bCol;
  bool add = false; ///< accumulates onto c
  int64_t batch = 1;
  /// The offsets in elements of the matrices of each triple; null: all 0.
  const int64_t *cOffsets = nullptr, *aOffsets = nullptr, *bOffsets = nullptr;
  F scale = 1; ///< of the product, where it does not accumulate
};

/// Computes the product on all threads. Returns false where memory could not be allocated. F is
/// float, double, uint32_t or uint64_t; integers wrap, so that they serve signed ones too.
template <typename F> bool multiply(Context &c, const Product<F> &product);

/// The columns per packed panel.
template <typename F> inline constexpr int64_t kPanel = 64 / sizeof(F);

/// Returns the number of elements of a packed k x n matrix.
template <typename F> int64_t packedSize(int64_t k, int64_t n) {
  return ceilDiv(n, kPanel<F>) * kPanel<F> * k;
}
/// Packs panels [begin, end) of a k x n matrix: panel p holds columns [p * kPanel, ...) as k rows
/// of kPanel elements; those beyond n are 0.
template <typename F>
void packPanels(F *packed, const F *b, int64_t bRow, int64_t bCol, int64_t k, int64_t n,
                int64_t begin, int64_t end);
/// Computes c (m x n) = or += a * packed on this thread, of the first k rows of panels that have
/// `panelRows`.
template <typename F>
void multiplyPacked(F *c, int64_t cRow, const F *a, int64_t aRow, int64_t aCol, const F *packed,
                    int64_t m, int64_t n, int64_t k, bool add, int64_t panelRows);
/// Computes c (m x n) = or += a * packed on this thread, of all k rows of the panels.
template <typename F>
void multiplyPacked(F *c, int64_t cRow, const F *a, int64_t aRow, int64_t aCol, const F *packed,
                    int64_t m, int64_t n, int64_t k, bool add) {
  multiplyPacked(c, cRow, a, aRow, aCol, packed, m, n, k, add, k);
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GEMM_H
