//===-- QuantizeLinear.cpp - to and from quantized elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/nn/Quantize.h"

namespace atc::kernels {

namespace {
/// The mapping from elements to scales: one for all, one per index of an axis, or one per block of
/// an axis.
struct Scales {
  enum { All, Axis, Blocks } kind = All;
  int64_t inner = 1, length = 1, block = 1, blocks = 1;
  bool find(Context &c, const Dims &x, Tensor scale, Tensor zero) {
    if (zero && zero.count() != scale.count())
      return c.fail("% zero points for % scales", zero.count(), scale.count()), false;
    block = c.integer("block_size", 0);
    if (block == 0 && scale.count() == 1)
      return true;
    const int64_t axis = normalizeAxis(c, c.integer("axis", 1), x.rank);
    if (axis < 0)
      return false;
    length = x[axis];
    inner = x.product(uint32_t(axis) + 1, x.rank);
    if (block == 0) {
      kind = Axis;
      if (scale.count() != length)
        return c.fail("% scales for an axis of %", scale.count(), length), false;
      return true;
    }
    kind = Blocks;
    if (block < 0 || scale.rank() != x.rank)
      return c.fail("blocks of %, scales of rank %", block, scale.rank()), false;
    blocks = scale.dim(axis);
    for (int64_t d = 0; d < x.rank; ++d)
      if (scale.dim(d) != (d == axis ? ceilDiv(length, block) : x[d]))
        return c.fail("dim % has % scales for % elements", d, scale.dim(d), x[d]), false;
    return true;
  }
  int64_t at(int64_t i) const {
    if (kind == All)
      return 0;
    const int64_t along = i / inner % length;
    return kind == Axis ? along
                        : (i / (inner * length) * blocks + along / block) * inner + i % inner;
  }
};
/// Inputs x, scale and zero point of both directions, and output 0.
struct QuantizationOperands {
  Scales scales;
  void *out = nullptr;
  const double *data = nullptr, *factors = nullptr, *zeros = nullptr;

  /// Returns the type of attribute output_dtype, or the usual type.
  static uint8_t resultType(Context &c, uint8_t usual) {
    const int64_t asked = c.integer("output_dtype", 0);
    return asked ? uint8_t(asked) : usual;
  }
  /// False when the kernel is to return.
  bool load(Context &c, uint8_t dtype) {
    const Tensor x = c.in(0), scale = c.in(1), zero = c.in(2);
    if (!scales.find(c, x.dims(), scale, zero) || !(out = c.makeBytes(0, dtype, x.dims())) ||
        x.count() == 0)
      return false;
    data = numbersOf<double>(c, x);
    factors = numbersOf<double>(c, scale);
    zeros = zero ? numbersOf<double>(c, zero) : nullptr;
    return data && factors && (!zero || zeros);
  }
  /// Elements are value(x, scale, zero point or null).
  template <typename Fn> void each(Context &c, uint8_t dtype, Fn &&value) const {
    storeEach(
        c, out, dtype, c.in(0).count(),
        [&](int64_t i) {
          const int64_t at = scales.at(i);
          return value(data[i], factors[at], zeros ? zeros + at : nullptr);
        },
        c.integer("saturate", 1));
  }
};
/// Returns a value rounded to the small type that the operator computes in.
double rounded(double value, uint8_t dtype) {
  return dtype == F16    ? double(float(Half(float(value))))
         : dtype == BF16 ? double(float(BFloat(float(value))))
                         : value;
}
} // namespace

ATC_KERNEL(QuantizeLinear) {
  QuantizationOperands operands;
  const Tensor zero = in(2);
  const uint8_t dtype = operands.resultType(*this, zero ? zero.dtype() : uint8_t(U8));
  if (bitsOf(dtype) == 0 || bitsOf(dtype) > 32)
    return failType(dtype);
  if (!operands.load(*this, dtype))
    return;
  double least, most;
  const bool integers = integerRange(dtype, least, most);
  const int64_t precision = integer("precision", 0);
  const uint8_t by = precision ? uint8_t(precision) : in(1).dtype();
  operands.each(*this, dtype, [&](double x, double scale, const double *zero) {
    // The quotient is one of floats, or of the smaller type of the scale.
    double value = rounded(double(float(x) / float(scale)), by);
    value = integers ? math::rint(value) : value;
    return zero ? value + *zero : value;
  });
}

ATC_KERNEL(DequantizeLinear) {
  QuantizationOperands operands;
  const uint8_t dtype = operands.resultType(*this, in(1).dtype());
  if (operands.load(*this, dtype))
    operands.each(*this, dtype, [](double x, double scale, const double *zero) {
      return double(float(zero ? x - *zero : x) * float(scale));
    });
}

ATC_KERNEL(DynamicQuantizeLinear) {
  const Tensor x = in(0);
  uint8_t *y = nullptr, *zero = nullptr;
  float *scale = nullptr;
  if ((wants(0) && !(y = make<uint8_t>(0, U8, x.dims()))) ||
      (wants(1) && !(scale = make<float>(1, F32, Dims()))) ||
      (wants(2) && !(zero = make<uint8_t>(2, U8, Dims()))))
    return;
  if (x.dtype() != F32)
    return failType(x.dtype());
  const float *data = x.as<float>();
  const int64_t count = x.count();
  // The range has 0 in it, which has to be exact.
  float least = 0, most = 0;
  for (int64_t i = 0; i < count; ++i) {
    least = data[i] < least ? data[i] : least;
    most = data[i] > most ? data[i] : most;
  }
  const float step = (most - least) / 255;
  const float by = step == 0 ? 1.0f : step;
  auto clamp = [](float value) {
    value = value > 0 ? value : 0.0f; // NaN becomes 0
    return uint8_t(value > 255 ? 255.0f : value);
  };
  const uint8_t middle = clamp(float(math::rint(double(0 - least / by))));
  if (scale)
    *scale = step;
  if (zero)
    *zero = middle;
  for (int64_t i = 0; y && i < count; ++i)
    y[i] = clamp(float(math::rint(double(data[i] / by))) + float(middle));
}

} // namespace atc::kernels
