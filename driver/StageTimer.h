//===-- StageTimer.h - time and memory of the stages of a compilation -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DRIVER_STAGETIMER_H
#define OPENATC_DRIVER_STAGETIMER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace atc::driver {

/// The most memory that this process has had at one time, in bytes.
uint64_t peakMemory();

class StageTimer {
public:
  struct Stage {
    std::string name;
    double seconds;
    uint64_t peak; ///< peak memory of the process when the stage ended
  };

  /// Ends the stage that runs and begins another.
  void begin(llvm::StringRef name);
  void end();

  /// Stages of one name count as one.
  llvm::ArrayRef<Stage> stages() const { return done; }
  double total() const;
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<Stage> done;
  std::string current;
  std::chrono::steady_clock::time_point start;
};

} // namespace atc::driver

#endif // OPENATC_DRIVER_STAGETIMER_H
