//===-- Quantize.cpp - quantized elements, and products of them -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 8-bit elements are accumulated as integers, those of small floats in double.

#include "kernels/nn/Quantize.h"

#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/IntegerProducts.h"
#include "kernels/nn/MatMulPlan.h"

namespace atc::kernels {

bool integerRange(uint8_t dtype, double &min, double &max) {
  int64_t bits = bitsOf(dtype);
  switch (dtype) {
  case U2:
  case U4:
  case U8:
  case U16:
  case U32:
    min = 0;
    max = double((int64_t(1) << bits) - 1);
    return true;
  case I2:
  case I4:
  case I8:
  case I16:
  case I32:
    min = -double(int64_t(1) << (bits - 1));
    max = double((int64_t(1) << (bits - 1)) - 1);
    return true;
  case U64:
    // The largest doubles that convert.
    min = 0;
    max = 0x1.fffffffffffffp63;
    return true;
  case I64:
    min = -0x1p63;
    max = 0x1.fffffffffffffp62;
    return true;
  default:
    return false;
  }
}

namespace {
/// The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6; half to even, large ones to 6.
unsigned f4Bits(double value) {
  const unsigned sign = __builtin_signbit(value) ? 8 : 0;
  const double x = math::abs(value);
  unsigned bits = x < 2   ? unsigned(math::rint(x * 2))
                  : x < 4 ? unsigned(math::rint(x)) + 2
                  : x < 8 ? unsigned(math::rint(x / 2)) + 4
                          : 7;
  return sign | minimum(bits, 7u);
}
} // namespace

void storeRounded(void *out, uint8_t dtype, int64_t begin, const double *values, int64_t count,
                  bool saturate) {
  double min, max;
  const bool integers = integerRange(dtype, min, max);
  auto whole = [&](double value) {
    // NaN becomes the minimum.
    value = math::rint(value);
    return int64_t(value >= max ? max : value >= min ? value : min);
  };
  auto unsigned64 = [&](double value) {
    value = math::rint(value);
    return uint64_t(value >= max ? max : value >= 0 ? value : 0);
  };
  const int64_t bits = bitsOf(dtype);
  if (bits == 0 || bits > 64)
    return;
  if (bits < 8) {
    uint8_t *to = static_cast<uint8_t *>(out) + begin * bits / 8;
    const int64_t perByte = 8 / bits;
    for (int64_t i = 0; i < count; i += perByte) {
      unsigned byte = 0;
      for (int64_t j = 0; j < perByte && i + j < count; ++j) {
        unsigned field = integers ? unsigned(whole(values[i + j])) : f4Bits(values[i + j]);
        byte |= (field & ((1u << bits) - 1)) << (j * bits);
      }
      to[i / perByte] = uint8_t(byte);
    }
    return;
  }
  auto store = [&](auto type) {
    using T = typename decltype(type)::Type;
    T *to = static_cast<T *>(out) + begin;
    if constexpr (kIsFloat<T>)
      for (int64_t i = 0; i < count; ++i)
        to[i] = T(Compute<T>(values[i]));
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = __is_same(T, uint64_t) ? T(unsigned64(values[i])) : T(whole(values[i]));
  };
  if (dtype == Bool) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<uint8_t *>(out)[begin + i] = values[i] != 0;
    return;
  }
  if (dispatchNumbers(dtype, store))
    return;
  uint8_t *to = static_cast<uint8_t *>(out) + begin;
  for (int64_t i = 0; i < count; ++i)
    to[i] = f8FromFloat(float(values[i]), dtype, saturate);
}

DynamicRange DynamicRange::of(const float *data, int64_t count) {
  // Lanes do not wait for each other, nor does a comparison that a NaN fails change them.
  constexpr int64_t lanes = 64;
  float min[lanes] = {}, max[lanes] = {};
  auto widen = [&](int64_t lane, float value) {
    min[lane] = value < min[lane] ? value : min[lane];
    max[lane] = value > max[lane] ? value : max[lane];
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t j = 0; j < lanes; ++j)
      widen(j, data[i + j]);
  for (int64_t j = 0; i < count; ++i, ++j)
    widen(j, data[i]);
  for (int64_t j = 1; j < lanes; ++j) {
    widen(0, min[j]);
    widen(0, max[j]);
  }
  const float width = (max[0] - min[0]) / 255, step = width == 0 ? 1.0f : width;
  return {step, saturated<uint8_t>(__builtin_rintf(0 - min[0] / step))};
}

