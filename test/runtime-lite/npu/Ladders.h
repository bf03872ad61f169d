//===-- Ladders.h - programs with published times ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two programs in the steps in which they were made fast on real silicon
// (Ascend910B1): a matmul of 8192 x 8192 x 8192 and an addition of 8192 x 8192,
// both f16. The simulated times are to come out as the published ones did.

#ifndef OPENATC_TEST_NPU_LADDERS_H
#define OPENATC_TEST_NPU_LADDERS_H

#include "runtime-lite/npu/Simulator.h"

namespace atc::npu::test {

struct Step {
  const char *name;
  double published; ///< microseconds
  Program program;
  bool bypassL2 = false;
  /// The program runs this part of the whole: rounds of equal work, so that the
  /// time is this many times that of the part.
  double rounds = 1;
};

std::vector<Step> matmulLadder();
std::vector<Step> addLadder();

struct Timed {
  double microseconds;
  Statistics statistics;
};
Timed timeOf(const SocTable &soc, const Step &step);

} // namespace atc::npu::test

#endif
