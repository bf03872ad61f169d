//===-- IntegralFunctions.cpp - integrals that are no elementary functions -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All functions compute in double precision.

#include "kernels/core/Math.h"
#include "kernels/core/Unary.h"

namespace atc::kernels {

namespace {

constexpr double kInfinity = __builtin_inf(), kNoNumber = __builtin_nan("");

/// exp(-x^2) times the integral of exp(t^2) from 0 to x, by Rybicki's sum over odd multiples of a
/// step.
double dawson(double x) {
  const double size = math::abs(x);
  if (size < 0.2) {
    // The sum would lose digits to cancellation.
    const double square = x * x;
    double term = x, total = x;
    for (int k = 1; k < 12; ++k)
      total += term *= -2 * square / (2 * k + 1);
    return total;
  }
  if (size > 1e8)
    return 0.5 / x;
  constexpr double step = 0.2;
  const double even = 2 * math::rint(size / (2 * step)), rest = size - even * step;
  double total = 0;
  for (int k = -37; k <= 37; k += 2) {
    const double distance = rest - k * step;
    total += math::exp(-distance * distance) / (even + k);
  }
  total *= 0.56418958354775628695; // 1 / sqrt(pi)
  return x < 0 ? -total : total;
}

/// The exponential integral Ei of positive numbers.
double exponentialIntegral(double x) {
  if (!(x >= 0))
    return kNoNumber;
  if (x == 0)
    return -kInfinity;
  if (x > 720)
    return kInfinity;
  double total = 0, term = 1;
  if (x < 40) {
    for (int k = 1; k < 200 && term > total * 1e-17; ++k) {
      term *= x / k;
      total += term / k;
    }
    return 0.57721566490153286061 + math::log(x) + total;
  }
  for (int k = 1; k < 40; ++k) {
    total += term;
    term *= k / x;
  }
  // The halves, as their product may exceed what double holds only at the very end.
  return math::exp(x / 2) * (math::exp(x / 2) / x * total);
}

/// The integrals of cos and sin of pi / 2 * t^2 from 0 to x.
double fresnel(bool isCosine, double x) {
  const double size = math::abs(x);
  double value;
  if (size < 1.6) {
    // The power series of both; terms alternate between them.
    const double square = math::kPi / 2 * size * size;
    double term = size, sums[2] = {0, 0};
    for (int k = 0; k < 40; ++k) {
      sums[k % 2] += (k % 4 < 2 ? term : -term) / (2 * k + 1);
      term *= square / (k + 1);
    }
    value = sums[!isCosine];
  } else if (size > 1e8) {
    value = size < kInfinity ? 0.5 : isNan(size) ? size : 0.5;
  } else {
    // The continued fraction of the complementary error function of (1 - i) * sqrt(pi) / 2 * x.
    const double square = math::kPi * size * size;
    double br = 1, bi = -square, cr = 1e300, ci = 0;
    double norm = br * br + bi * bi, dr = br / norm, di = -bi / norm, hr = dr, hi = di;
    for (int n = -1, k = 2; k < 500; ++k) {
      n += 2;
      const double a = -double(n) * (n + 1);
      br += 4;
      // d = 1 / (a * d + b), c = b + a / c, h *= c * d.
      double nr = a * dr + br, ni = a * di + bi;
      norm = nr * nr + ni * ni;
      dr = nr / norm;
      di = -ni / norm;
      norm = cr * cr + ci * ci;
      nr = br + a * cr / norm;
      ni = bi - a * ci / norm;
      cr = nr;
      ci = ni;
      const double fr = cr * dr - ci * di, fi = cr * di + ci * dr;
      nr = hr * fr - hi * fi;
      hi = hr * fi + hi * fr;
      hr = nr;
      if (math::abs(fr - 1) + math::abs(fi) < 1e-16)
        break;
    }
    // h *= (1 - i) * x; the result is (1 + i) / 2 * (1 - (cos + i * sin)(pi / 2 * x^2) * h).
    const double kr = size * (hr + hi), ki = size * (hi - hr);
    // Whole turns of the angle are those of x^2 / 4.
    const double turns = size * size / 4, angle = 2 * math::kPi * (turns - math::floor(turns));
    const double c = math::cos(angle), s = math::sin(angle);
    const double er = 1 - (c * kr - s * ki), ei = -(c * ki + s * kr);
    value = isCosine ? (er - ei) / 2 : (er + ei) / 2;
  }
  return x < 0 ? -value : value;
}

/// The integral of log(t) / (1 - t) from 1 to x, which is the dilogarithm of 1 - x.
double spence(double x) {
  constexpr double sixth = math::kPi * math::kPi / 6;
  if (!(x >= 0))
    return kNoNumber;
  if (x == 0)
    return sixth;
  if (x == kInfinity)
    return -kInfinity;
  // Identities lead to arguments near 1.
  if (x > 2) {
    const double logarithm = math::log(x);
    return -spence(1 / x) - logarithm * logarithm / 2;
  }
  if (x < 0.5)
    return sixth - math::log(x) * math::log1p(-x) - spence(1 - x);
  // In powers of log(x), with the Bernoulli numbers B(2k) / (2k + 1)!.
  constexpr double factors[] = {1.0 / 36,
                                -1.0 / 3600,
                                1.0 / 211680,
                                -1.0 / 10886400,
                                1.0 / 526901760,
                                -691.0 / 16999766784000.0,
                                1.0 / 1120863744000.0,
                                -3617.0 / 181400588328960000.0,
                                43867.0 / 97072790126247936000.0};
  const double u = -math::log(x), square = u * u;
  double total = u - square / 4, power = u * square;
  for (const double factor : factors) {
    total += factor * power;
    power *= square;
  }
  return total;
}

} // namespace

ATC_KERNEL(Dawsn) {
  mapFloats(*this, 1000, [](double x) { return dawson(x); });
}
ATC_KERNEL(Expint) {
  mapFloats(*this, 400, [](double x) { return exponentialIntegral(x); });
}

/// The integral of the cosine, or without `cosine` that of the sine.
ATC_KERNEL(Fresnel) {
  const bool isCosine = integer("cosine", 0) != 0;
  mapFloats(*this, 1000, [=](double x) { return fresnel(isCosine, x); });
}
ATC_KERNEL(Spence) {
  mapFloats(*this, 200, [](double x) { return spence(x); });
}

} // namespace atc::kernels
