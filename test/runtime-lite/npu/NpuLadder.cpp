//===-- NpuLadder.cpp - prints published and simulated times --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/npu/Ladders.h"

#include <cstdio>
#include <cstring>

using namespace atc::npu;
using namespace atc::npu::test;

int main(int argc, char **argv) {
  bool json = argc > 1 && !std::strcmp(argv[1], "--json");
  const SocTable &soc = *findSoc("Ascend910B1");
  if (json)
    std::printf("[");
  const char *separator = "";
  for (const auto &ladder : {matmulLadder(), addLadder()})
    for (const Step &step : ladder) {
      Timed timed = timeOf(soc, step);
      const Statistics &s = timed.statistics;
      if (json) {
        std::printf("%s\n{\"step\": \"%s\", \"published_us\": %g, \"simulated_us\": %.1f}",
                    separator, step.name, step.published, timed.microseconds);
        separator = ",";
        continue;
      }
      double whole = s.cycles * double(s.coreCount) / 100;
      std::printf(
          "%-32s %10.1f us, simulated %10.1f (%+.1f %%)  busy M %.0f%% V %.0f%% MTE1 %.0f%% "
          "MTE2 %.0f%% MTE3 %.0f%% FIX %.0f%%  L2 hits %.0f%%\n",
          step.name, step.published, timed.microseconds,
          (timed.microseconds / step.published - 1) * 100, s.busy[1] / whole, s.busy[2] / whole,
          s.busy[3] / whole, s.busy[4] / whole, s.busy[5] / whole, s.busy[6] / whole,
          100.0 * double(s.l2Hit) / double(std::max<uint64_t>(1, s.l2Hit + s.l2Missed)));
    }
  if (json)
    std::printf("\n]\n");
  return 0;
}
