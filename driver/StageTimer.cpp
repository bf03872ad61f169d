//===-- StageTimer.cpp - time and memory of the stages of a compilation ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/StageTimer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <sys/resource.h>

using namespace llvm;

namespace atc::driver {

uint64_t peakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

void StageTimer::begin(StringRef name) {
  end();
  current = name.str();
  start = std::chrono::steady_clock::now();
  if (onBegin)
    onBegin(name);
}

void StageTimer::end() {
  if (current.empty())
    return;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto known = find_if(done, [&](const Stage &stage) { return stage.name == current; });
  if (known == done.end()) {
    done.push_back({current, seconds, peakMemory()});
  } else {
    known->seconds += seconds;
    known->peak = peakMemory();
  }
  current.clear();
}

double StageTimer::total() const {
  double sum = 0;
  for (const Stage &stage : done)
    sum += stage.seconds;
  return sum;
}

void StageTimer::print(raw_ostream &os) const {
  for (const Stage &stage : done)
    os << format("  %-16s %8.3f s   peak %7.1f MB\n", stage.name.c_str(), stage.seconds,
                 static_cast<double>(stage.peak) / 1e6);
  os << format("  %-16s %8.3f s   peak %7.1f MB\n", "total", total(),
               static_cast<double>(peakMemory()) / 1e6);
}

} // namespace atc::driver
