//===-- GemmPlan.h - one product of two matrices with a bias --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_GEMMPLAN_H
#define OPENATC_KERNELS_NN_GEMMPLAN_H

#include "kernels/core/Numbers.h"
#include "kernels/nn/MatMulPlan.h"

namespace atc::kernels {

/// The sizes of Gemm and similar operators: A (m x k) times B (k x n), each optionally transposed,
/// and C, which is broadcast to the result.
struct GemmPlan {
  int64_t m = 0, n = 0, k = 0;
  bool transA = false, transB = false;
  int64_t rowStep = 0, columnStep = 0; ///< strides of C in elements

  /// Computes the sizes. Returns false and fails the call where they do not fit.
  bool find(Context &c, Tensor a, Tensor b, Tensor bias) {
    if (a.rank() != 2 || b.rank() != 2)
      return c.fail("operands have ranks % and %, not 2", a.rank(), b.rank()), false;
    transA = c.integer("transA", 0);
    transB = c.integer("transB", 0);
    m = a.dim(transA);
    k = a.dim(!transA);
    n = b.dim(!transB);
    if (b.dim(transB) != k)
      return c.fail("% columns times % rows", k, b.dim(transB)), false;
    if (!bias)
      return true;
    Dims common;
    if (!broadcastDims(c, result(), bias.dims(), common))
      return false;
    if (!(common == result()))
      return c.fail("C does not fit a result of % x %", m, n), false;
    const int64_t rank = bias.rank(), columns = rank ? bias.dim(rank - 1) : 1;
    columnStep = columns > 1;
    rowStep = rank > 1 && bias.dim(rank - 2) > 1 ? columns : 0;
    return true;
  }

  /// Returns the shape of the product.
  Dims result() const { return Dims(m, n); }
  /// Returns the index of the element of C for element (i, j) of the result.
  int64_t biasAt(int64_t i, int64_t j) const { return i * rowStep + j * columnStep; }

  /// Returns the product as strides of the untransposed operands.
  template <typename F> Product<F> product(F *y, const F *a, const F *b, bool add = false) const {
    return {y,  a, b, m, n, k, n, transA ? 1 : k, transA ? m : 1, transB ? 1 : n, transB ? k : 1,
            add};
  }

  /// Computes y = alpha * a * b + beta * bias; `bias` may be null. Returns false where memory could
  /// not be allocated.
  template <typename F>
  bool run(Context &c, F *y, const F *a, const F *b, const F *bias, double alpha,
           double beta) const {
    const bool scaled = alpha != 1 || beta != 1;
    // Factors that are not integers scale integer products in double.
    auto scale = [](F value, double by) {
      if constexpr (kIsFloat<F>) {
        return F(value * F(by));
      } else {
        using Signed = __make_signed(F);
        return F(toInteger(double(Signed(value)) * by));
      }
    };
    // Without factors the product is added to the bias.
    const bool add = bias && !scaled;
    for (int64_t i = 0; add && i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        y[i * n + j] = bias[biasAt(i, j)];
    if (!multiply(c, product(y, a, b, add)))
      return false;
    for (int64_t i = 0; scaled && i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        F &value = y[i * n + j];
        value = scale(value, alpha);
        if (bias)
          value += scale(bias[biasAt(i, j)], beta);
      }
    return true;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_GEMMPLAN_H
