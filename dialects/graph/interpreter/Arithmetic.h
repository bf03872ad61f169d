//===-- Arithmetic.h - arithmetic that C++ does not define ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_INTERPRETER_ARITHMETIC_H
#define OPENATC_DIALECTS_GRAPH_INTERPRETER_ARITHMETIC_H

#include <cmath>
#include <cstdint>

namespace atc::graph::interpreter {

/// Return the maximum or minimum; NaN is propagated.
inline double maximum(double a, double b) { return a > b || std::isnan(a) ? a : b; }
inline double minimum(double a, double b) { return a < b || std::isnan(a) ? a : b; }

/// Returns `base` to the power `exponent` modulo 2^64; for a negative exponent 0, except for the
/// bases 1 and -1.
inline uint64_t integerPower(uint64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == ~uint64_t(0) ? (exponent % 2 == 0 ? 1 : base) : 0;
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/// Returns a / b truncated toward zero. -1 is handled separately because the minimum has no
/// negative.
inline int64_t signedQuotient(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}

} // namespace atc::graph::interpreter

#endif // OPENATC_DIALECTS_GRAPH_INTERPRETER_ARITHMETIC_H
