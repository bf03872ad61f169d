//===-- Elementwise.cpp - unary elementwise functions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Unary.h"
#include "kernels/core/VectorMath.h"

namespace atc::kernels {

namespace {
/// Output 0, of booleans, is op(x) for floats of 8 bits too.
template <typename Op> void floatTest(Context &c, Op op) {
  const Tensor data = c.in(0);
  uint8_t *out = c.make<uint8_t>(0, Bool, data.dims());
  if (!out)
    return;
  if (dispatchFloats(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        mapElements<T, uint8_t>(c, out, 1, [=](T x) { return uint8_t(op(Compute<T>(x))); });
      }))
    return;
  if (bitsOf(data.dtype()) > 8)
    return c.failType(data.dtype());
  for (int64_t i = 0, count = data.count(); i < count; ++i)
    out[i] = op(float(numberAt(data, i)));
}
} // namespace

//===----------------------------------------------------------------------===//
// All floats and integers
//===----------------------------------------------------------------------===//

ATC_KERNEL(Neg) {
  mapNumbers(*this, [](auto x) {
    if constexpr (__is_integral(decltype(x)))
      return uint64_t(0) - uint64_t(x);
    else
      return -x;
  });
}
ATC_KERNEL(Abs) {
  mapNumbers(*this, [](auto x) {
    if constexpr (__is_integral(decltype(x)))
      return x < 0 ? uint64_t(0) - uint64_t(x) : uint64_t(x);
    else
      return decltype(x)(__builtin_fabs(x));
  });
}
ATC_KERNEL(Sign) {
  mapNumbers(*this, [](auto x) {
    using N = decltype(x);
    return x > 0 ? N(1) : x < 0 ? N(-1) : x == 0 ? N(0) : x;
  });
}

ATC_KERNEL(Clip) {
  const Tensor data = in(0), low = in(1), high = in(2);
  if ((low && low.count() != 1) || (high && high.count() != 1))
    return fail("the limits have % and % elements, not one", low ? low.count() : 1,
                high ? high.count() : 1);
  if ((low && low.dtype() != data.dtype()) || (high && high.dtype() != data.dtype()))
    return fail("the limits do not have the element type of the input, %", data.dtype());
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const N min = low ? N(low.as<T>()[0]) : lowest<N>();
        const N max = high ? N(high.as<T>()[0]) : highest<N>();
        mapElements<T, T>(*this, out, 1, [=](T element) {
          N x = element;
          x = x < min ? min : x;
          return T(x > max ? max : x);
        });
      }))
    failType(data.dtype());
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

ATC_KERNEL(Floor) {
  mapFloats(*this, 1, [](auto x) { return math::floor(x); });
}
ATC_KERNEL(Ceil) {
  mapFloats(*this, 1, [](auto x) { return math::ceil(x); });
}
ATC_KERNEL(Round) {
  mapFloats(*this, 1, [](auto x) { return math::rint(x); });
}
ATC_KERNEL(Sqrt) {
  mapFloats(*this, 4, [](auto x) { return fast::sqrt(x); });
}
ATC_KERNEL(Reciprocal) {
  mapFloats(*this, 4, [](auto x) { return decltype(x)(1) / x; });
}
ATC_KERNEL(Exp) {
  mapFloats(*this, 20, [](auto x) { return fast::exp(x); });
}
ATC_KERNEL(Log) {
  mapFloats(*this, 40, [](auto x) { return math::log(x); });
}
ATC_KERNEL(Sin) {
  mapFloats(*this, 40, [](auto x) { return math::sin(x); });
}
ATC_KERNEL(Cos) {
  mapFloats(*this, 40, [](auto x) { return math::cos(x); });
}
ATC_KERNEL(Tan) {
  mapFloats(*this, 60, [](auto x) { return math::tan(x); });
}
ATC_KERNEL(Asin) {
  mapFloats(*this, 60, [](auto x) { return math::asin(x); });
}
ATC_KERNEL(Acos) {
  mapFloats(*this, 60, [](auto x) { return math::acos(x); });
}
ATC_KERNEL(Atan) {
  mapFloats(*this, 60, [](auto x) { return math::atan(x); });
}
ATC_KERNEL(Sinh) {
  mapFloats(*this, 60, [](auto x) { return math::sinh(x); });
}
ATC_KERNEL(Cosh) {
  mapFloats(*this, 60, [](auto x) { return math::cosh(x); });
}
ATC_KERNEL(Tanh) {
  mapFloats(*this, 20, [](auto x) { return fast::tanh(x); });
}
ATC_KERNEL(Asinh) {
  mapFloats(*this, 60, [](auto x) { return math::asinh(x); });
}
ATC_KERNEL(Acosh) {
  mapFloats(*this, 60, [](auto x) { return math::acosh(x); });
}
ATC_KERNEL(Atanh) {
  mapFloats(*this, 60, [](auto x) { return math::atanh(x); });
}
ATC_KERNEL(Erf) {
  mapFloats(*this, 20, [](auto x) { return fast::erf(x); });
}

ATC_KERNEL(IsNaN) {
  floatTest(*this, [](auto x) { return isNan(x); });
}
ATC_KERNEL(IsInf) {
  const bool negative = integer("detect_negative", 1), positive = integer("detect_positive", 1);
  floatTest(*this, [=](auto x) {
    using N = decltype(x);
    return (positive && x == highest<N>()) || (negative && x == lowest<N>());
  });
}

} // namespace atc::kernels
