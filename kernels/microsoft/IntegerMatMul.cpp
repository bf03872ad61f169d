//===-- IntegerMatMul.cpp - com.microsoft: products of 8-bit matrices -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Floats.h"
#include "kernels/nn/GemmPlan.h"
#include "kernels/nn/IntegerProducts.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {

/// Reads both factors of a product whose sizes and strides of a are known. b is [K, N], or [N, K]
/// with transB. Returns false after a failure.
bool readFactors(Context &c, ByteProduct &p, Tensor a, Tensor zeroA, Tensor b, Tensor zeroB,
                 bool transB) {
  if (!isByte(a) || !isByte(b) || !p.zeroA.read(zeroA) || !p.zeroB.read(zeroB) ||
      p.zeroA.count > 1) {
    c.fail("operands have element types % and %, expected 8 bits and one zero point", a.dtype(),
           b.dtype());
    return false;
  }
  p.a.data = a.bytes();
  p.a.isSigned = a.dtype() == I8;
  p.b = {b.bytes(), b.dtype() == I8, transB ? 1 : p.n, transB ? p.k : 1};
  return p.readPacked(c);
}

/// Finds the sizes of a product [.., K] x [K, N] and the dims of its result. Returns false after a
/// failure.
bool findRows(Context &c, Tensor a, Tensor b, Dims &shape, ByteProduct &p) {
  if (a.rank() < 1 || b.rank() != 2 || a.dim(a.rank() - 1) != b.dim(0)) {
    c.fail("operands of rank % and % do not fit", a.rank(), b.rank());
    return false;
  }
  shape = a.dims();
  p.k = b.dim(0);
  p.n = b.dim(1);
  p.m = shape.product(0, a.rank() - 1);
  p.a.row = p.k;
  shape[a.rank() - 1] = p.n;
  return true;
}

bool isPerColumn(Context &c, Tensor tensor, int64_t n) {
  if (!tensor || tensor.count() == 1 || tensor.count() == n)
    return true;
  c.fail("% scales or zero points for % columns", tensor.count(), n);
  return false;
}

/// Returns the product of `by` and the scale of each column; null where memory could not be
/// allocated.
template <typename F> F *factorsOf(Context &c, double by, Tensor scales, int64_t n) {
  F *factors = c.scratch<F>(n + 1);
  for (int64_t j = 0; factors && j < n; ++j)
    factors[j] = F(by * numberAt(scales, scales.count() == 1 ? 0 : j));
  return factors;
}

template <typename T> void roundTo(T *to, const double *values, int64_t count, float zero) {
  for (int64_t j = 0; j < count; ++j)
    to[j] = saturated<T>(float(__builtin_rint(values[j])) + zero);
}

/// Computes out = sums * (scaleA * scales) + bias, where scales and biases are per column or one
/// for all. `bias` may be empty.
void multiplyToFloats(Context &c, const ByteProduct &p, float *out, double scaleA, Tensor scales,
                      Tensor bias) {
  const float *factors = factorsOf<float>(c, scaleA, scales, p.n);
  float *added = factors ? c.scratch<float>(p.n + 1) : nullptr;
  if (!added)
    return;
  for (int64_t j = 0; j < p.n; ++j)
    added[j] = bias ? float(numberAt(bias, j)) : 0;
  auto store = [=, n = p.n](int64_t, int64_t row, int64_t column, int64_t count,
                            const int32_t *sums) {
    float *to = out + row * n + column;
    for (int64_t j = 0; j < count; ++j)
      to[j] = float(sums[j]) * factors[column + j] + added[column + j];
  };
  multiplyBytes(c, p, sinkOf(store));
}

} // namespace

