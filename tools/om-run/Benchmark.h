//===-- Benchmark.h - measures many runs ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_BENCHMARK_H
#define OPENATC_TOOLS_OMRUN_BENCHMARK_H

#include <cstdint>
#include <functional>
#include <vector>

namespace atc::tools {

/// The amount that is measured: `runs` per worker or, if `seconds` is above 0, as many runs as
/// begin within that time.
struct Load {
  uint32_t workers = 1, runs = 0;
  double seconds = 0;
};

/// The times of all runs of all workers, in milliseconds.
struct Measurement {
  std::vector<double> latenciesMs;
  double wallMs = 0; ///< from the begin of the first run to the end of the last
  bool succeeded = true;
};

/// Calls `once(worker)` in a thread per worker, the first of which is the caller's. All workers
/// stop after a call that returns false.
Measurement measure(const Load &load, const std::function<bool(uint32_t)> &once);

/// Returns the time that `share` (0 to 1) of the times do not exceed; `sorted` has at least one.
double percentile(const std::vector<double> &sorted, double share);

} // namespace atc::tools

#endif // OPENATC_TOOLS_OMRUN_BENCHMARK_H
