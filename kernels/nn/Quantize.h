//===-- Quantize.h - quantized elements from and to numbers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_QUANTIZE_H
#define OPENATC_KERNELS_NN_QUANTIZE_H

#include "kernels/core/Widen.h"

namespace atc::kernels {

/// Least and most number of an integer type; false for other types.
bool integerRange(uint8_t dtype, double &least, double &most);
/// Writes elements [begin, begin + count) of a result of any integer or small float
/// kind: rounded half to even, saturated. `begin` starts a byte.
void storeRounded(void *out, uint8_t dtype, int64_t begin, const double *values, int64_t count,
                  bool saturate = true);
/// Element i of a result of any kind is value(i), a double.
template <typename Fn>
void storeEach(Context &c, void *out, uint8_t dtype, int64_t count, Fn &&value,
               bool saturate = true) {
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
/// result[i] = x[i] - zeroPoint, exactly. The zero point of element i is number
/// (i / inner) % channels of its group of `group` elements; a single one is that of
/// all. Null where there is no memory or the sizes do not fit (a failed call).
double *centered(Context &c, Tensor x, Tensor zeroPoint, int64_t inner, int64_t channels,
                 int64_t group);

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_QUANTIZE_H
