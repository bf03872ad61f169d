//===-- Npu.h - the simulated NPU of om-run -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_NPU_H
#define OPENATC_TOOLS_OMRUN_NPU_H

#include "openatc/npu.h"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace atc::tools {

/// The options of om-run about the NPU.
struct NpuOptions {
  std::string timeline, report, socFile;
  bool functional = true, timed = true, checkHazards = false, prefetch = true, checkRanges = false;
  /// Returns whether there is an option that means nothing without the simulator.
  bool anyOfSimulator() const {
    return !socFile.empty() || !functional || !timed || checkHazards || !prefetch || checkRanges;
  }
};

/// Adds the options of the simulated NPU to a command line; `options` must outlive `app`.
void addNpuOptions(CLI::App &app, NpuOptions &options);

/// The simulated NPU of a run; empty unless created.
class Npu {
public:
  /// Creates the NPU. Returns false and sets `errorText` to a sentence where the options cannot be
  /// met.
  bool create(const NpuOptions &options, std::string &errorText);
  explicit operator bool() const { return handle != nullptr; }
  /// Returns the simulator's device behind a clock; the object must stay where it is.
  const om_device *device() const { return &clocked; }
  /// Returns what this machine has spent on simulating since the last run began.
  double simulationMs() const { return simulation; }

  /// Returns JSON; see om_npu_text.
  std::string statistics() const { return om_npu_text(handle.get(), OM_NPU_STATISTICS); }
  /// Returns the errors of the programs that were loaded.
  std::vector<std::string> errorLines() const;
  /// Returns lines with error codes; none without --check-hazards.
  std::vector<std::string> hazards() const;
  /// Writes the files of --timeline and --report. On failure returns false and adds lines with
  /// error codes.
  bool writeFiles(const NpuOptions &options, std::vector<std::string> &errorLines) const;

private:
  struct Free {
    void operator()(om_npu *npu) const { om_npu_free(npu); }
  };
  void makeClocked();

  std::unique_ptr<om_npu, Free> handle;
  om_device clocked = {};
  void *opened = nullptr; ///< by the simulator's device
  double simulation = 0;  ///< milliseconds
};

} // namespace atc::tools

#endif
