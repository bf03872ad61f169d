//===-- QuantizeLinear.cpp - to and from quantized elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Nibbles.h"
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
  /// Makes the output. False when the kernel is to return.
  bool make(Context &c, uint8_t dtype) {
    const Tensor x = c.in(0);
    return scales.find(c, x.dims(), c.in(1), c.in(2)) && (out = c.makeBytes(0, dtype, x.dims())) &&
           x.count() > 0;
  }
  /// Reads operands of any type. False when the kernel is to return.
  bool load(Context &c) {
    const Tensor x = c.in(0), scale = c.in(1), zero = c.in(2);
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
/// Calls run(scale, begin, end) for runs of elements in [begin, end) that have one scale, or
/// neighbours(scale, begin, end) for those that have the scales from `scale` on.
template <typename Run, typename Row>
void forRuns(Context &c, const Scales &scales, int64_t count, Run &&run, Row &&neighbours) {
  if (scales.kind == Scales::All)
    return forParts(c, count, [&](int64_t begin, int64_t end) { run(int64_t(0), begin, end); });
  const int64_t width = scales.inner == 1 ? scales.length : scales.inner;
  parallelIf(c, count / width, width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t first = row * width, behind = first + width;
      if (scales.kind == Scales::Axis)
        scales.inner == 1 ? neighbours(int64_t(0), first, behind)
                          : run(row % scales.length, first, behind);
      else if (scales.inner > 1)
        neighbours(scales.at(first), first, behind);
      else
        for (int64_t i = first, at = row * scales.blocks; i < behind; i += scales.block, ++at)
          run(at, i, minimum(i + scales.block, behind));
    }
  });
}

/// Quantizes neighbours that have neighbouring scales. Bytes may be anything's, so that the
/// compiler must be told that these are nobody else's.
template <typename T>
void quantizeRow(T *__restrict to, const float *from, int64_t count, const float *scales,
                 const T *zeros) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = saturated<T>(__builtin_rintf(from[i] / scales[i]) + (zeros ? float(zeros[i]) : 0));
}

/// Writes floats as bytes, which is what most models do: without the tables of load(). Returns
/// false where the operands are others.
bool quantizeFloats(Context &c, const Scales &scales, void *out, uint8_t dtype) {
  const Tensor x = c.in(0), scale = c.in(1), zero = c.in(2);
  if (x.dtype() != F32 || scale.dtype() != F32 || c.integer("precision", 0) > 1 ||
      (zero && zero.dtype() != dtype))
    return false;
  const float *from = x.as<float>(), *steps = scale.as<float>();
  return dispatchBytes(dtype, [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *zeros = zero ? zero.as<T>() : nullptr;
    T *to = static_cast<T *>(out);
    forRuns(
        c, scales, x.count(),
        [&](int64_t at, int64_t begin, int64_t end) {
          quantizeRun(to + begin, from + begin, end - begin, steps[at],
                      zeros ? float(zeros[at]) : 0);
        },
        [&](int64_t at, int64_t begin, int64_t end) {
          quantizeRow(to + begin, from + begin, end - begin, steps + at,
                      zeros ? zeros + at : nullptr);
        });
  });
}

/// Returns the elements of a tensor of bytes, those of 4 bits one per byte; null where memory could
/// not be allocated.
template <typename T> const T *asBytes(Context &c, Tensor tensor) {
  if (!isPacked(tensor.dtype()))
    return tensor.as<T>();
  const uint8_t *fields = unpacked(c, tensor);
  if (!fields || tensor.dtype() == U4)
    return reinterpret_cast<const T *>(fields);
  T *to = c.scratch<T>(maximum(tensor.count(), int64_t(1)));
  for (int64_t i = 0, count = tensor.count(); to && i < count; ++i)
    to[i] = T((fields[i] ^ 8) - 8);
  return to;
}

/// Writes bytes, and integers of 4 bits, as floats, like quantizeFloats.
bool dequantizeBytes(Context &c, const Scales &scales, void *out, uint8_t dtype) {
  const Tensor x = c.in(0), scale = c.in(1), zero = c.in(2);
  if (dtype != F32 || scale.dtype() != F32 || (zero && zero.dtype() != x.dtype()))
    return false;
  float *to = static_cast<float *>(out);
  const float *steps = scale.as<float>();
  auto dequantize = [&](auto type) {
    using T = typename decltype(type)::Type;
    const T *zeros = zero ? asBytes<T>(c, zero) : nullptr, *from = asBytes<T>(c, x);
    if (!from || (zero && !zeros))
      return;
    forRuns(
        c, scales, x.count(),
        [&](int64_t at, int64_t begin, int64_t end) {
          const float step = steps[at];
          const int middle = zeros ? zeros[at] : 0;
          for (int64_t i = begin; i < end; ++i)
            to[i] = float(from[i] - middle) * step;
        },
        [&](int64_t at, int64_t begin, int64_t end) {
          for (int64_t i = begin, j = at; i < end; ++i, ++j)
            to[i] = float(from[i] - (zeros ? zeros[j] : T(0))) * steps[j];
        });
  };
  switch (x.dtype()) {
  case I8:
  case I4:
    return callFor<int8_t>(typeBit(I8) | typeBit(I4), dequantize);
  case U8:
  case U4:
    return callFor<uint8_t>(typeBit(U8) | typeBit(U4), dequantize);
  default:
    return false;
  }
}

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
  if (!operands.make(*this, dtype) || quantizeFloats(*this, operands.scales, operands.out, dtype) ||
      !operands.load(*this))
    return;
  double min, max;
  const bool integers = integerRange(dtype, min, max);
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
  if (operands.make(*this, dtype) &&
      !dequantizeBytes(*this, operands.scales, operands.out, dtype) && operands.load(*this))
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
  const DynamicRange range = DynamicRange::of(data, x.count());
  if (scale)
    *scale = range.step;
  if (zero)
    *zero = range.zero;
  if (y)
    range.quantize(*this, y, data, x.count());
}

} // namespace atc::kernels
