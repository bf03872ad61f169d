//===-- Limits.h - limits on programs of the NPU ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_LIMITS_H
#define OPENATC_NPU_LIMITS_H

#include <cstdint>

namespace atc::npu {

/// The limits of Limits.def, which has their units and reasons.
struct Limits {
#define NPU_LIMIT(Name, value, unit, reason) static constexpr int64_t Name = value;
#include "npu/soc/Limits.def"
};

/// The remaining cost of verifying the programs of one model. A program that needs more is refused.
struct VerifyBudget {
  int64_t instructions = Limits::MaxModelInstructions;
  int64_t points = Limits::MaxModelPoints;
};

} // namespace atc::npu

#endif
