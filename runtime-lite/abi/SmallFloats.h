//===-- SmallFloats.h - conversion of f16 and bf16 --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one conversion of these types outside of LLVM's. It needs no library, so that host kernels
// can use it, and no half floats of the compiler, which some lack.

#ifndef OPENATC_RUNTIME_SMALLFLOATS_H
#define OPENATC_RUNTIME_SMALLFLOATS_H

#include <stdint.h>

namespace atc {

// Always inlined: the simulator compiles its loops for several processors, and what they call must
// be compiled for the same one.
#define OPENATC_INLINE inline __attribute__((always_inline))

/// Returns the value of f16 bits.
OPENATC_INLINE float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
           mantissa = bits & 0x3ff;
  if (exponent == 31)
    return __builtin_bit_cast(float, sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float magnitude = float(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return __builtin_bit_cast(float, sign | (exponent + 112) << 23 | mantissa << 13);
}

/// Rounds a float to f16, half to even. What is too large becomes infinity; NaN stays NaN.
OPENATC_INLINE uint16_t floatToHalf(float value) {
  uint32_t word = __builtin_bit_cast(uint32_t, value);
  uint32_t sign = word >> 16 & 0x8000;
  word &= 0x7fffffff;
  if (word > 0x7f800000)
    return uint16_t(sign | 0x7e00);
  if (word >= 0x477ff000) // rounds to 65536 or more
    return uint16_t(sign | 0x7c00);
  if (word < 0x38800000) {
    // Subnormal: adding 0.5 leaves the rounded mantissa in the low bits.
    float shifted = __builtin_bit_cast(float, word) + 0.5f;
    return uint16_t(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000));
  }
  word += 0xfff + (word >> 13 & 1);
  return uint16_t(sign | (word - 0x38000000) >> 13);
}

/// Returns the value of bf16 bits.
OPENATC_INLINE float bf16ToFloat(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t(bits) << 16);
}

/// Rounds a float to bf16, half to even; NaN stays NaN.
OPENATC_INLINE uint16_t floatToBf16(float value) {
  uint32_t word = __builtin_bit_cast(uint32_t, value);
  const bool isNan = (word & 0x7fffffff) > 0x7f800000;
  return uint16_t(isNan ? word >> 16 | 0x40 : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}

#undef OPENATC_INLINE

} // namespace atc

#endif // OPENATC_RUNTIME_SMALLFLOATS_H
