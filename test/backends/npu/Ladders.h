//===-- Ladders.h - programs with published times ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two programs in the steps in which they were made fast on real silicon
// (Ascend910B1): a matmul of 8192 x 8192 x 8192 and an addition of 8192 x 8192,
// both f16, written in the npu dialect (ladder/*.mlir). The simulated times are to
// come out as the published ones did.

#ifndef OPENATC_TEST_NPU_LADDERS_H
#define OPENATC_TEST_NPU_LADDERS_H

#include "npu/simulator/Simulator.h"

#include <string>
#include <vector>

namespace atc::npu::test {

struct Step {
  const char *name, *file;
  double published; ///< microseconds
  /// The program runs this part of the whole: rounds of equal work, so that the
  /// time is this many times that of the part.
  double rounds = 1;
  bool bypassL2 = false;
};

const std::vector<Step> &matmulLadder();
const std::vector<Step> &addLadder();

struct Timed {
  std::string soc;
  double microseconds = 0;
  Statistics statistics;
};
/// Parses, encodes, verifies and times a step's program on the SoC that it names.
/// False with a message where it cannot be done.
bool timeOf(const Step &step, Timed &timed, std::string &error);

} // namespace atc::npu::test

#endif
