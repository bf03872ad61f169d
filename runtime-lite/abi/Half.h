//===-- Half.h - f16 as a type ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_RUNTIME_HALF_H
#define OPENATC_RUNTIME_HALF_H

#include "runtime-lite/abi/SmallFloats.h"

namespace atc {

#ifdef __FLT16_MANT_DIG__
using Half = _Float16;
#else
/// Stands for _Float16 where the compiler has none, such as gcc 12 for RISC-V.
struct Half {
  uint16_t bits;
  Half() = default;
  explicit Half(float value) : bits(floatToHalf(value)) {}
  operator float() const { return halfToFloat(bits); }
};
#endif

} // namespace atc

#endif // OPENATC_RUNTIME_HALF_H
