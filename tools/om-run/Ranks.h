//===-- Ranks.h - runs a model that was split over ranks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_RANKS_H
#define OPENATC_TOOLS_OMRUN_RANKS_H

#include <cstdint>
#include <string>

namespace atc::tools {

/// What om-run does with a model of several ranks.
struct RankOptions {
  std::string manifest, input, output;
  uint32_t loop = 0, warmup = 0, threads = 0;
  uint64_t maxMemory = 0;
  double timeoutSeconds = 60; ///< that a rank waits for another one
  bool json = false, verify = true, profile = false;
};

/// Returns the manifest that `model` names: itself, or the file with ".manifest" behind it; ""
/// where it is no manifest.
std::string findManifest(const std::string &model);

/// Runs all ranks in this process, or this process's rank where mpirun has started it. Prints what
/// it finds, or one line per error, and returns the exit code.
int runRanks(const RankOptions &options);

} // namespace atc::tools

#endif
