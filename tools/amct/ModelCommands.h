//===-- ModelCommands.h - commands that write one smaller model -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AMCT_MODELCOMMANDS_H
#define OPENATC_TOOLS_AMCT_MODELCOMMANDS_H

#include "tools/amct/SampleOptions.h"

namespace atc::tools {

/// The flags of `amct weights`.
struct WeightOptions : SampleOptions {
  std::string output, type, method = "rtn", tokens;
  int64_t groupSize = 32, sequence = 128;
};
/// Adds the flags to a command.
void addWeightOptions(CLI::App &app, WeightOptions &options);
/// Runs the command. Returns the exit code.
int quantizeModelWeights(const WeightOptions &options);

/// The flags of `amct prune`.
struct PruneOptions : SampleOptions {
  std::string output, config, ratio, compress, sparsity;
};
/// Adds the flags to a command.
void addPruneOptions(CLI::App &app, PruneOptions &options);
/// Runs the command. Returns the exit code.
int pruneModel(const PruneOptions &options);

/// The flags of `amct decompose`.
struct DecomposeFlags {
  std::string model, output, info;
  double energy = 0.9;
  bool json = false;
};
/// Adds the flags to a command.
void addDecomposeOptions(CLI::App &app, DecomposeFlags &options);
/// Runs the command. Returns the exit code.
int decomposeModel(const DecomposeFlags &options);

} // namespace atc::tools

#endif // OPENATC_TOOLS_AMCT_MODELCOMMANDS_H
