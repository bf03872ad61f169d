//===-- NpuLadder.cpp - prints published and simulated times --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/backends/npu/Ladders.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

using namespace atc::npu;
using namespace atc::npu::test;

namespace {

void printText(const Step &step, const Timed &timed) {
  const Statistics &s = timed.statistics;
  double whole = s.cycles * double(s.coreCount) / 100;
  std::printf("%-32s %10.1f us, simulated %10.1f (%+.1f %%)  busy", step.name, step.published,
              timed.microseconds, (timed.microseconds / step.published - 1) * 100);
  for (Queue queue : {Queue::M, Queue::V, Queue::MTE1, Queue::MTE2, Queue::MTE3, Queue::FIX})
    std::printf(" %s %.0f%%", nameOf(queue), s.busy[unsigned(queue)] / whole);
  std::printf("  L2 hits %.0f%%\n",
              100.0 * double(s.l2Hit) / double(std::max<uint64_t>(1, s.l2Hit + s.l2Missed)));
}

/// Returns the published and simulated busy times of the queues whose times were published, as the
/// members of a JSON object.
std::string queuesOf(const Step &step, const Timed &timed) {
  const Statistics &s = timed.statistics;
  std::string text;
  for (auto [queue, published] :
       {std::pair(Queue::M, step.cube), std::pair(Queue::MTE1, step.mte1),
        std::pair(Queue::MTE2, step.mte2), std::pair(Queue::FIX, step.fix)}) {
    if (published <= 0)
      continue;
    char buffer[128];
    std::snprintf(buffer, sizeof(buffer),
                  "%s\"%s\": {\"published_us\": %g, \"simulated_us\": %.1f}",
                  text.empty() ? "" : ", ", nameOf(queue), published,
                  timed.microseconds * s.busy[unsigned(queue)] / (s.cycles * double(s.coreCount)));
    text += buffer;
  }
  return text;
}

} // namespace

int main(int argc, char **argv) {
  const bool json = argc == 2 && !std::strcmp(argv[1], "--json");
  if (argc > 1 && !json) {
    const bool isHelp = !std::strcmp(argv[1], "--help");
    std::fprintf(
        isHelp ? stdout : stderr,
        "usage: npu-ladder [--json]\n"
        "Simulates kernels whose times on silicon are published, and prints both times of "
        "each.\nTakes about ten seconds. --json prints one JSON array instead of lines.\n");
    return isHelp ? 0 : 2;
  }
  const char *separator = json ? "[" : "";
  for (auto [ladder, steps] : {std::pair("matmul", &matmulLadder()), std::pair("add", &addLadder()),
                               std::pair("copy", &copies())})
    for (const Step &step : *steps) {
      Timed timed;
      std::string error;
      if (!timeOf(step, timed, error)) {
        std::fprintf(stderr, "%s: %s\n", step.file, error.c_str());
        return 1;
      }
      if (!json) {
        printText(step, timed);
        continue;
      }
      std::printf("%s\n{\"ladder\": \"%s\", \"step\": \"%s\", \"soc\": \"%s\", "
                  "\"published_us\": %g, \"simulated_us\": %.1f, \"off_by\": %.4f, "
                  "\"queues\": {%s}}",
                  separator, ladder, step.name, timed.soc.c_str(), step.published,
                  timed.microseconds, timed.microseconds / step.published - 1,
                  queuesOf(step, timed).c_str());
      separator = ",";
    }
  if (json)
    std::printf("\n]\n");
  return 0;
}