ATC_KERNEL(DynamicQuantizeMatMul) {
  const Tensor a = in(0), b = in(1), scales = in(2), zeros = in(3), bias = in(4);
  Dims shape;
  ByteProduct p;
  if (!findRows(*this, a, b, shape, p) || !isPerColumn(*this, scales, p.n) ||
      !isPerColumn(*this, zeros, p.n))
    return;
  if (bias && bias.count() != p.n)
    return fail("% biases for % columns", bias.count(), p.n);
  if (a.dtype() != F32 || !isByte(b) || !p.zeroB.read(zeros))
    return fail("operands have element types % and %, expected f32 and 8 bits", a.dtype(),
                b.dtype());
  float *out = make<float>(0, F32, shape);
  uint8_t *bytes = out ? scratch<uint8_t>(a.count() + 1) : nullptr;
  if (!bytes)
    return;
  const DynamicRange range = DynamicRange::of(a.as<float>(), a.count());
  range.quantize(*this, bytes, a.as<float>(), a.count());
  p.a.data = bytes;
  p.zeroA = {&range.zero, /*isSigned=*/false, /*count=*/1};
  p.b = {b.bytes(), b.dtype() == I8, p.n, 1};
  if (p.readPacked(*this))
    multiplyToFloats(*this, p, out, double(range.step), scales, bias);
}

ATC_KERNEL(MatMulIntegerToFloat) {
  const Tensor a = in(0), b = in(1), scaleA = in(2), scaleB = in(3), bias = in(6);
  Dims shape;
  ByteProduct p;
  if (!findRows(*this, a, b, shape, p) || !isPerColumn(*this, scaleB, p.n) ||
      !isPerColumn(*this, in(5), p.n))
    return;
  if (scaleA.count() != 1 || (bias && bias.count() != p.n))
    return fail("% scales of the rows, % biases", scaleA.count(), bias ? bias.count() : 0);
  FloatResult result;
  if (!result.make(*this, 0, scaleA.dtype(), shape))
    return;
  float *out = result.floats(*this);
  if (!out || !readFactors(*this, p, a, in(4), b, in(5), /*transB=*/false))
    return;
  multiplyToFloats(*this, p, out, numberAt(scaleA, 0), scaleB, bias);
  result.store();
}

ATC_KERNEL(QGemm) {
  const Tensor a = in(0), scaleA = in(1), b = in(3), scaleB = in(4), bias = in(6), scaleY = in(7),
               zeroY = in(8);
  GemmPlan plan;
  if (!plan.find(*this, a, b, bias) || !isPerColumn(*this, scaleB, plan.n) ||
      !isPerColumn(*this, in(5), plan.n))
    return;
  ByteProduct p;
  p.m = plan.m;
  p.n = plan.n;
  p.k = plan.k;
  p.a.row = plan.transA ? 1 : plan.k;
  p.a.col = plan.transA ? plan.m : 1;
  const uint8_t dtype = !scaleY ? uint8_t(F32) : zeroY ? zeroY.dtype() : a.dtype();
  if (scaleY && dtype != U8 && dtype != I8)
    return failType(dtype);
  char *out = make(0, dtype, plan.result());
  if (!out || !readFactors(*this, p, a, in(2), b, in(5), plan.transB))
    return;
  const double step = scaleY ? numberAt(scaleY, 0) : 1;
  const float zero = zeroY ? float(numberAt(zeroY, 0)) : 0;
  const double *factors =
      factorsOf<double>(*this, number("alpha", 1) * numberAt(scaleA, 0) / step, scaleB, p.n);
  const double *biases = bias ? numbersOf<double>(*this, bias) : nullptr;
  if (!factors || (bias && !biases))
    return;
  auto store = [=](int64_t, int64_t row, int64_t column, int64_t count, const int32_t *sums) {
    double values[kSumColumns];
    for (int64_t j = 0; j < count; ++j)
      values[j] = sums[j];
    for (int64_t j = 0; biases && j < count; ++j)
      values[j] += biases[plan.biasAt(row, column + j)];
    for (int64_t j = 0; j < count; ++j)
      values[j] *= factors[column + j];
    const int64_t first = row * plan.n + column;
    if (dtype == F32)
      for (int64_t j = 0; j < count; ++j)
        reinterpret_cast<float *>(out)[first + j] = float(values[j]);
    else if (dtype == I8)
      roundTo(reinterpret_cast<int8_t *>(out) + first, values, count, zero);
    else
      roundTo(reinterpret_cast<uint8_t *>(out) + first, values, count, zero);
  };
  multiplyBytes(*this, p, sinkOf(store));
}

} // namespace atc::kernels
