//===-- TuneCopies.cpp - looks for more copies of buffers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With more copies of buffers loads run further ahead, and smaller tiles than with two are the best
// ones, so that both must change together: a tile that is given stays, a kernel without one gets
// the tile that is the fastest with as many copies. What this gains shows where launches are
// joined, since loads then run ahead of other kernels, too.

#include "tuning/CopyMoves.h"
#include "tuning/Search.h"

namespace atc::tuning {

void Search::tuneCopies() {
  if (!mayGoOn())
    return;
  const TrialResult before = bestResult;
  const Choices base = choices;
  double min = heldResult.done ? heldResult.cycles : before.cycles;
  std::optional<JoinedTrial> fastest;
  // Returns which of the candidates is the fastest, if one is faster than all before.
  auto hold = [&](std::vector<JoinedTrial> &trials) -> std::optional<size_t> {
    std::optional<size_t> best;
    for (size_t i = 0; i < trials.size(); ++i) {
      JoinedTrial &trial = trials[i];
      const bool isJoined = trial.result.done;
      const TrialResult &result = isJoined ? trial.result : trial.apart;
      if (!result.done || result.cycles >= min)
        continue;
      min = result.cycles;
      accept(isJoined ? trial.choices : trial.kernels, result);
      fastest = trial;
      best = i;
    }
    return best;
  };

  const std::vector<std::string> numbers = {"3", "4"};
  std::vector<Choices> candidates;
  for (const std::string &copies : numbers)
    if (Choices candidate = base; setCopies(candidate, before, copies))
      candidates.push_back(std::move(candidate));
  if (candidates.empty())
    return;
  std::vector<JoinedTrial> trials = tryJoined(candidates);
  const std::optional<size_t> best = hold(trials);
  std::vector<TrialResult> apartTrials;
  for (JoinedTrial &trial : trials)
    apartTrials.push_back(std::move(trial.apart));
  // Most kernels have gained or lost by themselves; joined, only the whole model tells.
  if (Choices mixed = fastestCopies(base, before, candidates, apartTrials);
      mixed != base && mayGoOn()) {
    trials = tryJoined({std::move(mixed)});
    hold(trials);
  }
  // Which layers gain: both ends of the range move towards each other.
  constexpr double kMinStep = 0.125;
  double begin = 0, end = 1;
  for (double step = 0.5; best && step >= kMinStep && mayGoOn(); step /= 2) {
    const std::vector<std::pair<double, double>> ranges = {{begin, end - step},
                                                           {begin + step, end}};
    candidates.clear();
    for (auto [from, to] : ranges) {
      Choices &candidate = candidates.emplace_back(base);
      setCopies(candidate, before, numbers[*best], from, to);
    }
    trials = tryJoined(candidates);
    if (std::optional<size_t> shorter = hold(trials))
      std::tie(begin, end) = ranges[*shorter];
  }

  if (!fastest || !fastest->result.done)
    return;
  // Kernels, which need launches of their own, are tuned further; what is joined is held.
  heldResult = std::exchange(bestResult, std::move(fastest->apart));
  heldChoices = std::exchange(choices, std::move(fastest->kernels));
}

} // namespace atc::tuning
