//===-- Math.cpp - mathematical functions without a C library -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"

namespace atc::kernels::math {

namespace {
constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
// Splits ln 2 in two: products of the high part with integers below 2^20 are exact.
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

double fromBits(uint64_t bits) { return __builtin_bit_cast(double, bits); }
uint64_t toBits(double x) { return __builtin_bit_cast(uint64_t, x); }
double power2(int exponent) { return fromBits(uint64_t(exponent + 1023) << 52); }

// The series below multiply by reciprocals, which are constants where their loops are unrolled: a
// division takes longer than the rest of a term.

/// c[0] + c[1] x + ...
template <int N> double polynomial(const double (&c)[N], double x) {
  double result = c[N - 1];
  for (int i = N - 2; i >= 0; --i)
    result = result * x + c[i];
  return result;
}
} // namespace

double exp(double x) {
  if (isNan(x))
    return x;
  if (x > 709.79)
    return kInfinity;
  if (x < -745.2)
    return 0;
  double n = rint(x * 1.44269504088896340736);
  double r = (x - n * kLn2High) - n * kLn2Low;
  // Taylor series to r^13: the error for |r| <= 0.35 is 1e-17.
  double sum = 1;
#pragma clang loop unroll(full)
  for (int i = 13; i >= 1; --i)
    sum = 1 + sum * (r * (1.0 / i));
  int exponent = int(n);
  int half = exponent / 2;
  return sum * power2(half) * power2(exponent - half);
}

double expm1(double x) {
  if (abs(x) > 0.35)
    return exp(x) - 1;
  double sum = 1;
#pragma clang loop unroll(full)
  for (int i = 14; i >= 2; --i)
    sum = 1 + sum * (x * (1.0 / i));
  return x * sum;
}

double log(double x) {
  if (isNan(x) || x < 0)
    return kNan;
  if (x == 0)
    return -kInfinity;
  if (x == kInfinity)
    return x;
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  uint64_t bits = toBits(x);
  exponent += int(bits >> 52) - 1023;
  double m = fromBits((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(s), |s| < 0.172: s^21 / 21 is below 1e-17.
  double s = (m - 1) / (m + 1), s2 = s * s, sum = 0;
#pragma clang loop unroll(full)
  for (int i = 21; i >= 3; i -= 2)
    sum = (sum + 1.0 / i) * s2;
  return exponent * kLn2High + (2 * s + (2 * s * sum + exponent * kLn2Low));
}

double log1p(double x) {
  double y = 1 + x;
  // Corrects the rounding of y to first order.
  return y == 1 ? x : y == kInfinity ? y : log(y) - ((y - 1) - x) / y;
}

namespace {
/// The bits of 2/pi behind the point, the highest first: enough for the largest double.
constexpr uint32_t kTwoOverPi[40] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

/// Computes what reduce() does for a finite x of any size (Payne and Hanek): of the product of x
/// and 2/pi, only the bits below 4 are computed.
double reduceLarge(double x, int &quadrant) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, x);
  const uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  const int exponent = int(bits >> 52 & 0x7ff) - 1075; // |x| = mantissa * 2^exponent
  // Words in front of `first` contribute multiples of 4.
  constexpr int kWords = 7;
  const int first = exponent > 34 ? (exponent - 2) / 32 : 0;
  uint32_t product[kWords + 3] = {}; // the lowest word first
  for (int i = 0; i < kWords; ++i) {
    const uint64_t word = kTwoOverPi[first + kWords - 1 - i];
    const uint64_t low = word * uint32_t(mantissa), high = word * (mantissa >> 32);
    uint64_t sum = uint64_t(product[i]) + uint32_t(low);
    product[i] = uint32_t(sum);
    sum = (sum >> 32) + product[i + 1] + (low >> 32) + uint32_t(high);
    product[i + 1] = uint32_t(sum);
    product[i + 2] = uint32_t((sum >> 32) + (high >> 32));
  }
  // The point is `point` bits above the lowest bit.
  const int point = 32 * (first + kWords) - exponent;
  auto wordBelow = [&](int end) { // the 32 bits below bit `end`
    const int begin = end - 32, word = begin / 32, shift = begin % 32;
    const uint64_t pair = product[word] | uint64_t(product[word + 1]) << 32;
    return uint32_t(pair >> shift);
  };
  quadrant = int(wordBelow(point + 32) & 3);
  uint64_t high = uint64_t(wordBelow(point)) << 32 | wordBelow(point - 32);
  uint64_t low = uint64_t(wordBelow(point - 64)) << 32 | wordBelow(point - 96);
  const bool above = high >> 63; // the fraction is at least 1/2: count from the next quadrant
  if (above) {
    ++quadrant;
    low = ~low + 1;
    high = ~high + (low == 0);
  }
  double fraction = double(high) * 0x1p-64 + double(low) * 0x1p-128;
  if (above != (x < 0))
    fraction = -fraction;
  quadrant = (x < 0 ? -quadrant : quadrant) & 3;
  return fraction * 1.57079632679489661923;
}

/// x = quadrant * pi/2 + result, |result| <= pi/4, for a finite x.
double reduce(double x, int &quadrant) {
  double n = rint(x * 0.63661977236758134308);
  // Beyond this the products with the parts of pi/2 are no longer exact.
  if (abs(n) > 0x1p20)
    return reduceLarge(x, quadrant);
  constexpr double p1 = 1.57079632673412561417e+00, p2 = 6.07710050630396597660e-11,
                   p3 = 2.02226624871116645580e-21;
  quadrant = int(int64_t(n) & 3);
  return ((x - n * p1) - n * p2) - n * p3;
}
double sinPart(double r) {
  double r2 = r * r, sum = 1;
#pragma clang loop unroll(full)
  for (int i = 19; i >= 3; i -= 2)
    sum = 1 - sum * (r2 * (1.0 / (i * (i - 1))));
  return r * sum;
}
double cosPart(double r) {
  double r2 = r * r, sum = 1;
#pragma clang loop unroll(full)
  for (int i = 20; i >= 2; i -= 2)
    sum = 1 - sum * (r2 * (1.0 / (i * (i - 1))));
  return sum;
}
bool isFinite(double x) { return abs(x) < kInfinity; }
} // namespace

double sin(double x) {
  if (!isFinite(x))
    return kNan;
  int quadrant;
  double r = reduce(x, quadrant);
  double value = quadrant & 1 ? cosPart(r) : sinPart(r);
  return quadrant & 2 ? -value : value;
}

double cos(double x) {
  if (!isFinite(x))
    return kNan;
  int quadrant;
  double r = reduce(x, quadrant);
  double value = quadrant & 1 ? sinPart(r) : cosPart(r);
  return quadrant == 1 || quadrant == 2 ? -value : value;
}

double tan(double x) { return sin(x) / cos(x); }

double tanh(double x) {
  if (isNan(x))
    return x;
  if (abs(x) > 20)
    return x < 0 ? -1 : 1;
  double e = expm1(2 * x);
  return e / (e + 2);
}

double erf(double x) {
  if (isNan(x))
    return x;
  double a = abs(x);
  if (a > 6)
    return x < 0 ? -1 : 1;
  if (a < 2.5) {
    // 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!: all terms have the same sign.
    double term = a, sum = a;
    for (int n = 1; term > sum * 1e-17 && n < 100; ++n) {
      term *= 2 * a * a / (2 * n + 1);
      sum += term;
    }
    double value = 1.12837916709551257390 * exp(-a * a) * sum;
    return x < 0 ? -value : value;
  }
  // erfc by its continued fraction, from the inside.
  double fraction = 0;
  for (int n = 60; n >= 1; --n)
    fraction = n / 2.0 / (a + fraction);
  double value = 1 - exp(-a * a) / (1.77245385090551602730 * (a + fraction));
  return x < 0 ? -value : value;
}

double pow(double x, double y) {
  if (y == 0 || x == 1)
    return 1;
  if (isNan(x) || isNan(y))
    return kNan;
  const bool whole = trunc(y) == y;
  const bool odd = whole && abs(y) < 0x1p53 && (int64_t(y) & 1);
  if (x == 0) {
    double zero = odd ? x : 0;
    return y > 0 ? zero : 1 / zero;
  }
  if (whole && abs(y) <= 64) {
    // Products are exact where results are.
    double result = 1, base = x;
    for (int64_t n = int64_t(abs(y)); n; n >>= 1, base *= base)
      if (n & 1)
        result *= base;
    return y < 0 ? 1 / result : result;
  }
  if (abs(y) == kInfinity)
    return abs(x) == 1 ? 1 : (abs(x) > 1) == (y > 0) ? kInfinity : 0;
  if (x < 0 && !whole && x != -kInfinity)
    return kNan;
  double value = exp(y * log(abs(x)));
  return x < 0 && odd ? -value : value;
}

namespace {
double atanPart(double x) {
  // |x| <= 1; halved twice by atan x = 2 atan(x / (1 + sqrt(1 + x^2))).
  for (int i = 0; i < 2; ++i)
    x = x / (1 + sqrt(1 + x * x));
  double x2 = x * x, sum = 0;
  for (int i = 25; i >= 1; i -= 2)
    sum = 1.0 / i - sum * x2;
  return 4 * x * sum;
}
} // namespace

double atan2(double y, double x) {
  if (isNan(x) || isNan(y))
    return kNan;
  const bool left = x < 0 || (x == 0 && __builtin_signbit(x));
  double a = abs(x), b = abs(y), angle;
  if (b == 0)
    angle = 0;
  else if (a == b)
    angle = kPi / 4;
  else
    angle = b < a ? atanPart(b / a) : kPi / 2 - atanPart(a / b);
  angle = left ? kPi - angle : angle;
  return __builtin_signbit(y) ? -angle : angle;
}

double lgamma(double x) {
  if (isNan(x) || x == kInfinity)
    return x;
  if (x <= 0 && trunc(x) == x)
    return kInfinity;
  if (x < 0.5)
    return log(kPi / abs(sin(kPi * x))) - lgamma(1 - x);
  // Stirling's series where it converges; below, up by the recurrence.
  double shift = 0;
  while (x < 15)
    shift += log(x++);
  static constexpr double c[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
  double inverse = 1 / x;
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 +
         polynomial(c, inverse * inverse) * inverse - shift;
}

double fmod(double x, double y) {
  if (isNan(x) || isNan(y) || abs(x) == kInfinity || y == 0)
    return kNan;
  double divisor = abs(y), rest = abs(x);
  if (divisor == kInfinity)
    return x;
  // Subtracts the divisor times powers of two: every step is exact.
  while (rest >= divisor) {
    double part = divisor;
    uint64_t gap = (toBits(rest) >> 52) - (toBits(part) >> 52);
    if (gap > 1 && (toBits(part) >> 52))
      part = fromBits(toBits(part) + ((gap - 1) << 52));
    while (part <= rest / 2)
      part *= 2;
    rest -= part;
  }
  return __builtin_signbit(x) ? -rest : rest;
}

} // namespace atc::kernels::math
