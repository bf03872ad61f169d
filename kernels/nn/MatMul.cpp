//===-- MatMul.cpp - MatMul and Gemm --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/GeneratedCode.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/GemmPlan.h"

namespace atc::kernels {

namespace {
/// computeFloats for the types of matrix products, which integers are too: signed ones
/// as unsigned ones of their size, whose products have the same bits.
template <typename Fn, typename... Operands>
void computeProducts(Context &c, void *out, int64_t count, Fn &&compute, Tensor first,
                     Operands... others) {
  switch (first.dtype()) {
  case I32:
  case U32:
    return computeWide<uint32_t>(c, out, count, compute, first, others...);
  case I64:
  case U64:
    return computeWide<uint64_t>(c, out, count, compute, first, others...);
  default:
    computeFloats(c, out, count, compute, first, others...);
  }
}
} // namespace

ATC_KERNEL_OF_CODE(MatMul) {
  const Tensor a = in(0), b = in(1);
  MatMulPlan plan;
  if (!plan.find(*this, a.dims(), b.dims()))
    return;
  if (hasFittingCode(*this) &&
      double(plan.result.product()) * double(plan.k) <= double(kMaxProducts))
    return runGenerated(*this, [](Context &c) {
      MatMulPlan plan;
      if (plan.find(c, c.in(0).dims(), c.in(1).dims()))
        c.makeBytes(0, c.in(0).dtype(), plan.result);
    });
  char *out = make(0, a.dtype(), plan.result);
  if (!out)
    return;
  auto compute = [&]<typename F>(F *y, const F *x, const F *w) { return plan.run(*this, y, x, w); };
  computeProducts(*this, out, plan.result.product(), compute, a, b);
}

ATC_KERNEL_OF_CODE(Gemm) {
  const Tensor a = in(0), b = in(1), bias = in(2);
  GemmPlan plan;
  if (!plan.find(*this, a, b, bias))
    return;
  if (hasFittingCode(*this) &&
      double(plan.m) * double(plan.n) * double(plan.k) <= double(kMaxProducts))
    return runGenerated(*this, [](Context &c) {
      GemmPlan plan;
      if (plan.find(c, c.in(0), c.in(1), c.in(2)))
        c.makeBytes(0, c.in(0).dtype(), plan.result());
    });
  char *out = make(0, a.dtype(), plan.result());
  if (!out)
    return;
  const double alpha = number("alpha", 1), beta = number("beta", 1);
  auto compute = [&]<typename F>(F *y, const F *x, const F *w, const F *add) {
    return plan.run(*this, y, x, w, add, alpha, beta);
  };
  computeProducts(*this, out, plan.m * plan.n, compute, a, b, bias);
}

} // namespace atc::kernels
