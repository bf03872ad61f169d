//===-- CpuTrial.h - compiles for the CPU with choices and measures -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_CPUTRIAL_H
#define OPENATC_TUNING_CPUTRIAL_H

#include "driver/Compiler.h"
#include "openatc/om.hpp"
#include "tuning/Bank.h"

#include <memory>
#include <vector>

namespace atc::tuning {

/// A decision on kernels of the CPU, read from the remarks of a compilation.
struct CpuDecision {
  std::string key, choice;
  std::vector<uint32_t> launches; ///< that run the kernel
};

/// The times of one program, in nanoseconds.
struct CpuTimes {
  std::vector<double> launches; ///< the minimum over all runs, per launch
  std::vector<double> runs;     ///< of all launches together, per run

  /// Returns the median of the runs.
  double median() const;
  /// Returns the sum over the launches of a decision.
  double of(const CpuDecision &decision) const;
};

/// A model that was compiled for this machine's CPU, with a session to run it. Not for several
/// threads at a time.
class CpuProgram {
public:
  /// Compiles with these choices. `threads` of the session; 0: one per processor. Returns null
  /// with the messages in `diagnostics` after an error, which is also a model that has host
  /// kernels (E10055): their launches are no kernels with choices.
  static std::unique_ptr<CpuProgram> build(driver::CompilerOptions options, const Choices &choices,
                                           unsigned threads, Diagnostics &diagnostics);

  /// Returns the decisions of the passes, sorted by key.
  const std::vector<CpuDecision> &decisions() const { return made; }
  /// Returns the decision for a key; null where there was none.
  const CpuDecision *find(const std::string &key) const;
  /// Runs once on zeros and adds the times. Returns false with one coded line in `error`.
  bool run(CpuTimes &times, std::string &error);

private:
  ::om::Buffer file;
  ::om::Model model;
  ::om::Session session;
  std::vector<::om::Buffer> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<CpuDecision> made;
  uint32_t launches = 0;
};

/// Runs programs in turn, so that what else the machine does slows all of them: at least `minRuns`
/// times each and then until `seconds` have passed. Returns false with one coded line in `error`.
bool runInTurn(const std::vector<CpuProgram *> &programs, unsigned minRuns, double seconds,
               std::vector<CpuTimes> &times, std::string &error);

} // namespace atc::tuning

#endif // OPENATC_TUNING_CPUTRIAL_H
