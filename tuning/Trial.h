//===-- Trial.h - compiles with choices and measures ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_TRIAL_H
#define OPENATC_TUNING_TRIAL_H

#include "driver/Compiler.h"
#include "tuning/Bank.h"
#include "tuning/PreparedModels.h"

#include <optional>
#include <vector>

namespace atc::tuning {

/// A decision that a pass noted in a compilation (passes/Choices.h).
struct Decision {
  std::string key, choice;
  std::vector<std::string> proposals; ///< alternatives, where they were wanted
  std::vector<size_t> launches; ///< that run the kernel; empty for decisions on the whole model
};

/// The time of a launch on the NPU.
struct LaunchTime {
  std::string name; ///< the node's
  double cycles = 0;
  bool joined = false; ///< it is one launch with the one before it
  /// The number of its kernel in the choice of groups; nothing where no groups were to be chosen.
  std::optional<size_t> kernel;
};

/// A compilation with its simulated time.
struct TrialResult {
  bool done = false; ///< otherwise `messages` has the error
  double cycles = 0; ///< of a run on the NPU, without the host's work
  double milliseconds = 0;
  std::vector<LaunchTime> launches; ///< or the kernels that were joined, in their order
  std::vector<Decision> decisions;  ///< sorted by key
  std::vector<CodedMessage> messages;

  /// Returns the decision for a key; null where there was none.
  const Decision *find(const std::string &key) const;
  /// Returns the cycles of all launches of a decision; 0 for decisions on the whole model.
  double cyclesOf(const Decision &decision) const;
};

/// The treatment of launches that no choice joins.
enum class Launches {
  Apart,      ///< each kernel has a time of its own
  AsCompiled, ///< `atc` may join them
};

/// Compiles one model again and again with other choices. Threads may share it.
class TrialRunner {
public:
  /// Takes the options of the compilation, whose target is an NPU.
  explicit TrialRunner(driver::CompilerOptions options);

  /// Compiles with these choices and simulates the time of one run, without computing results.
  /// `proposals` is how many alternatives decisions are to have. The result is deterministic.
  TrialResult run(const Choices &choices, int64_t proposals = 0,
                  Launches launches = Launches::Apart) const;

  /// Compiles with these choices into a file. Returns false after an error.
  bool write(const Choices &choices, const std::string &path, Diagnostics &diagnostics) const;

  const driver::CompilerOptions &options() const { return base; }

private:
  driver::CompilerOptions base;
  mutable PreparedModels prepared;
};

/// Simulates the time of a run of the model in `file`, without computing results: of a second one,
/// because what is worth tuning or placing runs again and again. Sets `cycles`, `milliseconds` and
/// `launches` of `result`. Returns false with a line with a code in `error`.
bool measureFile(const ::om::Buffer &file, TrialResult &result, std::string &error);

} // namespace atc::tuning

#endif // OPENATC_TUNING_TRIAL_H
