//===-- Numbers.h - element types as C++ types, and dispatch on them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_NUMBERS_H
#define OPENATC_KERNELS_CORE_NUMBERS_H

#include "kernels/core/Support.h"
#include "runtime-lite/abi/SmallFloats.h"

namespace atc::kernels {

//===----------------------------------------------------------------------===//
// Small floats: 8 and 16 bits in memory, float in registers
//===----------------------------------------------------------------------===//

/// Convert between a float and the bits of f16 or of an 8-bit float type, with rounding to the
/// narrow type.
float floatFromHalf(uint16_t bits);
uint16_t halfFromFloat(float value);
float floatFromF8(uint8_t bits, uint8_t dtype);
/// With `saturate`, values that are too large become the maximum instead of infinity or NaN
/// (attribute `saturate` of Cast).
uint8_t f8FromFloat(float value, uint8_t dtype, bool saturate);

/// An f16 element.
struct Half {
  uint16_t bits;
  Half() = default;
  Half(float value) : bits(halfFromFloat(value)) {}
  operator float() const { return floatFromHalf(bits); }
};

/// A bf16 element.
struct BFloat {
  uint16_t bits;
  BFloat() = default;
  BFloat(float value) : bits(floatToBf16(value)) {}
  operator float() const { return bf16ToFloat(bits); }
};

/// An 8-bit float element.
template <uint8_t DT> struct F8 {
  uint8_t bits;
  F8() = default;
  F8(float value) : bits(f8FromFloat(value, DT, /*saturate=*/true)) {}
  operator float() const { return floatFromF8(bits, DT); }
};

/// The type in which elements of type T are computed: float for small floats, T otherwise.
template <typename T> struct ComputeOf {
  using Type = T;
};
template <> struct ComputeOf<Half> {
  using Type = float;
};
template <> struct ComputeOf<BFloat> {
  using Type = float;
};
template <uint8_t DT> struct ComputeOf<F8<DT>> {
  using Type = float;
};
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

/// Return the minimum and maximum of an integer type, -inf and inf for floats.
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

/// Returns whether a number, or each element of a vector, is NaN. No integer is.
template <typename T> constexpr auto isNan(T x) {
  return x != x; // NOLINT(misc-redundant-expression)
}
/// Return the maximum and minimum of two numbers, of vectors those of each element; a NaN on either
/// side is the result.
template <typename T> constexpr T maxOrNan(T a, T b) { return ((a > b) | isNan(a)) ? a : b; }
template <typename T> constexpr T minOrNan(T a, T b) { return ((a < b) | isNan(a)) ? a : b; }

/// Truncates toward zero; values out of range, and NaN, become the minimum.
constexpr int64_t toInteger(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? int64_t(value) : lowest<int64_t>();
}
/// Truncates toward zero; negative values wrap around, others out of range become 2^63.
constexpr uint64_t toUnsigned(double value) {
  return value >= 0x1p63 && value < 0x1p64 ? uint64_t(int64_t(value - 0x1p63)) + (1ull << 63)
                                           : uint64_t(toInteger(value));
}
/// Converts a number of any C++ type to another one. Unlike a cast, it is defined for floats that
/// do not fit the integer type.
template <typename T, typename From> constexpr T converted(From value) {
  if constexpr (!__is_integral(T) || __is_integral(From))
    return T(value);
  else if constexpr (__is_same(T, uint64_t))
    return toUnsigned(double(value));
  else
    return T(toInteger(double(value)));
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// A mask of the element types that can occur: bit t stands for DType t. A model uses few element
/// types, which the compiler knows: it makes this a constant when it links kernels into a model, so
/// that code for other types is removed.
extern "C" const uint64_t atc_kernel_types;

// The functions below are inlined when the bitcode is made: the first pass over a model's kernel
// then removes the calls for types that do not occur, and the code behind them is never optimized.

/// Returns the bit of a type.
[[gnu::always_inline]] constexpr uint64_t typeBit(uint8_t dtype) { return uint64_t(1) << dtype; }
/// Returns whether any type of the mask can occur.
[[gnu::always_inline]] inline bool occurs(uint64_t types) {
  return (atc_kernel_types & types) != 0;
}

/// Carries a type into a generic lambda: `dispatchFloats(dtype, [&](auto type) {
/// using T = typename decltype(type)::Type; ... })`.
template <typename T> struct TypeTag {
  using Type = T;
};

/// Calls `fn` for a type unless none of the types in the mask can occur; returns whether it did.
template <typename T, typename Fn>
[[gnu::always_inline]] inline bool callFor(uint64_t types, Fn &&fn) {
  if (!occurs(types))
    return false;
  fn(TypeTag<T>());
  return true;
}

// A caller that ignores the answer of these leaves a result unwritten: it would hold what its
// memory held before.

/// Returns whether dispatchFloats serves a type.
constexpr bool isFloat(uint8_t dtype) {
  return dtype == F32 || dtype == F64 || dtype == F16 || dtype == BF16;
}

/// Calls `fn` for f32, f64, f16 or bf16. Returns false for other types.
template <typename Fn> [[nodiscard]] bool dispatchFloats(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case F32:
    return callFor<float>(typeBit(F32), fn);
  case F64:
    return callFor<double>(typeBit(F64), fn);
  case F16:
    return callFor<Half>(typeBit(F16), fn);
  case BF16:
    return callFor<BFloat>(typeBit(BF16), fn);
  default:
    return false;
  }
}

/// Calls `fn` for an integer type of 8 to 64 bits. Returns false for other types.
template <typename Fn> [[nodiscard]] bool dispatchIntegers(uint8_t dtype, Fn &&fn) {
  switch (dtype) {
  case I8:
    return callFor<int8_t>(typeBit(I8), fn);
  case U8:
    return callFor<uint8_t>(typeBit(U8), fn);
  case I16:
    return callFor<int16_t>(typeBit(I16), fn);
  case U16:
    return callFor<uint16_t>(typeBit(U16), fn);
  case I32:
    return callFor<int32_t>(typeBit(I32), fn);
  case U32:
    return callFor<uint32_t>(typeBit(U32), fn);
  case I64:
    return callFor<int64_t>(typeBit(I64), fn);
  case U64:
    return callFor<uint64_t>(typeBit(U64), fn);
  default:
    return false;
  }
}

/// Calls `fn` for a float or integer type. Returns false for other types.
template <typename Fn> [[nodiscard]] bool dispatchNumbers(uint8_t dtype, Fn &&fn) {
  return dispatchFloats(dtype, fn) || dispatchIntegers(dtype, fn);
}

/// A 128-bit element: strings and complex numbers of doubles.
struct Wide {
  uint64_t words[2];
};

/// Returns the mask of all types of a size in bits.
consteval uint64_t typesOfBits(int64_t bits) {
  uint64_t types = 0;
  for (uint8_t dtype = 1; dtype < 64; ++dtype)
    if (bitsOf(dtype) == bits)
      types |= typeBit(dtype);
  return types;
}

/// Calls `fn` with an unsigned type of the element's size, for kernels that only move elements.
/// Returns false for elements smaller than a byte, which are not addressable (Nibbles.h unpacks
/// them to bytes).
template <typename Fn> [[nodiscard]] bool dispatchSizes(uint8_t dtype, Fn &&fn) {
  constexpr uint64_t small = typesOfBits(2) | typesOfBits(4);
  switch (bitsOf(dtype)) {
  case 8:
    return callFor<uint8_t>(typesOfBits(8) | small, fn);
  case 16:
    return callFor<uint16_t>(typesOfBits(16), fn);
  case 32:
    return callFor<uint32_t>(typesOfBits(32), fn);
  case 64:
    return callFor<uint64_t>(typesOfBits(64), fn);
  case 128:
    return callFor<Wide>(typesOfBits(128), fn);
  default:
    return false;
  }
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_NUMBERS_H
