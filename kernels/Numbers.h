//===-- Numbers.h - element types as C++ types, and dispatch on them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NUMBERS_H
#define OPENATC_KERNELS_NUMBERS_H

#include "kernels/Support.h"

namespace atc::kernels {

//===----------------------------------------------------------------------===//
// Small floats: 16 and 8 bits in memory, float in registers
//===----------------------------------------------------------------------===//

float floatFromHalf(uint16_t bits);
uint16_t halfFromFloat(float value);
float floatFromF8(uint8_t bits, uint8_t dtype);
/// `saturate`: what is too large becomes the largest number instead of infinity or
/// NaN (attribute `saturate` of Cast).
uint8_t f8FromFloat(float value, uint8_t dtype, bool saturate);

struct Half {
  uint16_t bits;
  Half() = default;
  Half(float value) : bits(halfFromFloat(value)) {}
  operator float() const { return floatFromHalf(bits); }
};

struct BFloat {
  uint16_t bits;
  BFloat() = default;
  BFloat(float value) {
    uint32_t word = __builtin_bit_cast(uint32_t, value);
    if ((word & 0x7fffffff) > 0x7f800000)
      bits = uint16_t(word >> 16 | 0x40); // NaN stays one
    else
      bits = uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  operator float() const { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
};

/// An 8-bit float.
template <uint8_t DT> struct F8 {
  uint8_t bits;
  F8() = default;
  F8(float value) : bits(f8FromFloat(value, DT, /*saturate=*/true)) {}
  operator float() const { return floatFromF8(bits, DT); }
};

/// What is computed with for elements of type T: float for small floats, T else.
template <typename T> struct ComputeOf { using Type = T; };
template <> struct ComputeOf<Half> { using Type = float; };
template <> struct ComputeOf<BFloat> { using Type = float; };
template <uint8_t DT> struct ComputeOf<F8<DT>> { using Type = float; };
template <typename T> using Compute = typename ComputeOf<T>::Type;

/// A complex number; T is float or double.
template <typename T> struct Complex {
  T re, im;
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <typename T> inline constexpr bool kIsFloat = false;
template <> inline constexpr bool kIsFloat<float> = true;
template <> inline constexpr bool kIsFloat<double> = true;
template <> inline constexpr bool kIsFloat<Half> = true;
template <> inline constexpr bool kIsFloat<BFloat> = true;
template <uint8_t DT> inline constexpr bool kIsFloat<F8<DT>> = true;

/// Least and largest number of an integer type, -inf and inf of a float.
template <typename T> constexpr T lowest() {
  if constexpr (__is_same(T, float) || __is_same(T, double))
    return -T(__builtin_inf());
  else if constexpr (T(-1) < T(0))
    return T(T(1) << (sizeof(T) * 8 - 1));
  else
    return T(0);
}
template <typename T> constexpr T highest() {
  if constexpr (__is_same(T, float) || __is_same(T, double))
    return T(__builtin_inf());
  else
    return T(~lowest<T>());
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Carries a type into a generic lambda: `dispatchFloats(dtype, [&](auto type) {
/// using T = typename decltype(type)::Type; ... })`.
template <typename T> struct TypeTag { using Type = T; };

/// f32, f64, f16, bf16. False for another type.
template <typename Fn> bool dispatchFloats(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case F32: fn(TypeTag<float>()); return true;
  case F64: fn(TypeTag<double>()); return true;
  case F16: fn(TypeTag<Half>()); return true;
  case BF16: fn(TypeTag<BFloat>()); return true;
  default: return false;
  }
}

/// The integers of 8 to 64 bits.
template <typename Fn> bool dispatchIntegers(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case I8: fn(TypeTag<int8_t>()); return true;
  case U8: fn(TypeTag<uint8_t>()); return true;
  case I16: fn(TypeTag<int16_t>()); return true;
  case U16: fn(TypeTag<uint16_t>()); return true;
  case I32: fn(TypeTag<int32_t>()); return true;
  case U32: fn(TypeTag<uint32_t>()); return true;
  case I64: fn(TypeTag<int64_t>()); return true;
  case U64: fn(TypeTag<uint64_t>()); return true;
  default: return false;
  }
}

template <typename Fn> bool dispatchNumbers(uint8_t dtype, Fn &&fn) {
  return dispatchFloats(dtype, fn) || dispatchIntegers(dtype, fn);
}

/// A 128-bit element: strings and complex numbers of doubles.
struct Wide {
  uint64_t words[2];
};

/// For kernels that only move elements: an unsigned type of the element's size.
/// False for 4-bit elements, which have no address (see unpackNibbles).
template <typename Fn> bool dispatchSizes(uint8_t dtype, Fn &&fn) {
  switch (bitsOf(dtype)) {
  case 8: fn(TypeTag<uint8_t>()); return true;
  case 16: fn(TypeTag<uint16_t>()); return true;
  case 32: fn(TypeTag<uint32_t>()); return true;
  case 64: fn(TypeTag<uint64_t>()); return true;
  case 128: fn(TypeTag<Wide>()); return true;
  default: return false;
  }
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NUMBERS_H
