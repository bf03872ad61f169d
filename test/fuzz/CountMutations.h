//===-- CountMutations.h - so many mutations, and what became of them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a fuzz target on mutations of its corpus without libFuzzer, in a child
// process: one that crashes or hangs is counted, its input is written to a file,
// and the next child goes on behind it. The same seed gives the same mutations
// wherever it runs, which the printed digest of all inputs and outcomes proves.

#ifndef OPENATC_TEST_FUZZ_COUNTMUTATIONS_H
#define OPENATC_TEST_FUZZ_COUNTMUTATIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::fuzz {

struct CountOptions {
  uint64_t mutations = 0, seed = 1;
  size_t maxBytes = 65536;       ///< of one input
  unsigned secondsEach = 10;     ///< a mutation that takes longer hangs
  uint64_t slowMilliseconds = 0; ///< inputs that take so long are saved; 0: none
  std::string folder = ".";      ///< for inputs that crash or hang
};

/// Mutates the inputs of `corpus`, prints one line with the counts and returns the
/// exit code: 1 if anything crashed or hung. A target accepts what it returns 0 for.
int countMutations(const std::vector<std::vector<uint8_t>> &corpus, const CountOptions &options);

} // namespace atc::fuzz

#endif
