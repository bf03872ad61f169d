//===-- Bfloat16.h - conversion between bf16 and float ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_SUPPORT_BFLOAT16_H
#define OPENATC_SUPPORT_BFLOAT16_H

#include <cstdint>
#include <cstring>

namespace atc {

// Both are always inlined: the simulator compiles its loops for several processors, and what they
// call must be compiled for the same one.

/// Returns the value of bf16 bits.
inline __attribute__((always_inline)) float bf16ToFloat(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

/// Rounds a float to bf16, half to even; NaN stays NaN.
inline __attribute__((always_inline)) uint16_t floatToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return uint16_t(value != value ? bits >> 16 | 0x40 : rounded);
}

} // namespace atc

#endif // OPENATC_SUPPORT_BFLOAT16_H
