//===-- Arithmetic.cpp - sums, products, extremes of broadcast tensors ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers wrap around; a division by zero yields 0.

#include "kernels/core/Broadcast.h"
#include "kernels/core/Math.h"

namespace atc::kernels {

namespace {
struct AddOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (__is_integral(N))
      return N(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
};
struct SubOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (__is_integral(N))
      return N(uint64_t(a) - uint64_t(b));
    else
      return a - b;
  }
};
struct MulOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (__is_integral(N))
      return N(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  }
};
struct DivOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (!__is_integral(N))
      return a / b;
    else if (b == 0)
      return 0;
    else if (N(-1) < N(0) && b == N(-1)) // the minimum has no negative
      return N(uint64_t(0) - uint64_t(a));
    else
      return a / b;
  }
};
/// The remainder with the sign of b.
struct FloorModOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (!__is_integral(N)) {
      const N rest = N(math::fmod(a, b));
      if (rest == 0)
        return N(__builtin_copysign(0.0, b));
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else if (b == 0 || (N(-1) < N(0) && b == N(-1))) {
      return 0;
    } else {
      const N rest = N(a % b);
      return rest != 0 && (rest < 0) != (b < 0) ? N(rest + b) : rest;
    }
  }
};
/// The remainder with the sign of a.
struct TruncModOp {
  template <typename N> N operator()(N a, N b) const {
    if constexpr (!__is_integral(N))
      return N(math::fmod(a, b));
    else if (b == 0 || (N(-1) < N(0) && b == N(-1)))
      return 0;
    else
      return N(a % b);
  }
};
/// NaN is propagated.
struct MinOp {
  template <typename N> N operator()(N a, N b) const { return minOrNan(a, b); }
};
struct MaxOp {
  template <typename N> N operator()(N a, N b) const { return maxOrNan(a, b); }
};

/// Output 0 is op(input 0, input 1).
template <typename Op> void arithmetic(Context &c, Op op, int64_t work = 1) {
  const uint8_t dtype = c.in(0).dtype();
  broadcastPair(c, dtype, [&](const StridedSpace &space, void *out) {
    if (!dispatchNumbers(dtype, [&](auto type) {
          using T = typename decltype(type)::Type;
          mapInputs<T, T>(c, space, out, work,
                          [=](T a, T b) { return T(op(Compute<T>(a), Compute<T>(b))); });
        }))
      c.failType(dtype);
  });
}

/// to = `from`, of `dims`, broadcast to `shape`.
template <typename N, typename T>
void copyBroadcast(Context &c, N *to, const T *from, const Dims &shape, const Dims &dims) {
  const StridedSpace space(shape, broadcastSteps(dims, shape));
  const int64_t inner = space.inner(), step = space.innerStep(0);
  space.forEachRow(c, 1, [&](int64_t row, const int64_t *offsets) {
    for (int64_t i = 0, n = space.length(row); i < n; ++i)
      to[row * inner + i] = N(from[offsets[0] + i * step]);
  });
}

/// Computes output 0 as op(op(input 0, input 1), ...) / divisor. Small floats are rounded once, at
/// the end. `mean`: floats only, divided by the number of operands.
template <typename Op> void fold(Context &c, Op op, bool mean = false) {
  const uint8_t dtype = c.in(0).dtype();
  const uint32_t count = c.inputs();
  Dims shape = c.in(0).dims();
  for (uint32_t i = 1; i < count; ++i) {
    if (c.in(i).dtype() != dtype)
      return c.fail("operand % has element type %, the first %", i, c.in(i).dtype(), dtype);
    if (!broadcastInto(c, shape, c.in(i).dims()))
      return;
  }
  char *out = c.make(0, dtype, shape);
  if (!out)
    return;
  if (!dispatchNumbers(dtype, [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        WideResult<T> sum(c, out, shape.product());
        if (!sum.data)
          return;
        copyBroadcast(c, sum.data, c.in(0).as<T>(), shape, c.in(0).dims());
        for (uint32_t i = 1; i < count; ++i)
          mapPairs(c, broadcastSpace(shape, shape, c.in(i).dims()), sum.data, c.in(i).as<T>(),
                   sum.data, 1, [=](N a, T b) { return op(a, N(b)); });
        if constexpr (kIsFloat<T>)
          for (int64_t i = 0; mean && i < sum.count; ++i)
            sum.data[i] /= N(count);
        sum.store(c);
      }))
    c.failType(dtype);
}

