//===-- IntegerProducts.h - products of 8-bit matrices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements minus their zero point have 9 bits: they are multiplied as pairs of 16-bit integers,
// which processors accumulate to 32 bits in one instruction.

#ifndef OPENATC_KERNELS_NN_INTEGERPRODUCTS_H
#define OPENATC_KERNELS_NN_INTEGERPRODUCTS_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// A matrix of int8 or uint8; strides count elements.
struct ByteMatrix {
  const void *data = nullptr;
  bool isSigned = false;
  int64_t row = 0, col = 1;
};

/// Zero points: one, or one per line (row or column) of a matrix.
struct ZeroPoints {
  const void *data = nullptr; ///< null: 0
  bool isSigned = false;
  int64_t count = 0, first = 0;
  /// Reads a tensor of 8-bit elements, which may be omitted. Returns false for other types.
  bool read(Tensor tensor) {
    if (!tensor || !tensor.count())
      return true;
    data = tensor.bytes();
    isSigned = tensor.dtype() == I8;
    count = tensor.count();
    return isSigned || tensor.dtype() == U8;
  }
  /// Returns those of the lines from `line` on.
  ZeroPoints from(int64_t line) const {
    ZeroPoints rest = *this;
    rest.first = first + line;
    return rest;
  }
  /// Returns the zero point of a line.
  int at(int64_t line) const {
    if (!data)
      return 0;
    const int64_t i = count == 1 ? 0 : (first + line) % count;
    return isSigned ? int(static_cast<const int8_t *>(data)[i])
                    : int(static_cast<const uint8_t *>(data)[i]);
  }
};

/// Returns whether the elements are int8 or uint8.
inline bool isByte(Tensor tensor) {
  return tensor && (tensor.dtype() == U8 || tensor.dtype() == I8);
}

/// The columns per packed panel, and the depth k rounded up to an even number.
inline constexpr int64_t kPairPanel = 16;
inline constexpr int64_t evenDepth(int64_t k) { return (k + 1) & ~int64_t(1); }

/// Computes to[i] = from[i] - zero for uint8 or int8.
void centerBytes(int16_t *to, const void *from, bool isSigned, int zero, int64_t count);
/// Writes rows [begin, end) of `a` (k columns) minus their zero points as rows of evenDepth(k)
/// 16-bit integers; those beyond k are 0.
void centerRows(int16_t *to, const ByteMatrix &a, const ZeroPoints &zeros, int64_t k, int64_t begin,
                int64_t end);
/// Packs panels [begin, end) of a k x n matrix: panel p holds columns [p * kPairPanel, ...) as
/// evenDepth(k) / 2 rows of pairs of vertically adjacent elements; those beyond k or n are 0.
void packPairs(int16_t *packed, const ByteMatrix &b, const ZeroPoints &zeros, int64_t k, int64_t n,
               int64_t begin, int64_t end);
/// Computes c (m x n) = a * packed on this thread. Rows of a have evenDepth(k) elements.
void multiplyPairs(int32_t *c, int64_t cRow, const int16_t *a, const int16_t *packed, int64_t m,
                   int64_t n, int64_t k);

/// The rows and columns of a block of accumulators that is passed to the sink.
inline constexpr int64_t kSumRows = 48, kSumColumns = 64;
/// The rows where tile registers multiply: whole pairs of tiles.
inline constexpr int64_t kTileSumRows = 64;

/// Receives accumulators [column, column + n) of a row of matrix `batch`.
struct SumSink {
  void (*store)(void *arg, int64_t batch, int64_t row, int64_t column, int64_t n,
                const int32_t *sums);
  void *arg;
};
/// Returns a sink that calls `fn`, which must outlive it.
template <typename Fn> SumSink sinkOf(Fn &fn) {
  return {[](void *arg, int64_t batch, int64_t row, int64_t column, int64_t n,
             const int32_t *sums) { (*static_cast<Fn *>(arg))(batch, row, column, n, sums); },
          &fn};
}

/// The description of `batch` products (m x k) * (k x n) of 8-bit matrices. Accumulators wrap at 32
/// bits. The lines of zero points are numbered across matrices.
struct ByteProduct {
  ByteMatrix a, b;
  ZeroPoints zeroA, zeroB; ///< per row of a, per column of b
  int64_t m, n, k;
  int64_t batch = 1;
  /// The offsets in elements of the matrices; null: all 0.
  const int64_t *aOffsets = nullptr, *bOffsets = nullptr;
  /// The sums of the columns of b as they are stored, if b is one matrix in the order of
  /// BytePanels, without strides; else null.
  const int64_t *packedSums = nullptr;

  /// Reads the parameter `packed` of a call whose sizes are known; returns false and fails the call
  /// where these sizes have no such order.
  bool readPacked(Context &c);
};
/// Computes the products on all threads and passes the accumulators to `sink`. Returns false and
/// fails the call where memory could not be allocated.
bool multiplyBytes(Context &c, const ByteProduct &product, SumSink sink);

/// Computes result[i] = saturate(round(sums[i] * scale) + zero) as int8 or uint8.
void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, float scale, int zero);
/// Requantizes with one scale per element.
void requantize(void *result, bool isSigned, const int32_t *sums, int64_t n, const float *scales,
                int zero);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_INTEGERPRODUCTS_H
