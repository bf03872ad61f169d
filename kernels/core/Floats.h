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
  /// Makes the output. Returns false where the kernel must return: also for a type that no float
  /// converts to.
  bool make(Context &c, uint32_t output, uint8_t type, const Dims &dims) {
    if (!isFloat(type))
      return c.failType(type), false;
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
    (void)dispatchFloats(dtype, [&](auto type) { // make() has checked the type
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

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float Floats16 __attribute__((vector_size(64)));

/// Returns the sum of the elements, which are added in pairs.
inline float sumOf(Floats16 x) {
  typedef float Half __attribute__((vector_size(32)));
  typedef float Quarter __attribute__((vector_size(16)));
  const Half half = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  const Quarter four = __builtin_shufflevector(half, half, 0, 1, 2, 3) +
                       __builtin_shufflevector(half, half, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// Returns the dot product of `count` elements.
inline float dotProduct(const float *a, const float *b, int64_t count) {
  typedef float Loose __attribute__((vector_size(64), aligned(4), may_alias));
  constexpr int64_t lanes = 16;
  auto at = [](const float *from) { return Floats16(*reinterpret_cast<const Loose *>(from)); };
  Floats16 even = {}, odd = {};
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even += at(a + i) * at(b + i);
    odd += at(a + i + lanes) * at(b + i + lanes);
  }
  if (i + lanes <= count) {
    even += at(a + i) * at(b + i);
    i += lanes;
  }
  float sum = sumOf(even + odd);
  for (; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

#pragma GCC diagnostic pop

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_FLOATS_H
