//===-- Ladders.h - programs with published times ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of f16 with times measured on an Ascend910B1, written in the npu dialect
// (ladder/*.mlir): a matmul of 8192 x 8192 x 8192 and an addition of 8192 x 8192 in the steps in
// which they were made fast, and copies of 12288 x 12288 to local memories. The simulated times are
// to come out as the published ones did.

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
  /// All buffers but the last one, which holds the results, bypass L2.
  bool bypassL2 = false;
  /// Microseconds that a core's queues are busy, where they were published (0: not).
  double cube = 0, mte1 = 0, mte2 = 0, fix = 0;
};

const std::vector<Step> &matmulLadder();
const std::vector<Step> &addLadder();
const std::vector<Step> &copies();

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
