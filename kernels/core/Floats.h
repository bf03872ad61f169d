//===-- Floats.h - tensors of any float type as floats --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For kernels that compute in float for any element type.

#ifndef OPENATC_KERNELS_CORE_FLOATS_H
#define OPENATC_KERNELS_CORE_FLOATS_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// Returns the elements as floats: the tensor's own or a copy in scratch memory. Null where memory
/// could not be allocated or the type is not supported (a failed call).
inline const float *floatsOf(Context &c, Tensor tensor) {
  if (tensor.dtype() == F32)
    return tensor.as<float>();
  const int64_t count = tensor.count();
  float *copied = c.scratch<float>(count + 1);
  if (copied && !dispatchNumbers(tensor.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        const T *from = tensor.as<T>();
        for (int64_t i = 0; i < count; ++i)
          copied[i] = float(from[i]);
      })) {
    c.failType(tensor.dtype());
    return nullptr;
  }
  return copied;
}

/// A result that is computed in float: the floats are the output's own memory, or scratch memory
/// that `store` converts to the output's type.
class FloatResult {
public:
  /// Makes the output. Returns false where the kernel must return.
  bool make(Context &c, uint32_t output, uint8_t type, const Dims &dims) {
    dtype = type;
    count = dims.product();
    memory = c.makeBytes(output, type, dims);
    return memory != nullptr;
  }
  /// Makes an output only where it is wanted. Returns false where the kernel must return.
  bool makeIfWanted(Context &c, uint32_t output, uint8_t type, const Dims &dims) {
    return !c.wants(output) || make(c, output, type, dims);
  }
  explicit operator bool() const { return memory; }
  /// Returns the floats to write. Must be called after all results are made. Null without memory
  /// and for an output that is not wanted.
  float *floats(Context &c) {
    return values = dtype == F32 ? static_cast<float *>(memory) : c.scratch<float>(count + 1);
  }
  /// Converts the floats to the output's type; does nothing for a result that was not made.
  void store() {
    if (dtype == F32)
      return;
    dispatchFloats(dtype, [&](auto type) {
      using T = typename decltype(type)::Type;
      for (int64_t i = 0; i < count; ++i)
        static_cast<T *>(memory)[i] = T(values[i]);
    });
  }

private:
  uint8_t dtype = F32;
  int64_t count = 0;
  void *memory = nullptr;
  float *values = nullptr;
};

/// Returns the dot product of `count` elements. Several partial accumulators allow vector code.
inline float dotProduct(const float *a, const float *b, int64_t count) {
  constexpr int64_t lanes = 8;
  float sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += a[i + l] * b[i + l];
  float sum = 0;
  for (; i < count; ++i)
    sum += a[i] * b[i];
  for (int64_t l = 0; l < lanes; ++l)
    sum += sums[l];
  return sum;
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_FLOATS_H
