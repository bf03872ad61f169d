//===-- IntegerProducts.h - products of 8-bit matrices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements less their zero point are 9 bits: they are multiplied as pairs of 16-bit
// numbers, which processors add to 32-bit sums in one step.

#ifndef OPENATC_KERNELS_NN_INTEGERPRODUCTS_H
#define OPENATC_KERNELS_NN_INTEGERPRODUCTS_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// A matrix of bytes; steps count elements.
struct ByteMatrix {
  const void *data = nullptr;
  bool isSigned = false;
  int64_t row = 0, col = 1;
};

/// Zero points: one, or one for each line (row or column) of a matrix.
struct ZeroPoints {
  const void *data = nullptr; ///< null: 0
  bool isSigned = false;
  int64_t count = 0, first = 0;
  /// From a tensor of 8-bit elements, or one that is left out. False for others.
  bool read(Tensor tensor) {
    if (!tensor || !tensor.count())
      return true;
    data = tensor.bytes();
    isSigned = tensor.dtype() == I8;
    count = tensor.count();
    return isSigned || tensor.dtype() == U8;
  }
  /// Those of the lines from `line` on.
  ZeroPoints from(int64_t line) const {
    ZeroPoints rest = *this;
    rest.first = first + line;
    return rest;
  }
  int at(int64_t line) const {
    if (!data)
      return 0;
    const int64_t i = count == 1 ? 0 : (first + line) % count;
    return isSigned ? int(static_cast<const int8_t *>(data)[i])
                    : int(static_cast<const uint8_t *>(data)[i]);
  }
};

inline bool isByte(Tensor tensor) {
  return tensor && (tensor.dtype() == U8 || tensor.dtype() == I8);
}

/// Columns of a packed panel, and k in them: an even number.
inline constexpr int64_t kPairPanel = 16;
inline constexpr int64_t evenDepth(int64_t k) { return (k + 1) & ~int64_t(1); }

/// to[i] = from[i] - zero, of bytes or signed bytes.
void centerBytes(int16_t *to, const void *from, bool isSigned, int zero, int64_t count);
/// Rows [begin, end) of a (k wide) as 16-bit rows of evenDepth(k), what is beyond k 0.
void centerRows(int16_t *to, const ByteMatrix &a, const ZeroPoints &zeros, int64_t k, int64_t begin,
                int64_t end);
/// Panels [begin, end) of a k x n matrix: panel p holds columns [p * kPairPanel, ...) as
/// evenDepth(k) / 2 rows of pairs that are neighbours in a column; what is beyond is 0.
void packPairs(int16_t *packed, const ByteMatrix &b, const ZeroPoints &zeros, int64_t k, int64_t n,
               int64_t begin, int64_t end);
/// c (m x n) = a * packed, on this thread. Rows of a have evenDepth(k) elements.
void multiplyPairs(int32_t *c, int64_t cRow, const int16_t *a, const int16_t *packed, int64_t m,
                   int64_t n, int64_t k);

/// Rows and columns of a block of sums, which are given to what makes results of them.
inline constexpr int64_t kSumRows = 48, kSumColumns = 64;

/// What is done with sums [column, column + n) of a row of matrix `batch`.
struct SumSink {
  void (*store)(void *arg, int64_t batch, int64_t row, int64_t column, int64_t n,
                const int32_t *sums);
  void *arg;
};
/// Of a callable.
template <typename Fn> SumSink sinkOf(Fn &fn) {
  return {[](void *arg, int64_t batch, int64_t row, int64_t column, int64_t n,
             const int32_t *sums) { (*static_cast<Fn *>(arg))(batch, row, column, n, sums); },
          &fn};
}

/// `batch` products (m x k) * (k x n), on all threads. Sums wrap at 32 bits. Lines of
/// zero points count on from matrix to matrix.
struct ByteProduct {
  ByteMatrix a, b;
  ZeroPoints zeroA, zeroB; ///< of the rows of a, the columns of b
  int64_t m, n, k;
  int64_t batch = 1;
  /// Where the matrices begin; null: all at the beginning.
  const int64_t *aOffsets = nullptr, *bOffsets = nullptr;
};
/// False (and a failed call) when there was no memory.
bool multiplyBytes(Context &c, const ByteProduct &product, SumSink sink);

/// result[i] = saturate(round(sums[i] * scale) + zero), bytes or signed bytes.
void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, float scale, int zero);
/// The same with a scale for each.
void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, const float *scales,
                int zero);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_INTEGERPRODUCTS_H
