//===-- Ranks.h - runs a model that was split over ranks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_OMRUN_RANKS_H
#define OPENATC_TOOLS_OMRUN_RANKS_H

#include "tools/om-run/Options.h"

#include <string>

namespace atc::tools {

/// Returns the manifest that `model` names: itself, or, where there is no such file, the one with
/// ".manifest" behind the name or in the place of ".om"; "" where it is no manifest.
std::string findManifest(const std::string &model);

/// Runs all ranks in this process, or this process's rank where mpirun has started it. Refuses
/// options that ranks do not have. Prints what it finds, or one line per error, and returns the
/// exit code.
int runRanks(const Options &options, const std::string &manifest);

} // namespace atc::tools

#endif
