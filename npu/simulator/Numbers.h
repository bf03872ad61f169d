//===-- Numbers.h - conversions between element types -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_NUMBERS_H
#define OPENATC_NPU_SIMULATOR_NUMBERS_H

#include "npu/isa/Isa.h"
#include "runtime-lite/abi/Half.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

// Each function is compiled twice, for AVX2 with FMA and F16C and for any machine; helpers must be
// inlined to be compiled for the same machine as their caller.
#define NPU_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define NPU_FAST __attribute__((target("avx2,fma,f16c")))
#define NPU_HAS_FAST 1
#else
#define NPU_FAST
#define NPU_HAS_FAST 0
#endif

namespace atc::npu {

/// Returns whether to use the code for AVX2.
bool useFastPath();

/// Rounds a float to the nearest integer, half to even, and saturates; NaN becomes 0.
template <typename T> NPU_INLINE T saturate(float value) {
  constexpr double low = double(std::numeric_limits<T>::min());
  // 2^63 - 1 is no double: the largest one below it.
  constexpr double high =
      sizeof(T) == 8 ? 0x1.fffffffffffffp62 : double(std::numeric_limits<T>::max());
  double rounded = __builtin_rint(double(value));
  rounded = rounded > low ? rounded : low;
  rounded = rounded < high ? rounded : high;
  return value != value ? T(0) : T(rounded);
}

/// The value range of an 8-bit type.
struct Bounds {
  float min, max;
  explicit Bounds(DataType type)
      : min(type == DataType::S8 ? -128.f : 0.f), max(type == DataType::S8 ? 127.f : 255.f) {}
  /// Clamps a value to the range.
  NPU_INLINE float keep(float value) const {
    value = value > min ? value : min;
    return value < max ? value : max;
  }
};

/// Converts `count` values stored as T to floats, each by `toFloat`.
template <typename T, typename Fn>
NPU_INLINE void loadEach(const uint8_t *from, float *to, int64_t count, const Fn &toFloat) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + int64_t(sizeof(T)) * i, sizeof(T));
    to[i] = toFloat(value);
  }
}

/// Converts `count` floats to values stored as T, each by `fromFloat`.
template <typename T, typename Fn>
NPU_INLINE void storeEach(const float *from, uint8_t *to, int64_t count, const Fn &fromFloat) {
  for (int64_t i = 0; i < count; ++i) {
    T value = fromFloat(from[i]);
    std::memcpy(to + int64_t(sizeof(T)) * i, &value, sizeof(T));
  }
}

/// Converts `count` elements of `type` to floats.
NPU_INLINE void toFloats(DataType type, const uint8_t *from, float *to, int64_t count) {
  auto convert = [](auto value) { return float(value); };
  switch (type) {
  case DataType::F32:
    std::memcpy(to, from, size_t(count) * 4);
    break;
  case DataType::F16:
    loadEach<Half>(from, to, count, convert);
    break;
  case DataType::BF16:
    loadEach<uint16_t>(from, to, count, bf16ToFloat);
    break;
  case DataType::S32:
    loadEach<int32_t>(from, to, count, convert);
    break;
  case DataType::S64:
    loadEach<int64_t>(from, to, count, convert);
    break;
  case DataType::S8:
    loadEach<int8_t>(from, to, count, convert);
    break;
  case DataType::U8:
    loadEach<uint8_t>(from, to, count, convert);
    break;
  }
}

/// Converts `count` floats to elements of `type`: rounds half to even; integers saturate.
NPU_INLINE void fromFloats(DataType type, const float *from, uint8_t *to, int64_t count) {
  switch (type) {
  case DataType::F32:
    std::memcpy(to, from, size_t(count) * 4);
    break;
  case DataType::F16:
    storeEach<Half>(from, to, count, [](float value) { return Half(value); });
    break;
  case DataType::BF16:
    storeEach<uint16_t>(from, to, count, floatToBf16);
    break;
  case DataType::S32:
    storeEach<int32_t>(from, to, count, saturate<int32_t>);
    break;
  case DataType::S64:
    storeEach<int64_t>(from, to, count, saturate<int64_t>);
    break;
  case DataType::S8:
    storeEach<int8_t>(from, to, count, saturate<int8_t>);
    break;
  case DataType::U8:
    storeEach<uint8_t>(from, to, count, saturate<uint8_t>);
    break;
  }
}

} // namespace atc::npu

#endif
