//===-- Checked.h - integers that never overflow ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof of addresses computes with values that a file chose. A `Checked` is an exact integer of
// up to 126 bits, or it is lost: a sum or product beyond that is lost, and so is every result
// computed from it. Comparisons are true only where they are proven; with a lost operand none is.
// There is no operator<, so that nobody can write `!(end > size)`, which a lost value would pass;
// and 64-bit integers do not convert implicitly, so that a product of two of them cannot overflow
// unseen before the conversion.

#ifndef OPENATC_NPU_CHECKED_H
#define OPENATC_NPU_CHECKED_H

#include <concepts>
#include <cstdint>
#include <string>

namespace atc::npu {

/// An exact integer or a lost one; see the head of this file.
class Checked {
public:
  constexpr Checked() = default;
  /// Converts literals, sizes of types and other values of at most 32 bits.
  template <std::integral T>
    requires(sizeof(T) < 8)
  constexpr Checked(T value) : value(value) {}
  /// Converts one value of a program; products must be formed after the conversion.
  template <std::integral T>
    requires(sizeof(T) == 8)
  constexpr explicit Checked(T value) : value(value) {}

  /// Returns a lost value.
  static constexpr Checked lost() {
    Checked result;
    result.value = kLost;
    return result;
  }
  /// Returns 2^exponent; lost where exponent > 125.
  static constexpr Checked power(unsigned exponent) {
    Checked result;
    result.value = exponent < 126 ? Wide(1) << exponent : kLost;
    return result;
  }

  /// Returns whether the value is not lost.
  constexpr bool known() const { return value != kLost; }
  /// The comparisons return true only if both values are known and the relation holds.
  constexpr bool isAtMost(Checked other) const {
    return known() && other.known() && value <= other.value;
  }
  constexpr bool isBelow(Checked other) const {
    return known() && other.known() && value < other.value;
  }
  constexpr bool isAtLeast(Checked other) const { return other.isAtMost(*this); }
  constexpr bool isAbove(Checked other) const { return other.isBelow(*this); }
  constexpr bool isWithin(Checked low, Checked high) const {
    return isAtLeast(low) && isAtMost(high);
  }
  constexpr bool is(Checked other) const { return known() && value == other.value; }
  /// Returns true if both values are known, `divisor` is not 0 and divides the value.
  constexpr bool isMultipleOf(Checked divisor) const {
    return known() && divisor.known() && divisor.value != 0 && value % divisor.value == 0;
  }

  constexpr Checked operator-() const { return made(known() ? -value : kLost); }
  constexpr Checked operator+(Checked other) const {
    return known() && other.known() ? made(value + other.value) : lost();
  }
  constexpr Checked operator-(Checked other) const { return *this + -other; }
  constexpr Checked operator*(Checked other) const {
    // Values that fit into 64 bits, nearly all, cannot overflow 128.
    if (value == int64_t(value) && other.value == int64_t(other.value))
      return made(value * other.value);
    return slowProduct(other);
  }
  constexpr Checked &operator+=(Checked other) { return *this = *this + other; }
  constexpr Checked &operator-=(Checked other) { return *this = *this - other; }
  constexpr Checked &operator*=(Checked other) { return *this = *this * other; }
  /// Returns the quotient rounded down; lost for a divisor of 0.
  constexpr Checked dividedBy(Checked divisor) const {
    if (!known() || !divisor.known() || divisor.value == 0)
      return lost();
    Wide quotient = value / divisor.value;
    bool inexact = quotient * divisor.value != value;
    return made(inexact && (value < 0) != (divisor.value < 0) ? quotient - 1 : quotient);
  }
  /// Returns the absolute value.
  constexpr Checked magnitude() const { return isBelow(0) ? -*this : *this; }

  /// Returns the smaller one; lost if either is.
  static constexpr Checked min(Checked a, Checked b) {
    return a.known() && b.known() ? (a.value < b.value ? a : b) : lost();
  }
  /// Returns the larger one; lost if either is.
  static constexpr Checked max(Checked a, Checked b) { return -min(-a, -b); }

  /// Returns decimal digits, or "an unknown number".
  std::string text() const {
    if (!known())
      return "an unknown number";
    std::string digits;
    for (Wide rest = value < 0 ? -value : value; rest || digits.empty(); rest /= 10)
      digits.insert(digits.begin(), char('0' + int(rest % 10)));
    return value < 0 ? "-" + digits : digits;
  }

private:
  using Wide = __int128;
  static constexpr Wide kMax = (Wide(1) << 126) - 1;
  static constexpr Wide kLost = -kMax - kMax - 2; // the smallest of all

  /// Two numbers up to kMax have a sum that fits, which may be beyond kMax.
  static constexpr Checked made(Wide value) {
    Checked result;
    result.value = value > kMax || value < -kMax ? kLost : value;
    return result;
  }
  static constexpr unsigned bits(Wide value) {
    auto rest = (unsigned __int128)(value < 0 ? -value : value);
    uint64_t high = uint64_t(rest >> 64), low = uint64_t(rest);
    return high  ? 128 - unsigned(__builtin_clzll(high))
           : low ? 64 - unsigned(__builtin_clzll(low))
                 : 0;
  }
  constexpr Checked slowProduct(Checked other) const {
    if (!known() || !other.known() || bits(value) + bits(other.value) > 126)
      return lost();
    return made(value * other.value);
  }

  Wide value = 0;
};

} // namespace atc::npu

#endif
