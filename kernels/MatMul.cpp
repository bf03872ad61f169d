//===-- MatMul.cpp - MatMul and Gemm --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/MatMulPlan.h"
#include "kernels/Widen.h"

namespace atc::kernels {

namespace {
/// fn(tag) for the types of matrix products: signed integers as unsigned ones of
/// their size, whose products have the same bits.
template <typename Fn> bool dispatchProducts(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case I32: case U32: fn(TypeTag<uint32_t>()); return true;
  case I64: case U64: fn(TypeTag<uint64_t>()); return true;
  default: return dispatchFloats(dtype, fn);
  }
}
} // namespace

ATC_KERNEL(MatMul) {
  const Tensor a = in(0), b = in(1);
  MatMulPlan plan;
  if (!plan.find(*this, a.dims(), b.dims()))
    return;
  char *out = make(0, a.dtype(), plan.result);
  if (!out)
    return;
  bool done = dispatchProducts(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    WideResult<T> y(*this, out, plan.result.product());
    const auto *x = widen<T>(*this, a), *w = widen<T>(*this, b);
    if (y.data && x && w && plan.run(*this, y.data, x, w))
      y.store(*this);
  });
  if (!done)
    failType(a.dtype());
}

ATC_KERNEL(Gemm) {
  const Tensor a = in(0), b = in(1), bias = in(2);
  if (a.rank() != 2 || b.rank() != 2)
    return fail("operands have ranks % and %, not 2", a.rank(), b.rank());
  const bool transA = integer("transA", 0), transB = integer("transB", 0);
  const int64_t m = a.dim(transA), k = a.dim(!transA), n = b.dim(!transB);
  if (b.dim(transB) != k)
    return fail("% columns times % rows", k, b.dim(transB));
  const Dims shape(m, n);
  int64_t rowStep = 0, columnStep = 0;
  if (bias) {
    Dims common;
    if (!broadcastDims(*this, shape, bias.dims(), common))
      return;
    if (!(common == shape))
      return fail("C does not fit a result of % x %", m, n);
    const int64_t rank = bias.rank(), columns = rank ? bias.dim(rank - 1) : 1;
    columnStep = columns > 1;
    rowStep = rank > 1 && bias.dim(rank - 2) > 1 ? columns : 0;
  }
  char *out = make(0, a.dtype(), shape);
  if (!out)
    return;
  const double alpha = number("alpha", 1), beta = number("beta", 1);
  bool done = dispatchProducts(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(*this, out, m * n);
    const F *x = widen<T>(*this, a), *w = widen<T>(*this, b);
    const F *add = bias ? widen<T>(*this, bias) : nullptr;
    if (!y.data || !x || !w || (bias && !add))
      return;
    const bool scaled = alpha != 1 || beta != 1;
    // Numbers that are not integers scale integer products as doubles.
    auto scale = [&](F value, double by) {
      if constexpr (kIsFloat<F>) {
        return F(value * F(by));
      } else {
        using Signed = __make_signed(F);
        return F(int64_t(double(Signed(value)) * by));
      }
    };
    // Without factors the product is added to the bias.
    Product<F> p{y.data, x, w, m, n, k, n, transA ? 1 : k, transA ? m : 1, transB ? 1 : n,
                 transB ? k : 1, add && !scaled};
    if (p.add)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          y.data[i * n + j] = add[i * rowStep + j * columnStep];
    if (!multiply(*this, p))
      return;
    if (scaled)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          F &value = y.data[i * n + j];
          value = scale(value, alpha);
          if (add)
            value += scale(add[i * rowStep + j * columnStep], beta);
        }
    y.store(*this);
  });
  if (!done)
    failType(a.dtype());
}

} // namespace atc::kernels
