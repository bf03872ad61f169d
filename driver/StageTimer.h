//===-- StageTimer.h - time and memory of the stages of a compilation -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_STAGETIMER_H
#define OPENATC_DRIVER_STAGETIMER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atc::driver {

/// Returns the peak memory of this process so far, in bytes.
uint64_t peakMemory();

/// Measures the stages of a compilation, which run one after the other.
class StageTimer {
public:
  /// A stage with its wall-clock time.
  struct Stage {
    std::string name;
    double seconds;
    uint64_t peak; ///< peak memory of the process when the stage ended, in bytes
  };

  /// Is called with the name of each stage as it begins.
  std::function<void(llvm::StringRef)> onBegin;

  /// Ends the current stage, if any, and begins another.
  void begin(llvm::StringRef name);
  /// Ends the current stage, if any.
  void end();

  /// Returns the stages that have ended, in the order in which they first began. The times of
  /// stages with equal names are added.
  llvm::ArrayRef<Stage> stages() const { return done; }
  /// Returns the sum of all stages, in seconds.
  double total() const;
  /// Prints one line per stage, and one with the total.
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<Stage> done;
  std::string current;
  std::chrono::steady_clock::time_point start;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_STAGETIMER_H
