//===-- VectorMath.h - functions for vectorized loops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The float versions have no branches and are accurate to about 2 units in the last place. The
// double versions are those of Math.h.

#ifndef OPENATC_KERNELS_CORE_VECTORMATH_H
#define OPENATC_KERNELS_CORE_VECTORMATH_H

#include "kernels/core/Math.h"
#include "kernels/core/Wrapping.h"

namespace atc::kernels::fast {

/// Combines 2^i lanes to one by halves, whose combinations do not wait for each other as those of a
/// loop would. The lanes are overwritten.
template <int64_t lanes, typename F, typename Combine>
inline F foldLanes(F (&values)[lanes], Combine combine) {
  static_assert((lanes & (lanes - 1)) == 0);
#pragma clang loop unroll(full)
  for (int64_t half = lanes / 2; half; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      values[l] = combine(values[l], values[l + half]);
  return values[0];
}
/// Returns the sum of lanes.
template <int64_t lanes, typename F> inline F sumLanes(F (&values)[lanes]) {
  return foldLanes(values, [](F a, F b) { return a + b; });
}

/// e^x as the product of a power of two and what is left.
struct SplitPower {
  int32_t bits; ///< the exponent of the power of two is in its low bits, above 0x4b400000
  float rest;   ///< between the roots of 1/2 and 2
};

/// Splits e^x; for x between -2^21 and 2^21.
inline SplitPower splitPower(float x) {
  // The low bits of the sum hold the rounded quotient.
  const float shifted = x * 1.44269504f + 0x1.8p23f;
  const float n = shifted - 0x1.8p23f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  // 1 + r + r^2 q(r), as in passes/cpu/math/Exponentials.cpp.
  float sum = 0x1.6a242ap-10f;
  sum = sum * r + 0x1.1239e4p-7f;
  sum = sum * r + 0x1.5558f2p-5f;
  sum = sum * r + 0x1.555492p-3f;
  sum = sum * r + 0x1.fffffcp-2f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  return {__builtin_bit_cast(int32_t, shifted), sum};
}

/// Returns e^x with an error of about one unit in the last place, or zero where e^x is subnormal or
/// almost so: Intel's cores take 150 cycles for such a product, and masked scores have many.
/// Vectorizes.
inline float exp(float x) {
  // These comparisons keep a NaN.
  x = x > 89.0f ? 89.0f : x;
  const bool isZero = x < -86.9f;
  x = isZero ? -86.9f : x;
  const SplitPower power = splitPower(x);
  // Half of the power of two, which can be 2^128, and twice the rest. The shift drops all bits of
  // the exponent but its low ones.
  const float half = __builtin_bit_cast(float, uint32_t(power.bits + 126) << 23);
  return isZero ? 0.0f : (power.rest + power.rest) * half;
}
inline double exp(double x) { return math::exp(x); }

/// Returns 1 / (1 + e^-x).
template <typename F> F sigmoid(F x) { return F(1) / (F(1) + exp(-x)); }

/// Returns the hyperbolic tangent, by a continued fraction near zero.
inline float tanh(float x) {
  // A quotient of polynomials near 0, where 1 - 2 / (e^2x + 1) would cancel.
  // Both are one division, which takes longer than all the rest.
  const float x2 = x * x;
  const bool isNear = x2 < 0.5f;
  const float above = x * (10395 + x2 * (1260 + x2 * 21));
  const float below = 10395 + x2 * (4725 + x2 * (210 + x2));
  const float quotient = (isNear ? above : 2) / (isNear ? below : exp(2 * x) + 1);
  return isNear ? quotient : 1 - quotient;
}
inline double tanh(double x) { return math::tanh(x); }

/// Returns sigmoid(x) * tanh(y) with a single division, which takes longer than an exponential.
inline float sigmoidTimesTanh(float x, float y) {
  // The formula is that of tanh above; beyond 20 the result is 1. These comparisons keep a NaN.
  const float y2 = y * y;
  const bool isNear = y2 < 0.5f;
  float twice = y > 20.0f ? 40.0f : 2 * y;
  twice = twice < -40.0f ? -40.0f : twice;
  const float power = exp(twice);
  const float above = isNear ? y * (10395 + y2 * (1260 + y2 * 21)) : power - 1;
  const float below = isNear ? 10395 + y2 * (4725 + y2 * (210 + y2)) : power + 1;
  return above / (below * (1 + exp(-x)));
}
inline double sigmoidTimesTanh(double x, double y) { return sigmoid(x) * tanh(y); }

/// Returns the error function, by a polynomial near zero.
inline float erf(float x) {
  // x * P(x^2) up to 1, then 1 - e^-x^2 * Q(1 / (1 + |x| / 2)). A NaN stays.
  float a = x < 0 ? -x : x;
  a = a > 4.0f ? 4.0f : a;
  const float x2 = a * a;
  float near = -9.67359022e-6f;
  near = near * x2 + 1.12682537e-4f;
  near = near * x2 - 8.48439652e-4f;
  near = near * x2 + 5.22105341e-3f;
  near = near * x2 - 2.68654383e-2f;
  near = near * x2 + 0.112837826f;
  near = near * x2 - 0.376126385f;
  near = (near * x2 + 1.12837917f) * x;
  const float t = 1 / (1 + 0.5f * a);
  float far = -0.0579633643f;
  far = far * t - 0.0437671782f;
  far = far * t + 0.386657752f;
  far = far * t + 0.112748454f;
  far = far * t + 0.32657172f;
  far = far * t + 0.274455466f;
  far = far * t + 5.38750579e-4f;
  far = 1 - exp(-x2) * far;
  return a < 1.0f ? near : x < 0 ? -far : far;
}
inline double erf(double x) { return math::erf(x); }

/// Return x * Phi(x), exactly and by its approximation with tanh.
template <typename F> F gelu(F x) { return F(0.5) * x * (1 + erf(x * F(0.70710678118654752440))); }
template <typename F> F geluTanh(F x) {
  return F(0.5) * x * (1 + tanh(F(0.79788456080286535588) * (x + F(0.044715) * x * x * x)));
}

/// Return the square root; NaN below zero.
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
/// Returns the magnitude; that of the lowest integer wraps to itself.
template <typename F> F abs(F x) { return x < F(0) ? wrapping::subtract(F(0), x) : x; }

} // namespace atc::kernels::fast

#endif // OPENATC_KERNELS_CORE_VECTORMATH_H