void DynamicRange::quantize(Context &c, uint8_t *to, const float *from, int64_t count) const {
  const float middle = zero;
  forParts(c, count, [&](int64_t begin, int64_t end) {
    quantizeRun(to + begin, from + begin, end - begin, step, middle);
  });
}

double *centered(Context &c, Tensor x, Tensor zeroPoint, int64_t inner, int64_t channels,
                 int64_t group) {
  const int64_t count = x.count(), zeros = zeroPoint ? zeroPoint.count() : 1;
  const int64_t groups = group ? ceilDiv(count, group) : 0;
  if (zeros != 1 && zeros != channels && zeros != channels * groups) {
    c.fail("% zero points for % channels", zeros, channels);
    return nullptr;
  }
  double *to = c.scratch<double>(maximum(count, int64_t(1)));
  const double *from = numbersOf<double>(c, x);
  const double *zero = zeroPoint ? numbersOf<double>(c, zeroPoint) : nullptr;
  if (!to || !from || (zeroPoint && !zero))
    return nullptr;
  parallelIf(c, count, 2, [&](int64_t begin, int64_t end) {
    if (zeros == 1) {
      const double value = zero ? zero[0] : 0;
      for (int64_t i = begin; i < end; ++i)
        to[i] = from[i] - value;
    } else {
      for (int64_t i = begin; i < end; ++i)
        to[i] = from[i] - zero[(i / group * channels + i / inner % channels) % zeros];
    }
  });
  return to;
}

namespace {
/// Gives the integer product of two matrices to `sink`: rows of all result matrices are
/// counted on. False after a failure.
template <typename Fn>
bool multiplyIntegers(Context &c, const MatMulPlan &plan, Tensor a, Tensor zeroA, Tensor b,
                      Tensor zeroB, Fn &&sink) {
  ByteProduct p;
  if (!isByte(a) || !isByte(b) || !p.zeroA.read(zeroA) || !p.zeroB.read(zeroB))
    return c.fail("operands have element types % and %, expected 8 bits", a.dtype(), b.dtype()),
           false;
  auto fits = [](const ZeroPoints &zeros, int64_t lines, int64_t all) {
    return zeros.count <= 1 || zeros.count == lines || zeros.count == all;
  };
  const int64_t k = maximum(plan.k, int64_t(1));
  if (!fits(p.zeroA, plan.m, a.count() / k) || !fits(p.zeroB, plan.n, b.count() / k))
    return c.fail("% and % zero points for % rows and % columns", p.zeroA.count, p.zeroB.count,
                  plan.m, plan.n),
           false;
  p.a = {a.bytes(), a.dtype() == I8, plan.k, 1};
  p.b = {b.bytes(), b.dtype() == I8, plan.n, 1};
  p.m = plan.m;
  p.n = plan.n;
  p.k = plan.k;
  if (plan.oneMatrix()) {
    // All rows of a are one matrix.
    p.m *= plan.batch;
  } else {
    const int64_t *offsets = plan.findOffsets(c);
    if (!offsets)
      return false;
    p.batch = plan.batch;
    p.aOffsets = offsets + plan.batch;
    p.bOffsets = offsets + 2 * plan.batch;
  }
  if (!p.readPacked(c))
    return false;
  auto store = [&](int64_t batch, int64_t row, int64_t column, int64_t n, const int32_t *sums) {
    sink(batch * p.m + row, column, n, sums);
  };
  return multiplyBytes(c, p, sinkOf(store));
}

/// Returns a product of small floats, computed in double.
double *multiplyFloats(Context &c, const MatMulPlan &plan, Tensor a, Tensor zeroA, Tensor b,
                       Tensor zeroB) {
  const double *x = centered(c, a, zeroA, plan.k, plan.m, plan.m * plan.k);
  const double *w = x ? centered(c, b, zeroB, 1, plan.n, plan.k * plan.n) : nullptr;
  double *y = w ? c.scratch<double>(plan.result.product()) : nullptr;
  return y && plan.run(c, y, x, w) ? y : nullptr;
}
} // namespace

