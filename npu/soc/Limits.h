//===-- Limits.h - what a program of the NPU may ask for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_LIMITS_H
#define OPENATC_NPU_LIMITS_H

#include <cstdint>

namespace atc::npu {

/// Limits::MaxInstructions and so on; units and reasons are in Limits.def.
struct Limits {
#define NPU_LIMIT(Name, value, unit, reason) static constexpr int64_t Name = value;
#include "npu/soc/Limits.def"
};

/// Holds what verifying the programs of one model may still cost. A program that
/// asks for more than is left is refused.
struct VerifyBudget {
  int64_t instructions = Limits::MaxModelInstructions;
  int64_t points = Limits::MaxModelPoints;
};

} // namespace atc::npu

#endif
