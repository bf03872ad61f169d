//===-- Reduce.cpp - the Reduce* operators and global pools ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/tensor/Reduce.h"

namespace atc::kernels {

namespace {
enum class What : uint8_t { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

template <typename A> A squareRoot(A value) { return converted<A>(math::sqrt(double(value))); }
template <typename A> A logarithm(A value) { return converted<A>(math::log(double(value))); }

/// The sum that a reduction computes; what it does with the sum is in reduceAll.
template <What what> constexpr auto stepsOf() {
  if constexpr (what == What::L1)
    return reduction::Absolute();
  else if constexpr (what == What::L2 || what == What::SumSquare)
    return reduction::Square();
  else if constexpr (what == What::Prod)
    return reduction::Product();
  else if constexpr (what == What::Max)
    return reduction::Max();
  else if constexpr (what == What::Min)
    return reduction::Min();
  else
    return reduction::Sum();
}

/// Reduces elements of type T; A is the type of the computation. Which reduction is known when this
/// is compiled: a model has the code of its own only.
template <What what, typename A, typename T>
bool reduceAll(Context &c, A *y, const T *x, const ReducePlan &p) {
  const int64_t count = p.result.product();
  const A *none = nullptr;
  if constexpr (what == What::LogSumExp && kIsFloat<A>) {
    // Relative to the largest element, so that nothing overflows.
    A *max = c.scratch<A>(maximum(count, int64_t(1)));
    if (!max)
      return false;
    reduce<reduction::Max>(c, max, x, p, none);
    for (int64_t i = 0; i < count; ++i)
      max[i] = fast::abs(max[i]) == highest<A>() ? A(0) : max[i];
    reduce<reduction::Exp>(c, y, x, p, max);
    for (int64_t i = 0; i < count; ++i)
      y[i] = max[i] + logarithm(y[i]);
  } else if constexpr (what == What::LogSumExp) {
    double *wide = c.scratch<double>(maximum(count, int64_t(1)));
    if (!wide || !reduceAll<what>(c, wide, x, p))
      return false;
    for (int64_t i = 0; i < count; ++i)
      y[i] = converted<A>(wide[i]);
  } else {
    reduce<decltype(stepsOf<what>())>(c, y, x, p, none);
    if constexpr (what == What::L2)
      for (int64_t i = 0; i < count; ++i)
        y[i] = squareRoot(y[i]);
    if constexpr (what == What::LogSum)
      for (int64_t i = 0; i < count; ++i)
        y[i] = logarithm(y[i]);
    if constexpr (what == What::Mean)
      for (int64_t i = 0; (p.count || kIsFloat<A>) && i < count; ++i)
        y[i] = y[i] / A(p.count);
  }
  return true;
}

template <What what> void runReduce(Context &c) {
  const Tensor x = c.in(0), axes = c.in(1);
  if (axes && !axes.known())
    return;
  const int64_t rank = x.rank(), given = axes ? axes.count() : 0;
  bool chosen[host::kMaxRank] = {};
  // Without axes all are reduced, or none where `noop_with_empty_axes` is set.
  for (int64_t d = 0; d < rank; ++d)
    chosen[d] = given == 0 && !c.integer("noop_with_empty_axes", 0);
  for (int64_t i = 0; i < given; ++i) {
    const int64_t axis = normalizeAxis(c, integerAt(axes, i), rank);
    if (axis < 0)
      return;
    chosen[axis] = true;
  }
  ReducePlan p;
  p.find(x.dims(), chosen, c.integer("keepdims", 1));
  void *out = c.makeBytes(0, x.dtype(), p.result);
  const int64_t count = p.result.product();
  if (!out || count == 0)
    return;
  auto run = [&](auto type) {
    using T = typename decltype(type)::Type;
    WideResult<T> y(c, out, count);
    const Compute<T> *data = widen<T>(c, x);
    if (y.data && data && reduceAll<what>(c, y.data, data, p))
      y.store(c);
  };
  if constexpr (what == What::Max || what == What::Min)
    if (x.dtype() == Bool) {
      run(TypeTag<uint8_t>());
      // For no elements: the identity of the maximum is false, that of the minimum true.
      for (int64_t i = 0; i < count; ++i)
        static_cast<uint8_t *>(out)[i] = static_cast<uint8_t *>(out)[i] != 0;
      return;
    }
  if (!dispatchNumbers(x.dtype(), run))
    c.failType(x.dtype());
}

/// Reduces all dims after the first two to 1. With a power, to a norm of it.
template <What what> void runGlobal(Context &c, double power = 0) {
  const Tensor x = c.in(0);
  if (x.rank() < 2)
    return c.fail("data of rank %", x.rank());
  bool chosen[host::kMaxRank] = {};
  for (int64_t d = 2; d < x.rank(); ++d)
    chosen[d] = true;
  ReducePlan p;
  p.find(x.dims(), chosen, true);
  void *out = c.makeBytes(0, x.dtype(), p.result);
  const int64_t count = p.result.product();
  if (!out || count == 0)
    return;
  auto compute = [&]<typename F>(F *y, const F *data) {
    F *powers = power ? c.scratch<F>(maximum(x.count(), int64_t(1))) : nullptr;
    if (power && !powers)
      return false;
    for (int64_t i = 0, n = power ? x.count() : 0; i < n; ++i)
      powers[i] = F(math::pow(math::abs(double(data[i])), power));
    if (!reduceAll<what>(c, y, power ? powers : data, p))
      return false;
    for (int64_t i = 0; power && i < count; ++i)
      y[i] = F(math::pow(double(y[i]), 1 / power));
    return true;
  };
  computeFloats(c, out, count, compute, x);
}
} // namespace

ATC_KERNEL(ReduceL1) { runReduce<What::L1>(*this); }
ATC_KERNEL(ReduceL2) { runReduce<What::L2>(*this); }
ATC_KERNEL(ReduceLogSum) { runReduce<What::LogSum>(*this); }
ATC_KERNEL(ReduceLogSumExp) { runReduce<What::LogSumExp>(*this); }
ATC_KERNEL(ReduceMax) { runReduce<What::Max>(*this); }
ATC_KERNEL(ReduceMean) { runReduce<What::Mean>(*this); }
ATC_KERNEL(ReduceMin) { runReduce<What::Min>(*this); }
ATC_KERNEL(ReduceProd) { runReduce<What::Prod>(*this); }
ATC_KERNEL(ReduceSum) { runReduce<What::Sum>(*this); }
ATC_KERNEL(ReduceSumSquare) { runReduce<What::SumSquare>(*this); }

ATC_KERNEL(GlobalAveragePool) { runGlobal<What::Mean>(*this); }
ATC_KERNEL(GlobalMaxPool) { runGlobal<What::Max>(*this); }
ATC_KERNEL(GlobalLpPool) {
  const int64_t p = integer("p", 2);
  if (p == 1)
    runGlobal<What::L1>(*this);
  else if (p == 2)
    runGlobal<What::L2>(*this);
  else
    runGlobal<What::Sum>(*this, double(p));
}

} // namespace atc::kernels