ATC_KERNEL(MatMulInteger) {
  MatMulPlan plan;
  if (!plan.find(*this, in(0).dims(), in(1).dims()))
    return;
  int32_t *out = make<int32_t>(0, I32, plan.result);
  if (!out || plan.result.product() == 0)
    return;
  // Accumulators wrap at 32 bits.
  multiplyIntegers(*this, plan, in(0), in(2), in(1), in(3),
                   [=](int64_t row, int64_t column, int64_t n, const int32_t *sums) {
                     copyBytes(out + row * plan.n + column, sums, n * int64_t(sizeof(int32_t)));
                   });
}

ATC_KERNEL(QLinearMatMul) {
  const Tensor a = in(0), scaleA = in(1), b = in(3), scaleB = in(4), scaleY = in(6), zeroY = in(7);
  MatMulPlan plan;
  if (!plan.find(*this, a.dims(), b.dims()))
    return;
  const uint8_t dtype = zeroY.dtype();
  char *out = make(0, dtype, plan.result);
  const int64_t count = plan.result.product();
  if (!out || count == 0)
    return;
  const int64_t scalesA = scaleA.count(), scalesB = scaleB.count();
  const int64_t scalesY = scaleY.count(), zerosY = zeroY.count();
  // There is one scale, one per row or column, or one per row or column and matrix.
  auto fits = [&](int64_t scales, int64_t lines) {
    return scales == 1 || (lines && scales && scales % lines == 0 && scales <= plan.batch * lines);
  };
  if (!fits(scalesA, plan.m) || !fits(scalesB, plan.n) || !fits(scalesY, plan.m) ||
      !fits(zerosY, plan.m))
    return fail("%, % and % scales do not fit % rows and % columns", scalesA, scalesB, scalesY,
                plan.m, plan.n);
  double *columnScales = scratch<double>(scalesB);
  if (!columnScales)
    return;
  for (int64_t i = 0; i < scalesB; ++i)
    columnScales[i] = numberAt(scaleB, i);
  // Mostly all rows have the same factors.
  const bool sameRows = scalesA == 1 && scalesY == 1 && zerosY <= 1 && scalesB <= plan.n;
  float *columnFactors = scratch<float>(plan.n);
  if (!columnFactors)
    return;
  for (int64_t j = 0; sameRows && j < plan.n; ++j)
    columnFactors[j] =
        float(numberAt(scaleA, 0) * columnScales[scalesB == 1 ? 0 : j] / numberAt(scaleY, 0));
  const int sameZero = zerosY == 1 ? int(integerAt(zeroY, 0)) : 0;
  /// Computes one factor per accumulator, rounded once.
  auto findFactors = [&](float *factors, int64_t row, int64_t column, int64_t n) {
    const double rowScale = numberAt(scaleA, row % scalesA), step = numberAt(scaleY, row % scalesY);
    const int64_t start = row / plan.m * plan.n + column;
    for (int64_t j = 0; j < n; ++j)
      factors[j] = float(rowScale * columnScales[scalesB == 1 ? 0 : (start + j) % scalesB] / step);
  };
  if (isByte(zeroY)) {
    multiplyIntegers(
        *this, plan, a, in(2), b, in(5),
        [&](int64_t row, int64_t column, int64_t n, const int32_t *sums) {
          char *to = out + row * plan.n + column;
          if (sameRows)
            return requantize(to, dtype == I8, sums, n, columnFactors + column, sameZero);
          float factors[kSumColumns];
          findFactors(factors, row, column, n);
          requantize(to, dtype == I8, sums, n, factors, int(integerAt(zeroY, row % zerosY)));
        });
    return;
  }
  if (integers("packed").given)
    return fail("weights are packed for a product whose result has element type %", dtype);
  double *y = multiplyFloats(*this, plan, a, in(2), b, in(5));
  float *factors = y ? scratch<float>(plan.n) : nullptr;
  if (!factors)
    return;
  for (int64_t row = 0; row < count / plan.n; ++row) {
    findFactors(factors, row, 0, plan.n);
    for (int64_t j = 0; j < plan.n; ++j)
      y[row * plan.n + j] =
          y[row * plan.n + j] * double(factors[j]) + numberAt(zeroY, row % zerosY);
  }
  storeRounded(out, dtype, 0, y, count);
}

} // namespace atc::kernels