/// Integers: exact where the result fits, else what is left of it.
template <typename N> N integerPower(N base, double exponent) {
  if (exponent < 0) {
    if (base == N(1))
      return 1;
    if (N(-1) < N(0) && base == N(-1))
      return math::fmod(exponent, 2) == 0 ? N(1) : N(-1);
    return 0;
  }
  uint64_t result = 1, square = uint64_t(base);
  for (uint64_t rest = exponent < 0x1p63 ? uint64_t(exponent) : 0; rest; rest >>= 1) {
    if (rest & 1)
      result *= square;
    square *= square;
  }
  return N(result);
}

/// A power of an integer to a fraction. One that may be an integer is, though pow errs by some
/// units in its last place.
double fractionalPower(double base, double exponent) {
  if (exponent == 0.5)
    return math::sqrt(base);
  const double power = math::pow(base, exponent), nearest = math::floor(power + 0.5);
  return math::abs(power - nearest) <= math::abs(power) * 0x1p-45 ? nearest : power;
}
} // namespace

ATC_KERNEL(Add) { arithmetic(*this, AddOp()); }
ATC_KERNEL(Sub) { arithmetic(*this, SubOp()); }
ATC_KERNEL(Mul) { arithmetic(*this, MulOp()); }
ATC_KERNEL(Div) { arithmetic(*this, DivOp(), 4); }

ATC_KERNEL(Mod) {
  if (integer("fmod", 0))
    arithmetic(*this, TruncModOp(), 8);
  else
    arithmetic(*this, FloorModOp(), 8);
}

ATC_KERNEL(Min) { fold(*this, MinOp()); }
ATC_KERNEL(Max) { fold(*this, MaxOp()); }
ATC_KERNEL(Sum) { fold(*this, AddOp()); }
ATC_KERNEL(Mean) { fold(*this, AddOp(), /*mean=*/true); }

ATC_KERNEL(Pow) {
  const Tensor base = in(0), exponent = in(1);
  Dims shape = base.dims();
  if (!broadcastInto(*this, shape, exponent.dims()))
    return;
  char *out = make(0, base.dtype(), shape);
  if (!out)
    return;
  const double *powers = numbersOf<double>(*this, exponent);
  if (!powers)
    return;
  const StridedSpace space = broadcastSpace(shape, base.dims(), exponent.dims());
  if (!dispatchNumbers(base.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        mapPairs(*this, space, base.as<T>(), powers, reinterpret_cast<T *>(out), 40,
                 [](T element, double y) {
                   if constexpr (kIsFloat<T>) {
                     const double x = Compute<T>(element);
                     return T(y == 2 ? x * x : math::pow(x, y));
                   } else {
                     if (math::floor(y) == y)
                       return integerPower(element, y);
                     const double power = fractionalPower(double(element), y);
                     const bool fits = power >= -0x1p63 && power < 0x1p63;
                     return T(fits ? int64_t(power) : lowest<int64_t>());
                   }
                 });
      }))
    failType(base.dtype());
}

ATC_KERNEL(PRelu) {
  const Tensor data = in(0), slope = in(1);
  Dims shape = data.dims();
  if (!broadcastInto(*this, shape, slope.dims()))
    return;
  if (!(shape == data.dims()))
    return fail("the slope has a larger shape than the input");
  arithmetic(*this, [](auto x, decltype(x) slope) { return x < 0 ? MulOp()(x, slope) : x; });
}

} // namespace atc::kernels
