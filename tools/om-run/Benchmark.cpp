//===-- Benchmark.cpp - measures many runs --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Benchmark.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace atc::tools {

using Clock = std::chrono::steady_clock;

static double millisecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

Measurement measure(const Load &load, const std::function<bool(uint32_t)> &once) {
  std::vector<std::vector<double>> times(load.workers);
  std::atomic<bool> succeeded = true;
  const Clock::time_point begin = Clock::now();
  auto work = [&](uint32_t worker) {
    std::vector<double> &mine = times[worker];
    while (succeeded) {
      const Clock::time_point start = Clock::now();
      if (load.seconds > 0 ? millisecondsBetween(begin, start) >= load.seconds * 1000
                           : mine.size() >= load.runs)
        return;
      if (!once(worker)) {
        succeeded = false;
        return;
      }
      mine.push_back(millisecondsBetween(start, Clock::now()));
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t worker = 1; worker < load.workers; ++worker)
    threads.emplace_back(work, worker);
  work(0);
  for (std::thread &thread : threads)
    thread.join();
  Measurement measurement;
  measurement.wallMs = millisecondsBetween(begin, Clock::now());
  measurement.succeeded = succeeded;
  for (const std::vector<double> &mine : times)
    measurement.latenciesMs.insert(measurement.latenciesMs.end(), mine.begin(), mine.end());
  return measurement;
}

double percentile(const std::vector<double> &sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[rank ? rank - 1 : 0];
}

} // namespace atc::tools
