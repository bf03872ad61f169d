//===-- Numbers.h - conversions between element types -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_NUMBERS_H
#define OPENATC_NPU_NUMBERS_H

#include "runtime-lite/npu/Isa.h"

#include <cmath>
#include <limits>
#include <type_traits>

// The same source is compiled for AVX2 with FMA and F16C and for any machine;
// helpers must be inlined to be compiled with their caller.
#define NPU_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define NPU_FAST __attribute__((target("avx2,fma,f16c")))
#define NPU_HAS_FAST 1
#else
#define NPU_FAST
#define NPU_HAS_FAST 0
#endif

namespace atc::npu {

/// Is the code for AVX2 to be used.
bool useFastPath();

NPU_INLINE float bf16ToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

NPU_INLINE uint16_t floatToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return uint16_t(value != value ? bits >> 16 | 0x40 : rounded);
}

template <typename T> NPU_INLINE T saturate(float value) {
  constexpr double low = double(std::numeric_limits<T>::min());
  constexpr double high = double(std::numeric_limits<T>::max());
  double rounded = __builtin_rint(double(value));
  rounded = rounded > low ? rounded : low;
  rounded = rounded < high ? rounded : high;
  return value != value ? T(0) : T(rounded);
}

/// `count` elements to floats.
NPU_INLINE void toFloats(DataType type, const uint8_t *from, float *to, int64_t count) {
  switch (type) {
  case DataType::F32:
    std::memcpy(to, from, size_t(count) * 4);
    break;
  case DataType::F16:
    for (int64_t i = 0; i < count; ++i) {
      _Float16 value;
      std::memcpy(&value, from + 2 * i, 2);
      to[i] = float(value);
    }
    break;
  case DataType::BF16:
    for (int64_t i = 0; i < count; ++i) {
      uint16_t value;
      std::memcpy(&value, from + 2 * i, 2);
      to[i] = bf16ToFloat(value);
    }
    break;
  case DataType::S32:
    for (int64_t i = 0; i < count; ++i) {
      int32_t value;
      std::memcpy(&value, from + 4 * i, 4);
      to[i] = float(value);
    }
    break;
  case DataType::S8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = float(int8_t(from[i]));
    break;
  case DataType::U8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = float(from[i]);
    break;
  }
}

/// Floats to elements, rounded to nearest even; integers saturate.
NPU_INLINE void fromFloats(DataType type, const float *from, uint8_t *to, int64_t count) {
  switch (type) {
  case DataType::F32:
    std::memcpy(to, from, size_t(count) * 4);
    break;
  case DataType::F16:
    for (int64_t i = 0; i < count; ++i) {
      _Float16 value = _Float16(from[i]);
      std::memcpy(to + 2 * i, &value, 2);
    }
    break;
  case DataType::BF16:
    for (int64_t i = 0; i < count; ++i) {
      uint16_t value = floatToBf16(from[i]);
      std::memcpy(to + 2 * i, &value, 2);
    }
    break;
  case DataType::S32:
    for (int64_t i = 0; i < count; ++i) {
      int32_t value = saturate<int32_t>(from[i]);
      std::memcpy(to + 4 * i, &value, 4);
    }
    break;
  case DataType::S8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = uint8_t(saturate<int8_t>(from[i]));
    break;
  case DataType::U8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = saturate<uint8_t>(from[i]);
    break;
  }
}

} // namespace atc::npu

#endif
