//===-- Number.h - a double as a parameter of an attribute ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_GRAPH_NUMBER_H
#define OPENATC_DIALECTS_GRAPH_NUMBER_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"
#include <cstdint>

namespace atc::graph {

/// A double that is compared and hashed by its bits, so that attributes with -0 and 0 differ and
/// those with the same NaN are equal.
class Number {
public:
  explicit Number(double value) : value(value) {}
  operator double() const { return value; }
  /// Returns the bits, by which numbers are compared and hashed: NaN equals itself, 0 differs from
  /// -0.
  uint64_t bits() const { return llvm::bit_cast<uint64_t>(value); }

private:
  double value;
};

inline bool operator==(Number lhs, Number rhs) { return lhs.bits() == rhs.bits(); }
inline llvm::hash_code hash_value(Number number) { return llvm::hash_value(number.bits()); }

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_NUMBER_H
