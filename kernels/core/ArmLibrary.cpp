//===-- ArmLibrary.cpp - the functions that compilers call on ARMv7 -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only part of the bitcode for ARMv7. The run-time ABI of Arm names functions for what its
// processors of 32 bits have no instruction for. They take and return floats in registers of
// integers, whatever the rest of the code does.

#include <stddef.h>
#include <stdint.h>

#ifdef __arm__
#define OPENATC_BASE __attribute__((pcs("aapcs")))
#else
#define OPENATC_BASE // a test calls the functions on the machine that builds
#endif

namespace {

/// Quotient and remainder, which the functions of the ABI return in four registers.
typedef uint64_t Division __attribute__((vector_size(16)));

inline int leadingZeros(uint64_t x) { return __builtin_clzll(x); }
inline int leadingZeros(uint32_t x) { return __builtin_clz(x); }

/// Divides bit by bit: a quotient of n bits takes n steps. Returns it and leaves the remainder in
/// `a`. A quotient by 0 is 0, as the ABI leaves open.
template <typename Word> inline __attribute__((always_inline)) Word divideBits(Word &a, Word b) {
  Word quotient = 0;
  if (!b || a < b)
    return quotient;
  int shift = leadingZeros(b) - leadingZeros(a);
  b <<= shift;
  for (; shift >= 0; --shift, b >>= 1) {
    quotient <<= 1;
    if (a >= b) {
      a -= b;
      quotient |= 1;
    }
  }
  return quotient;
}

inline __attribute__((always_inline)) Division divide(uint64_t a, uint64_t b) {
  const uint64_t quotient = divideBits(a, b);
  return Division{quotient, a};
}

inline __attribute__((always_inline)) uint64_t divideWord(uint32_t a, uint32_t b) {
  const uint32_t quotient = divideBits(a, b);
  return quotient | uint64_t(a) << 32;
}

/// Returns the magnitude of a number; that of the lowest is 2^63.
inline uint64_t magnitude(int64_t x) { return x < 0 ? -uint64_t(x) : uint64_t(x); }
inline uint32_t magnitude(int32_t x) { return x < 0 ? -uint32_t(x) : uint32_t(x); }

/// Returns a number in 24 (f32) or 53 bits (f64), rounded half to even, as a float of `Bits`. The
/// conversions of two words would round twice.
template <typename Float, typename Bits, int kMantissa> inline Float rounded(uint64_t x) {
  const int width = 64 - (x ? __builtin_clzll(x) : 64);
  const int drop = width - kMantissa;
  if (drop > 0) {
    // The dropped bits affect the rounding only in whether they are more than, less than or exactly
    // half.
    const uint64_t rest = x & ((uint64_t(1) << drop) - 1), half = uint64_t(1) << (drop - 1);
    x >>= drop;
    x += rest > half || (rest == half && (x & 1));
  }
  // Now at most 2^kMantissa: the sum of two exact words is exact.
  const Float value = Float(uint32_t(x >> 32)) * Float(0x1p32) + Float(uint32_t(x));
  constexpr int kStored = kMantissa - 1, kBias = sizeof(Bits) == 4 ? 127 : 1023;
  return drop > 0 ? value * __builtin_bit_cast(Float, Bits(Bits(drop + kBias) << kStored)) : value;
}

/// Returns a number from 0 to 2^64 without its fraction.
inline uint64_t truncated(double x) {
  const uint32_t high = uint32_t(x * 0x1p-32);
  return uint64_t(high) << 32 | uint32_t(x - double(high) * 0x1p32);
}

} // namespace

extern "C" {

OPENATC_BASE Division __aeabi_uldivmod(uint64_t a, uint64_t b) { return divide(a, b); }
OPENATC_BASE Division __aeabi_ldivmod(int64_t a, int64_t b) {
  const Division result = divide(magnitude(a), magnitude(b));
  return Division{(a < 0) != (b < 0) ? -result[0] : result[0], a < 0 ? -result[1] : result[1]};
}
OPENATC_BASE uint64_t __aeabi_uidivmod(uint32_t a, uint32_t b) { return divideWord(a, b); }
OPENATC_BASE uint32_t __aeabi_uidiv(uint32_t a, uint32_t b) { return uint32_t(divideWord(a, b)); }
OPENATC_BASE uint64_t __aeabi_idivmod(int32_t a, int32_t b) {
  const uint64_t result = divideWord(magnitude(a), magnitude(b));
  const uint32_t quotient = uint32_t(result), rest = uint32_t(result >> 32);
  return ((a < 0) != (b < 0) ? -quotient : quotient) | uint64_t(a < 0 ? -rest : rest) << 32;
}
OPENATC_BASE int32_t __aeabi_idiv(int32_t a, int32_t b) {
  const uint32_t quotient = uint32_t(divideWord(magnitude(a), magnitude(b)));
  return int32_t((a < 0) != (b < 0) ? -quotient : quotient);
}

OPENATC_BASE float __aeabi_ul2f(uint64_t x) { return rounded<float, uint32_t, 24>(x); }
OPENATC_BASE float __aeabi_l2f(int64_t x) {
  const float value = rounded<float, uint32_t, 24>(magnitude(x));
  return x < 0 ? -value : value;
}
OPENATC_BASE double __aeabi_ul2d(uint64_t x) { return rounded<double, uint64_t, 53>(x); }
OPENATC_BASE double __aeabi_l2d(int64_t x) {
  const double value = rounded<double, uint64_t, 53>(magnitude(x));
  return x < 0 ? -value : value;
}

// These conversions saturate, as the instructions for 32-bit integers do.
OPENATC_BASE uint64_t __aeabi_d2ulz(double x) {
  return !(x > 0) ? 0 : x >= 0x1p64 ? ~uint64_t(0) : truncated(x);
}
OPENATC_BASE int64_t __aeabi_d2lz(double x) {
  const bool isNegative = x < 0;
  const double size = isNegative ? -x : x;
  if (!(size >= 0))
    return 0;
  if (size >= 0x1p63)
    return isNegative ? INT64_MIN : INT64_MAX;
  const int64_t value = int64_t(truncated(size));
  return isNegative ? -value : value;
}
OPENATC_BASE uint64_t __aeabi_f2ulz(float x) { return __aeabi_d2ulz(x); }
OPENATC_BASE int64_t __aeabi_f2lz(float x) { return __aeabi_d2lz(x); }

// The C library's, under names that promise an alignment or have no result.
void *memcpy(void *__restrict to, const void *__restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#define OPENATC_MEMORY(SUFFIX)                                                                     \
  OPENATC_BASE void __aeabi_memcpy##SUFFIX(void *to, const void *from, size_t bytes) {             \
    memcpy(to, from, bytes);                                                                       \
  }                                                                                                \
  OPENATC_BASE void __aeabi_memmove##SUFFIX(void *to, const void *from, size_t bytes) {            \
    memmove(to, from, bytes);                                                                      \
  }                                                                                                \
  OPENATC_BASE void __aeabi_memset##SUFFIX(void *to, size_t bytes, int value) {                    \
    memset(to, value, bytes);                                                                      \
  }                                                                                                \
  OPENATC_BASE void __aeabi_memclr##SUFFIX(void *to, size_t bytes) { memset(to, 0, bytes); }
OPENATC_MEMORY()
OPENATC_MEMORY(4)
OPENATC_MEMORY(8)
}
