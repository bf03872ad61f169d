//===-- SpecialFunctions.cpp - gamma, beta, zeta and Bessel functions ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of TensorFlow. All functions compute in double precision.

#include "kernels/core/Broadcast.h"
#include "kernels/core/Math.h"
#include "kernels/core/Unary.h"

namespace atc::kernels {

namespace {

constexpr double kInf = __builtin_inf(), kNan = __builtin_nan("");

/// Returns c[0] + c[1] * x + ... by Horner's rule.
template <int n> double polynomial(const double (&c)[n], double x) {
  double result = c[n - 1];
  for (int i = n - 2; i >= 0; --i)
    result = result * x + c[i];
  return result;
}

/// The derivative of lgamma: its asymptotic series from 10 on, below by recurrence and reflection.
double digamma(double x) {
  if (isNan(x) || x == kInf)
    return x;
  if (x <= 0) {
    if (math::floor(x) == x || x == -kInf)
      return kNan;
    // The fraction first: sin and cos of large angles are those of its angle.
    const double fraction = x - math::floor(x);
    return digamma(1 - x) -
           math::kPi * math::cos(math::kPi * fraction) / math::sin(math::kPi * fraction);
  }
  double shift = 0;
  for (; x < 10; x += 1)
    shift += 1 / x;
  const double inverse = 1 / x, square = inverse * inverse;
  static constexpr double c[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  return math::log(x) - inverse / 2 - square * polynomial(c, square) - shift;
}

/// The quantile of the normal distribution at 1/2 + q, where `tail` is 1/2 - |q|: Wichura's
/// algorithm AS 241, accurate to 16 digits. Both are arguments because one cannot be computed from
/// the other without rounding.
double normalQuantile(double q, double tail) {
  if (!(tail >= 0))
    return kNan;
  if (tail == 0)
    return q > 0 ? kInf : -kInf;
  if (math::abs(q) <= 0.425) {
    static constexpr double top[] = {3.3871328727963666080e+0, 1.3314166789178437745e+2,
                                     1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                     4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                     3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static constexpr double bottom[] = {1.0,
                                        4.2313330701600911252e+1,
                                        6.8718700749205790830e+2,
                                        5.3941960214247511077e+3,
                                        2.1213794301586595867e+4,
                                        3.9307895800092710610e+4,
                                        2.8729085735721942674e+4,
                                        5.2264952788528545610e+3};
    const double r = 0.180625 - q * q;
    return q * polynomial(top, r) / polynomial(bottom, r);
  }
  double r = math::sqrt(-math::log(tail)), size;
  if (r <= 5) {
    static constexpr double top[] = {1.42343711074968357734e+0, 4.63033784615654529590e+0,
                                     5.76949722146069140550e+0, 3.64784832476320460504e+0,
                                     1.27045825245236838258e+0, 2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr double bottom[] = {1.0,
                                        2.05319162663775882187e+0,
                                        1.67638483018380384940e+0,
                                        6.89767334985100004550e-1,
                                        1.48103976427480074590e-1,
                                        1.51986665636164571966e-2,
                                        5.47593808499534494600e-4,
                                        1.05075007164441684324e-9};
    r -= 1.6;
    size = polynomial(top, r) / polynomial(bottom, r);
  } else {
    static constexpr double top[] = {6.65790464350110377720e+0, 5.46378491116411436990e+0,
                                     1.78482653991729133580e+0, 2.96560571828504891230e-1,
                                     2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static constexpr double bottom[] = {1.0,
                                        5.99832206555887937690e-1,
                                        1.36929880922735805310e-1,
                                        1.48753612908506148525e-2,
                                        7.86869131145613259100e-4,
                                        1.84631831751005468180e-5,
                                        1.42151175831644588870e-7,
                                        2.04426310338993978564e-15};
    r -= 5;
    size = polynomial(top, r) / polynomial(bottom, r);
  }
  return q < 0 ? -size : size;
}

double erfinv(double x) {
  return normalQuantile(x / 2, (1 - math::abs(x)) / 2) * 0.70710678118654752440;
}

/// The regularized incomplete gamma functions: the lower one, or (`isUpper`) 1 minus it. A series
/// below the mean of the distribution, Lentz's continued fraction above it.
double incompleteGamma(double a, double x, bool isUpper) {
  if (!(a > 0) || !(x >= 0))
    return kNan;
  if (x == 0 || x == kInf || a == kInf)
    return (x == kInf && a == kInf) ? kNan : (x == kInf) == isUpper ? 0 : 1;
  const double front = math::exp(a * math::log(x) - x - math::lgamma(a));
  // Both converge in some multiples of sqrt(a) steps near the mean.
  constexpr int kMaxSteps = 100'000;
  constexpr double kTiny = 1e-300, kPrecision = 1e-16;
  if (x < a + 1) {
    double term = 1 / a, total = term;
    for (int i = 1; i < kMaxSteps && term > total * kPrecision; ++i) {
      term *= x / (a + i);
      total += term;
    }
    return isUpper ? 1 - front * total : front * total;
  }
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int i = 1; i < kMaxSteps; ++i) {
    const double factor = -i * (i - a);
    b += 2;
    d = factor * d + b;
    d = 1 / (math::abs(d) < kTiny ? kTiny : d);
    c = b + factor / c;
    c = math::abs(c) < kTiny ? kTiny : c;
    fraction *= d * c;
    if (math::abs(d * c - 1) <= kPrecision)
      break;
  }
  return isUpper ? front * fraction : 1 - front * fraction;
}

/// Lentz's continued fraction of the incomplete beta function, for x below (a + 1) / (a + b + 2).
double betaFraction(double a, double b, double x) {
  constexpr int kMaxSteps = 100'000;
  constexpr double kTiny = 1e-300, kPrecision = 1e-16;
  auto bounded = [](double value) { return math::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / bounded(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / bounded(1 + even * d);
    c = bounded(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / bounded(1 + odd * d);
    c = bounded(1 + odd / c);
    fraction *= d * c;
    if (math::abs(d * c - 1) <= kPrecision)
      break;
  }
  return fraction;
}

/// The regularized incomplete beta function.
double incompleteBeta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
    return kNan;
  if (x == 0 || x == 1)
    return x;
  const double front = math::exp(math::lgamma(a + b) - math::lgamma(a) - math::lgamma(b) +
                                 a * math::log(x) + b * math::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * betaFraction(a, b, x) / a
                                   : 1 - front * betaFraction(b, a, 1 - x) / b;
}

/// The modified Bessel function of the first kind of order 0 or 1, times exp(-|x|).
double besselScaled(int order, double x) {
  const double size = math::abs(x);
  double total = 1, term = 1;
  if (size <= 30) {
    // All terms of the power series are positive.
    const double quarter = size * size / 4;
    for (int k = 1; k < 200 && term > total * 1e-17; ++k) {
      term *= quarter / (k * double(k + order));
      total += term;
    }
    total *= math::exp(-size) * (order ? size / 2 : 1);
  } else {
    // The asymptotic series; its terms fall for more steps than are needed.
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      term *= (odd * odd - 4 * order) / (8 * k * size);
      total += term;
    }
    total /= math::sqrt(2 * math::kPi * size);
  }
  return order && x < 0 ? -total : total;
}

/// The sum over k >= 0 of (q + k)^-x by its first terms and the Euler-Maclaurin formula.
double zeta(double x, double q) {
  if (x == 1)
    return kInf;
  if (!(x > 1))
    return kNan;
  if (q <= 0) {
    if (q == math::floor(q))
      return kInf;
    if (x != math::floor(x))
      return kNan;
    // But for their sign, terms below 0 are terms of positive numbers, from 10 to -q.
    if (q < -20) {
      const double first = 10 + (-q - math::floor(-q));
      const double below = zeta(x, first) - zeta(x, 1 - q);
      return zeta(x, 1 - first) + (math::fmod(x, 2) == 0 ? below : -below);
    }
  }
  double sum = 0, at = q;
  for (int i = 0; i < 12 || at <= 9; ++i, at += 1)
    sum += math::pow(at, -x);
  // The rest from `at` on: its integral, half a term, and corrections by derivatives.
  const double term = math::pow(at, -x);
  sum += term * at / (x - 1) + term / 2;
  // The Bernoulli numbers B(2k) / (2k)!.
  constexpr double factors[] = {1.0 / 12,
                                -1.0 / 720,
                                1.0 / 30240,
                                -1.0 / 1209600,
                                1.0 / 47900160,
                                -691.0 / 1307674368000,
                                1.0 / 74724249600.0,
                                -3617.0 / 10670622842880000.0};
  double rising = x, power = term / at;
  for (int k = 0; k < 8; ++k) {
    sum += factors[k] * rising * power;
    rising *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= at * at;
  }
  return sum;
}

/// The derivative of digamma of order n, a whole number.
double polygamma(double n, double x) {
  if (!(n >= 0) || n != math::floor(n))
    return kNan;
  if (n == 0)
    return digamma(x);
  const double size = math::exp(math::lgamma(n + 1)) * zeta(n + 1, x);
  return math::fmod(n, 2) == 0 ? -size : size;
}

/// Computes fn(a, b) on floats whose shapes broadcast.
template <typename Fn> void mapFloatPairs(Context &c, int64_t work, Fn fn) {
  const uint8_t dtype = c.in(0).dtype();
  broadcastPair(c, dtype, [&](const StridedSpace &space, char *out) {
    if (!dispatchFloats(dtype, [&](auto type) {
          using T = typename decltype(type)::Type;
          using N = Compute<T>;
          mapInputs<T, T>(c, space, out, work,
                          [=](T a, T b) { return T(N(fn(double(N(a)), double(N(b))))); });
        }))
      c.failType(dtype);
  });
}

} // namespace

ATC_KERNEL(BesselI) {
  const int order = integer("order", 0) != 0;
  const bool isScaled = integer("scaled", 0) != 0;
  mapFloats(*this, 100, [=](double x) {
    const double scaled = besselScaled(order, x);
    return isScaled ? scaled : scaled * math::exp(math::abs(x));
  });
}

/// Inputs a, b and x, of one shape but for those with one element.
ATC_KERNEL(Betainc) {
  const Tensor inputs[] = {in(0), in(1), in(2)};
  Dims shape = inputs[0].dims();
  for (const Tensor &input : inputs) {
    if (input.dtype() != inputs[0].dtype())
      return fail("the operands have element types % and %", inputs[0].dtype(), input.dtype());
    if (input.count() != 1)
      shape = input.dims();
  }
  for (const Tensor &input : inputs)
    if (input.count() != 1 && !(input.dims() == shape))
      return fail("an operand has % elements, expected 1 or the shape of the others",
                  input.count());
  char *out = make(0, inputs[0].dtype(), shape);
  if (!out)
    return;
  if (!dispatchFloats(inputs[0].dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        parallelIf(*this, shape.product(), 1000, [&](int64_t begin, int64_t end) {
          auto at = [](const Tensor &input, int64_t i) {
            return double(N(input.as<T>()[input.count() == 1 ? 0 : i]));
          };
          for (int64_t i = begin; i < end; ++i)
            reinterpret_cast<T *>(out)[i] =
                T(N(incompleteBeta(at(inputs[0], i), at(inputs[1], i), at(inputs[2], i))));
        });
      }))
    failType(inputs[0].dtype());
}

ATC_KERNEL(Digamma) {
  mapFloats(*this, 100, [](double x) { return digamma(x); });
}
ATC_KERNEL(Erfinv) {
  mapFloats(*this, 100, [](double x) { return erfinv(x); });
}
ATC_KERNEL(Igamma) {
  mapFloatPairs(*this, 1000, [](double a, double x) { return incompleteGamma(a, x, false); });
}
ATC_KERNEL(Igammac) {
  mapFloatPairs(*this, 1000, [](double a, double x) { return incompleteGamma(a, x, true); });
}
ATC_KERNEL(Lgamma) {
  mapFloats(*this, 100, [](double x) { return x == -kInf ? kInf : math::lgamma(x); });
}
ATC_KERNEL(Ndtri) {
  mapFloats(*this, 100, [](double x) { return normalQuantile(x - 0.5, minimum(x, 1 - x)); });
}
ATC_KERNEL(Polygamma) { mapFloatPairs(*this, 400, polygamma); }
ATC_KERNEL(Zeta) { mapFloatPairs(*this, 400, zeta); }

} // namespace atc::kernels
