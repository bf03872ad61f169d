//===-- ProgramRunner.h - runs npu programs in many orders ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_PASSES_NPU_PROGRAMRUNNER_H
#define OPENATC_TEST_PASSES_NPU_PROGRAMRUNNER_H

#include "npu/simulator/Simulator.h"
#include "passes/npu/Pipelines.h"

#include <string>
#include <vector>

namespace atc::npu::test {

/// The contents of a launch's gm arguments.
using Contents = std::vector<std::vector<uint8_t>>;

struct Options {
  bool doubleBuffering = true, reorder = true, minimise = true, allocate = true;
};

/// Counts of the ops that order queues.
struct SyncCounts {
  unsigned flags = 0, barriers = 0;
};

/// The program of a text after the four passes, or with positions only if there are
/// no options. Fails the running test where a pass, the encoder or the verifier
/// has something to say.
Program compile(const std::string &text, const Options *options, SyncCounts *counts = nullptr);

/// Small numbers in f16, the same for the same program.
Contents inputsOf(const Program &program);

/// Runs one instruction after the other, core after core; returns the resulting contents.
Contents runSequentially(const Program &program, const SocTable &soc, Contents contents);

/// The queues in an order drawn by `seed`, as far ahead of each other as flags and
/// barriers allow. `error` says when a flag is raised twice, stays up at the end
/// or is waited for in vain.
Contents runShuffled(const Program &program, const SocTable &soc, Contents contents, uint32_t seed,
                     std::string &error);

/// Returns the texts of the hazards that depend on time, and of flags in disorder: one per line.
std::string hazardsOf(const Program &program, const SocTable &soc);

/// In the simulator.
Contents runSimulated(const Program &program, const SocTable &soc, Contents contents, bool timed,
                      std::string &error, Statistics *statistics = nullptr);

} // namespace atc::npu::test

#endif // OPENATC_TEST_PASSES_NPU_PROGRAMRUNNER_H
