//===-- Math.h - functions of real numbers without a C library ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In double precision, good to a few units in the last place; float callers round.

#ifndef OPENATC_KERNELS_MATH_H
#define OPENATC_KERNELS_MATH_H

#include <stdint.h>

namespace atc::kernels::math {

inline double floor(double x) { return __builtin_floor(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
/// Half to even.
inline double rint(double x) { return __builtin_rint(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline bool isNan(double x) { return x != x; }

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
/// The remainder with the sign of x, as C has it.
double fmod(double x, double y);

inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }

} // namespace atc::kernels::math

#endif // OPENATC_KERNELS_MATH_H
