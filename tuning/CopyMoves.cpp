//===-- CopyMoves.cpp - candidates with other copies of buffers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/CopyMoves.h"

namespace atc::tuning {

static bool isBuffers(const Decision &decision) {
  return partOfKey(decision.key, 0) == "npu-select-buffers" && !decision.launches.empty();
}

bool setCopies(Choices &candidate, const TrialResult &apart, const std::string &copies,
               double begin, double end) {
  std::vector<double> begins; // of the launches, in cycles
  double passed = 0;
  for (const LaunchTime &launch : apart.launches) {
    begins.push_back(passed);
    passed += launch.cycles;
  }
  bool isSet = false;
  for (const Decision &decision : apart.decisions) {
    if (!isBuffers(decision) || decision.launches.front() >= begins.size())
      continue;
    const double at = begins[decision.launches.front()];
    if (at < begin * passed || at >= end * passed)
      continue;
    candidate[decision.key] = copies;
    candidate.erase(withPass(decision.key, "npu-select-tiles"));
    isSet = true;
  }
  return isSet;
}

Choices fastestCopies(const Choices &base, const TrialResult &apart,
                      const std::vector<Choices> &candidates,
                      const std::vector<TrialResult> &trials) {
  Choices result = base;
  for (const Decision &decision : apart.decisions) {
    if (!isBuffers(decision))
      continue;
    double min = apart.cyclesOf(decision);
    for (size_t i = 0; i < trials.size(); ++i) {
      const Decision *made = trials[i].done ? trials[i].find(decision.key) : nullptr;
      auto set = candidates[i].find(decision.key);
      if (!made || set == candidates[i].end() || made->choice != set->second)
        continue;
      const double cycles = trials[i].cyclesOf(*made);
      if (cycles <= 0 || cycles >= min)
        continue;
      min = cycles;
      result[decision.key] = made->choice;
      result.erase(withPass(decision.key, "npu-select-tiles"));
    }
  }
  return result;
}

} // namespace atc::tuning
