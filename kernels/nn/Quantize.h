//===-- Quantize.h - converts between quantized elements and doubles ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_QUANTIZE_H
#define OPENATC_KERNELS_NN_QUANTIZE_H

#include "kernels/core/Lanes.h"
#include "kernels/core/Reciprocal.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Returns the minimum and maximum of an integer type; false for other types.
bool integerRange(uint8_t dtype, double &min, double &max);
/// Writes elements [begin, begin + count) of a result of any integer or small float type: rounded
/// half to even, saturated. `begin` must be the first element of a byte.
void storeRounded(void *out, uint8_t dtype, int64_t begin, const double *values, int64_t count,
                  bool saturate = true);
/// Returns a whole number as int8 or uint8 (T), saturated; NaN becomes the minimum.
template <typename T> inline T saturated(float value) {
  constexpr float min = lowest<T>(), max = highest<T>();
  const float above = value >= min ? value : min;
  return T(int32_t(above > max ? max : above));
}
/// Divides numbers by a scale, rounds the quotients to integers and adds a zero point, saturated:
/// as a division does it, and faster for most scales. NaN becomes the minimum.
template <typename T> struct Divided {
  float scale, zero;
  T operator()(float x) const { return saturated<T>(__builtin_rintf(x / scale) + zero); }
};
template <typename T> struct Multiplied {
  Reciprocal reciprocal;
  float min, max; ///< the numbers that become the minimum and the maximum
  float zero;
  T operator()(float x) const {
    // Clamped in front of the products, which are finite then.
    const float above = x >= min ? x : min, clamped = above > max ? max : above;
    const float quotient = __builtin_fmaf(clamped, reciprocal.high, clamped * reciprocal.low);
    return T(int32_t(__builtin_rintf(quotient) + zero));
  }
};
/// Calls run(quantizer) for a scale and a zero point.
template <typename T, typename Fn> inline void withQuantizer(float scale, float zero, Fn &&run) {
  constexpr float min = lowest<T>(), max = highest<T>();
  Reciprocal reciprocal;
  if (hasFma() && zero >= min && zero <= max && reciprocal.find(scale))
    return run(Multiplied<T>{reciprocal, (min - zero) * scale, (max - zero) * scale, zero});
  run(Divided<T>{scale, zero});
}
/// Writes floats as int8 or uint8 (T) of one scale. Arguments are values: a byte that is written
/// might else be a part of them, for all the compiler knows.
template <typename T>
inline void quantizeRun(T *to, const float *from, int64_t count, float scale, float zero) {
  withQuantizer<T>(scale, zero, [=](auto quantizer) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = quantizer(from[i]);
  });
}
/// Calls fn(tag) for int8 or uint8; returns false for other types.
template <typename Fn> [[nodiscard]] bool dispatchBytes(uint8_t dtype, Fn &&fn) {
  return dtype == I8 ? callFor<int8_t>(typeBit(I8), fn)
                     : dtype == U8 && callFor<uint8_t>(typeBit(U8), fn);
}
/// Computes element i of a result of any type of real numbers as value(i), a double.
template <typename Fn>
void storeEach(Context &c, void *out, uint8_t dtype, int64_t count, Fn &&value,
               bool saturate = true) {
  if (dtype == C64 || bitsOf(dtype) == 0 || bitsOf(dtype) > 64)
    return c.failType(dtype);
  constexpr int64_t part = 256;
  parallelIf(c, ceilDiv(count, part), part * 8, [&](int64_t begin, int64_t end) {
    double values[part];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * part, size = minimum(part, count - first);
      for (int64_t j = 0; j < size; ++j)
        values[j] = value(first + j);
      storeRounded(out, dtype, first, values, size, saturate);
    }
  });
}
/// The scale and zero point that DynamicQuantizeLinear finds for numbers.
struct DynamicRange {
  float step;   ///< the scale, which is 1 where all numbers are 0
  uint8_t zero; ///< the zero point
  /// Returns the range of numbers, in which 0 always is, which has to be exact.
  static DynamicRange of(const float *data, int64_t count);
  /// Writes numbers as integers.
  void quantize(Context &c, uint8_t *to, const float *from, int64_t count) const;
};
/// Computes result[i] = x[i] - zeroPoint exactly. The zero point of element i has the index (i /
/// inner) % channels within its group of `group` elements; a single zero point holds for all. Null
/// (and a failed call) where memory could not be allocated or the sizes do not fit.
double *centered(Context &c, Tensor x, Tensor zeroPoint, int64_t inner, int64_t channels,
                 int64_t group);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_QUANTIZE_H
