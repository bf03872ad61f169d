//===-- PlainSoc.h - a table with round numbers -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_NPU_PLAINSOC_H
#define OPENATC_TEST_NPU_PLAINSOC_H

#include "npu/soc/Soc.h"

#include <catch2/catch.hpp>

namespace atc::npu {

/// 8 cores, DDR 8 x 32, L2 8 x 64, ports of 64 bytes a cycle; what is expected
/// can be worked out by hand. `launches` says what launches cost.
inline SocTable plainSoc(const std::string &launches = "runCycles = 0\nlaunchCycles = 0\n") {
  SocTable soc = *findSoc("Ascend310P3");
  std::vector<std::string> errorLines = readSoc(
      "ddrPeak = 32\nddrEfficiency = 1\nl2Read = 64\nl2Write = 64\nl2Prefetch = 1\ngmToUb = 64\n"
      "ubToGm = 64\nvectorBytes = 256\nscalarIssue = 0\nscalarLoop = 0\nflagLatency = 0\n"
      "vectorStart = 2\nvectorLatency = 10\ngmStart = 8\nreadLatency = 100\nwriteLatency = 50\n" +
          launches,
      "plain", soc);
  REQUIRE(errorLines.empty());
  return soc;
}

} // namespace atc::npu

#endif
