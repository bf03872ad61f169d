//===-- Reduce.cpp - the Reduce* operators and global pools ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/tensor/Reduce.h"

namespace atc::kernels {

namespace {
enum class What : uint8_t { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

template <typename A> A squareRoot(A value) { return converted<A>(math::sqrt(double(value))); }
template <typename A> A logarithm(A value) { return converted<A>(math::log(double(value))); }

/// Reduces elements of type T; A is the type of the computation.
template <typename A, typename T>
bool reduceAll(Context &c, What what, A *y, const T *x, const ReducePlan &p) {
  const int64_t count = p.result.product();
  const A *none = nullptr;
  auto finish = [&](auto fn) {
    for (int64_t i = 0; i < count; ++i)
      y[i] = fn(y[i]);
  };
  switch (what) {
  case What::L1:
    reduce<reduction::Absolute>(c, y, x, p, none);
    break;
  case What::SumSquare:
    reduce<reduction::Square>(c, y, x, p, none);
    break;
  case What::Sum:
    reduce<reduction::Sum>(c, y, x, p, none);
    break;
  case What::Prod:
    reduce<reduction::Product>(c, y, x, p, none);
    break;
  case What::Max:
    reduce<reduction::Max>(c, y, x, p, none);
    break;
  case What::Min:
    reduce<reduction::Min>(c, y, x, p, none);
    break;
  case What::L2:
    reduce<reduction::Square>(c, y, x, p, none);
    finish([](A v) { return squareRoot(v); });
    break;
  case What::LogSum:
    reduce<reduction::Sum>(c, y, x, p, none);
    finish([](A v) { return logarithm(v); });
    break;
  case What::Mean:
    reduce<reduction::Sum>(c, y, x, p, none);
    if (p.count || kIsFloat<A>)
      finish([&](A v) { return v / A(p.count); });
    break;
  case What::LogSumExp:
    if constexpr (kIsFloat<A>) {
      // Relative to the largest element, so that nothing overflows.
      A *most = c.scratch<A>(maximum(count, int64_t(1)));
      if (!most)
        return false;
      reduce<reduction::Max>(c, most, x, p, none);
      for (int64_t i = 0; i < count; ++i)
        most[i] = fast::abs(most[i]) == highest<A>() ? A(0) : most[i];
      reduce<reduction::Exp>(c, y, x, p, most);
      for (int64_t i = 0; i < count; ++i)
        y[i] = most[i] + logarithm(y[i]);
    } else {
      double *wide = c.scratch<double>(maximum(count, int64_t(1)));
      if (!wide || !reduceAll(c, what, wide, x, p))
        return false;
      for (int64_t i = 0; i < count; ++i)
        y[i] = converted<A>(wide[i]);
    }
  }
  return true;
}

void runReduce(Context &c, What what) {
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
    if (y.data && data && reduceAll(c, what, y.data, data, p))
      y.store(c);
  };
  if (x.dtype() == Bool && (what == What::Max || what == What::Min)) {
    run(TypeTag<uint8_t>());
    // For no elements: the identity of the maximum is false, that of the minimum true.
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint8_t *>(out)[i] = static_cast<uint8_t *>(out)[i] != 0;
  } else if (!dispatchNumbers(x.dtype(), run)) {
    c.failType(x.dtype());
  }
}

/// Reduces all dims after the first two to 1. With a power, to a norm of it.
void runGlobal(Context &c, What what, double power = 0) {
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
    if (!reduceAll(c, what, y, power ? powers : data, p))
      return false;
    for (int64_t i = 0; power && i < count; ++i)
      y[i] = F(math::pow(double(y[i]), 1 / power));
    return true;
  };
  computeFloats(c, out, count, compute, x);
}
} // namespace

ATC_KERNEL(ReduceL1) { runReduce(*this, What::L1); }
ATC_KERNEL(ReduceL2) { runReduce(*this, What::L2); }
ATC_KERNEL(ReduceLogSum) { runReduce(*this, What::LogSum); }
ATC_KERNEL(ReduceLogSumExp) { runReduce(*this, What::LogSumExp); }
ATC_KERNEL(ReduceMax) { runReduce(*this, What::Max); }
ATC_KERNEL(ReduceMean) { runReduce(*this, What::Mean); }
ATC_KERNEL(ReduceMin) { runReduce(*this, What::Min); }
ATC_KERNEL(ReduceProd) { runReduce(*this, What::Prod); }
ATC_KERNEL(ReduceSum) { runReduce(*this, What::Sum); }
ATC_KERNEL(ReduceSumSquare) { runReduce(*this, What::SumSquare); }

ATC_KERNEL(GlobalAveragePool) { runGlobal(*this, What::Mean); }
ATC_KERNEL(GlobalMaxPool) { runGlobal(*this, What::Max); }
ATC_KERNEL(GlobalLpPool) {
  const int64_t p = integer("p", 2);
  if (p == 1 || p == 2)
    runGlobal(*this, p == 1 ? What::L1 : What::L2);
  else
    runGlobal(*this, What::Sum, double(p));
}

} // namespace atc::kernels
