//===-- BesselFunctions.cpp - Bessel functions of order 0 and 1 ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All functions compute in double precision. From 25 on, the terms of
// Hankel's asymptotic series fall below the precision of double.

#include "kernels/core/Math.h"
#include "kernels/core/Unary.h"

namespace atc::kernels {

namespace {

constexpr double kAsymptotic = 25;

/// The functions of the first and second kind at one point.
struct Oscillating {
  double j, y;
};

/// Computes both kinds at x >= kAsymptotic.
Oscillating besselFar(int order, double x) {
  double even = 0, odd = 0, term = 1;
  for (int k = 0; k < 2 * int(kAsymptotic); ++k) {
    (k % 2 ? odd : even) += k % 4 < 2 ? term : -term;
    const double step = 2 * k + 1;
    term *= (4 * order - step * step) / (8 * (k + 1) * x);
  }
  // sin and cos of x - (1/4 + order / 2) * pi, without rounding that angle.
  const double s = math::sin(x), c = math::cos(x), root = math::sqrt(0.5);
  const double sine = order ? -root * (s + c) : root * (s - c),
               cosine = order ? root * (s - c) : root * (s + c);
  const double size = math::sqrt(2 / (math::kPi * x));
  return {size * (even * cosine - odd * sine), size * (even * sine + odd * cosine)};
}

/// Computes both kinds at 0 < x < kAsymptotic: the recurrence of the first kind, downwards from an
/// order where it is negligible, and Neumann's series of the second one.
Oscillating besselNear(int order, double x) {
  constexpr double euler = 0.57721566490153286061;
  const double logarithm = math::log(x / 2) + euler;
  if (x < 1e-8)
    return {order ? x / 2 : 1, order ? -2 / (math::kPi * x) : 2 / math::kPi * logarithm};
  // J(above), J(k), and the sums of the even orders, which is 1, and of both series.
  double above = 0, current = 1, sum = 0, series = 0, zero = 0, one = 0;
  for (int k = 80; k >= 0; --k) {
    if (k == 0)
      zero = current;
    if (k == 1)
      one = current;
    if (k % 2 == 0)
      sum += k ? 2 * current : current;
    const int half = k / 2;
    const double sign = half % 2 ? -1 : 1;
    if (half > 0 && k % 2 == order)
      series += sign * current * (order ? double(k) / (double(half) * (half + 1)) : 1.0 / half);
    const double below = 2 * k / x * current - above;
    above = current;
    current = below;
    const double scale = math::abs(current) > 1e200 ? 1e-200 : 1;
    double *const values[] = {&above, &current, &sum, &series, &one};
    for (double *each : values)
      *each *= scale;
  }
  zero /= sum;
  one /= sum;
  series /= sum;
  if (order == 0)
    return {zero, 2 / math::kPi * (logarithm * zero - 2 * series)};
  return {one, 2 / math::kPi * ((logarithm - 1) * one - zero / x - series)};
}

Oscillating bessel(int order, double x) {
  return x < kAsymptotic ? besselNear(order, x) : besselFar(order, x);
}

double besselJ(int order, double x) {
  if (x == 0)
    return order ? x : 1;
  const double value = bessel(order, math::abs(x)).j;
  return order && x < 0 ? -value : value;
}

double besselY(int order, double x) { return x <= 0 ? -__builtin_inf() : bessel(order, x).y; }

/// The modified function of the second kind, times exp(x).
double besselKScaled(int order, double x) {
  if (x <= 0)
    return __builtin_inf();
  double total = 0;
  if (x >= kAsymptotic) {
    double term = 1;
    for (int k = 0; k < 2 * int(kAsymptotic); ++k) {
      total += term;
      const double step = 2 * k + 1;
      term *= (4 * order - step * step) / (8 * (k + 1) * x);
    }
    return total * math::sqrt(math::kPi / (2 * x));
  }
  if (x < 1e-8)
    return (1 + x) * (order ? 1 / x : -math::log(x / 2) - 0.57721566490153286061);
  // The integral of exp(x - x * cosh(t)) * cosh(order * t) from 0 on: sums of equal steps
  // converge with all digits, as the function is analytic and falls doubly exponentially.
  constexpr double step = 0.1;
  const double twice = 2 * math::cosh(step);
  double before = twice / 2, cosh = 1;
  for (int i = 0;; ++i) {
    const double term = math::exp(x - x * cosh) * (order ? cosh : 1);
    total += i ? term : term / 2;
    if (!(term > total * 1e-18))
      return total * step;
    const double next = twice * cosh - before;
    before = cosh;
    cosh = next;
  }
}

} // namespace

/// The functions of the first kind.
ATC_KERNEL(BesselJ) {
  const int order = integer("order", 0) != 0;
  mapFloats(*this, 2000, [=](double x) { return besselJ(order, x); });
}

/// The functions of the second kind.
ATC_KERNEL(BesselY) {
  const int order = integer("order", 0) != 0;
  mapFloats(*this, 2000, [=](double x) { return besselY(order, x); });
}

/// The modified functions of the second kind; with `scaled` times exp(x).
ATC_KERNEL(BesselK) {
  const int order = integer("order", 0) != 0;
  const bool isScaled = integer("scaled", 0) != 0;
  mapFloats(*this, 2000, [=](double x) {
    const double scaled = besselKScaled(order, x);
    return isScaled ? scaled : scaled * (x > 0 ? math::exp(-x) : 1);
  });
}

} // namespace atc::kernels
