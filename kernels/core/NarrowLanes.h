//===-- NarrowLanes.h - vectors of f16 and bf16 as floats -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_NARROWLANES_H
#define OPENATC_KERNELS_CORE_NARROWLANES_H

#include "kernels/core/Floats.h"
#include "kernels/core/Lanes.h"

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace atc::kernels {

/// Returns whether an instruction converts f16: on x86-64 those levels have F16C that have AVX2.
[[gnu::always_inline]] inline bool convertsHalfs() {
#if defined(__aarch64__)
  return true;
#elif defined(__x86_64__)
  return atc_kernel_lanes >= 8;
#else
  return false;
#endif
}

typedef uint32_t Words16 __attribute__((vector_size(64)));

/// Returns the lower halves of 16 words that are at `from`.
inline Words16 wordsFrom(const void *from) {
  typedef uint16_t Loose __attribute__((vector_size(32), aligned(2), may_alias));
  return __builtin_convertvector(*static_cast<const Loose *>(from), Words16);
}

/// Returns 16 elements as floats, which hold each of them exactly.
inline Floats16 floatsFrom(const BFloat *from) {
  return __builtin_bit_cast(Floats16, wordsFrom(from) << 16u);
}
inline Floats16 floatsFrom(const Half *from) {
#if defined(__x86_64__) || defined(__aarch64__)
  typedef _Float16 Loose __attribute__((vector_size(32), aligned(2), may_alias));
  if (convertsHalfs())
    return __builtin_convertvector(*reinterpret_cast<const Loose *>(from), Floats16);
#endif
  const Words16 words = wordsFrom(from), magnitude = words & 0x7fffu;
  // The exponent has another bias, which a product corrects for subnormal elements, too.
  const Floats16 scaled = __builtin_bit_cast(Floats16, magnitude << 13u) * 0x1p112f;
  // All ones where the exponent stands for infinity or NaN.
  const Words16 special = __builtin_bit_cast(Words16, magnitude >= 0x7c00u) & 0x7f800000u;
  return __builtin_bit_cast(Floats16, __builtin_bit_cast(Words16, scaled) | special |
                                          (words & 0x8000u) << 16u);
}

/// Stores 16 floats as the nearest elements.
inline void storeLanes(BFloat *to, Floats16 x) {
  for (int64_t i = 0; i < 16; ++i)
    to[i] = BFloat(x[i]);
}
inline void storeLanes(Half *to, Floats16 x) {
#if defined(__x86_64__) || defined(__aarch64__)
  typedef _Float16 Narrow __attribute__((vector_size(32)));
  if (convertsHalfs()) {
    const Narrow narrow = __builtin_convertvector(x, Narrow);
    __builtin_memcpy(to, &narrow, sizeof(narrow));
    return;
  }
#endif
  for (int64_t i = 0; i < 16; ++i)
    to[i] = Half(x[i]);
}

} // namespace atc::kernels

#pragma GCC diagnostic pop

#endif // OPENATC_KERNELS_CORE_NARROWLANES_H
