//===-- MatMulPlan.h - batches of matrix products as in numpy.matmul ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_MATMULPLAN_H
#define OPENATC_KERNELS_NN_MATMULPLAN_H

#include "kernels/nn/Gemm.h"

namespace atc::kernels {

/// Computes the dims to which two operands broadcast; returns false and fails the call where they
/// do not.
inline bool broadcastDims(Context &c, const Dims &a, const Dims &b, Dims &result) {
  result.rank = maximum(a.rank, b.rank);
  for (int64_t i = 1; i <= result.rank; ++i) {
    const int64_t x = i <= a.rank ? a[a.rank - i] : 1, y = i <= b.rank ? b[b.rank - i] : 1;
    if (x != y && x != 1 && y != 1) {
      c.fail("dims of % and % do not fit each other", x, y);
      return false;
    }
    result[result.rank - i] = x == 1 ? y : x;
  }
  return true;
}

/// The sizes of a batched matrix product.
struct MatMulPlan {
  Dims result;
  int64_t m = 1, n = 1, k = 0, batch = 1;
  /// Computes the sizes. Returns false and fails the call where the operands do not fit.
  bool find(Context &c, Dims a, Dims b) {
    if (a.rank == 0 || b.rank == 0)
      return c.fail("operands have ranks % and %", a.rank, b.rank), false;
    const bool vectorA = a.rank == 1, vectorB = b.rank == 1;
    if (vectorA)
      a = Dims(1, a[0]);
    if (vectorB)
      b = Dims(b[0], 1);
    m = a[a.rank - 2];
    k = a[a.rank - 1];
    n = b[b.rank - 1];
    if (b[b.rank - 2] != k)
      return c.fail("% columns times % rows", k, b[b.rank - 2]), false;
    outerA = Dims(a.at, a.rank - 2);
    outerB = Dims(b.at, b.rank - 2);
    if (!broadcastDims(c, outerA, outerB, outer))
      return false;
    result = outer;
    if ((!vectorA && !result.push(m)) || (!vectorB && !result.push(n)))
      return c.fail("the result has more than % dims", host::kMaxRank), false;
    batch = outer.product();
    return true;
  }

  /// Computes c = scale * a * b, all dense and row-major; with `turnsB` the matrices of b are
  /// transposed in memory. Returns false where memory could not be allocated.
  template <typename F>
  bool run(Context &call, F *c, const F *a, const F *b, bool turnsB = false, F scale = 1) const {
    Product<F> p{c, a, b, m, n, k, n, k, 1, turnsB ? 1 : n, turnsB ? k : 1};
    p.scale = scale;
    if (oneMatrix()) {
      // With a single matrix b, all rows of a form one matrix.
      p.m = m * batch;
      return multiply(call, p);
    }
    p.batch = batch;
    int64_t *offsets = findOffsets(call);
    if (!offsets)
      return false;
    p.cOffsets = offsets;
    p.aOffsets = offsets + batch;
    p.bOffsets = offsets + 2 * batch;
    return multiply(call, p);
  }

  /// Returns whether all products share one matrix b.
  bool oneMatrix() const { return outerB.product() == 1; }
  /// Returns the offsets in elements of the matrices of c, a and b: `batch` values each. Null (and
  /// a failed call) where memory could not be allocated.
  int64_t *findOffsets(Context &call) const {
    int64_t *offsets = call.scratch<int64_t>(3 * maximum(batch, int64_t(1)));
    if (!offsets)
      return nullptr;
    for (int64_t i = 0; i < batch; ++i) {
      int64_t rest = i, atA = 0, atB = 0, stepA = m * k, stepB = k * n;
      for (int64_t d = 1; d <= outer.rank; ++d) {
        const int64_t at = rest % outer[outer.rank - d];
        rest /= outer[outer.rank - d];
        if (d <= outerA.rank) {
          const int64_t size = outerA[outerA.rank - d];
          atA += size == 1 ? 0 : at * stepA;
          stepA *= size;
        }
        if (d <= outerB.rank) {
          const int64_t size = outerB[outerB.rank - d];
          atB += size == 1 ? 0 : at * stepB;
          stepB *= size;
        }
      }
      offsets[i] = i * m * n;
      offsets[batch + i] = atA;
      offsets[2 * batch + i] = atB;
    }
    return offsets;
  }

private:
  Dims outer, outerA, outerB;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_MATMULPLAN_H
