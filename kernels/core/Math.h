//===-- Math.h - mathematical functions without a C library ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All functions compute in double precision, accurate to a few units in the last place; callers
// with floats round the result.

#ifndef OPENATC_KERNELS_CORE_MATH_H
#define OPENATC_KERNELS_CORE_MATH_H

#include "kernels/core/Numbers.h"

#include <stdint.h>

namespace atc::kernels::math {

inline constexpr double kPi = 3.14159265358979323846;

/// Round to integers: down, up, toward zero.
inline double floor(double x) { return __builtin_floor(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
/// Rounds half to even.
inline double rint(double x) { return __builtin_rint(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline double abs(double x) { return __builtin_fabs(x); }

/// Compute elementary functions, accurate to a few units in the last place; NaN and infinities as
/// in C.
double exp(double x);
double log(double x);
double log1p(double x);
double expm1(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double tanh(double x);
double erf(double x);
double pow(double x, double y);
double atan2(double y, double x);
double lgamma(double x);
/// Returns the remainder with the sign of x, as in C.
double fmod(double x, double y);

/// Compute inverse trigonometric functions in radians; NaN outside of their domain.
inline double asin(double x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
inline double acos(double x) { return atan2(sqrt((1 - x) * (1 + x)), x); }
inline double atan(double x) { return atan2(x, 1); }
/// Returns exp(x) / 2 without intermediate overflow.
inline double halfExp(double x) { return x > 709 ? exp(x - 1) * 1.3591409142295227 : exp(x) / 2; }
inline double sinh(double x) {
  const double size = abs(x), less = expm1(size);
  const double result = size < 1 ? (less + less / (less + 1)) / 2 : halfExp(size) - exp(-size) / 2;
  return x < 0 ? -result : result;
}
inline double cosh(double x) { return halfExp(abs(x)) + exp(-abs(x)) / 2; }
inline double asinh(double x) {
  const double size = abs(x);
  // Where x^2 would overflow, asinh(x) = log(2x).
  const double result = size > 0x1p500 ? log(size) + 0.69314718055994530942
                                       : log1p(size + size * size / (1 + sqrt(size * size + 1)));
  return x < 0 ? -result : result;
}
inline double acosh(double x) {
  const double above = x - 1;
  return x > 0x1p500 ? log(x) + 0.69314718055994530942 : log1p(above + sqrt(above * (above + 2)));
}
inline double atanh(double x) {
  const double size = abs(x), result = log1p(2 * size / (1 - size)) / 2;
  return x < 0 ? -result : result;
}
inline double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-abs(x))); }
inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

} // namespace atc::kernels::math

#endif // OPENATC_KERNELS_CORE_MATH_H
