//===-- TuneGroups.cpp - looks for better groups of layers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the choices of npu-split-batch under other assumptions, then random changes of the best,
// and all along what was fastest in different trials put together.

#include "tuning/GroupMoves.h"
#include "tuning/GroupTimes.h"
#include "tuning/Search.h"

#include "llvm/ADT/StringRef.h"

#include <set>

namespace atc::tuning {

namespace {

constexpr int64_t maxGroupProposals = 24;
constexpr unsigned groupPatience = 3; ///< generations without a gain that end the search

/// Returns the divisors of the batch, which is the outermost dim of the first operand in the key.
llvm::SmallVector<int64_t> partCounts(const std::string &key) {
  llvm::StringRef dim =
      llvm::StringRef(partOfKey(key, 3)).take_until([](char c) { return c == 'x' || c == ','; });
  int64_t batch = 1;
  if (dim.getAsInteger(10, batch))
    batch = 1;
  llvm::SmallVector<int64_t> counts;
  for (int64_t parts = 2; parts <= std::min<int64_t>(batch, 256); ++parts)
    if (batch % parts == 0)
      counts.push_back(parts);
  return counts;
}

/// Returns the number of kernels that a choice of groups is for.
unsigned kernelsOf(llvm::StringRef text) {
  unsigned count = 0;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  for (llvm::StringRef word : words) {
    unsigned kernels = 0;
    if (!word.split('/').first.getAsInteger(10, kernels))
      count += kernels;
  }
  return count;
}

/// Returns whether interleaved groups are among what the pass proposes.
bool mayInterleave(const Decision &groups) {
  return llvm::any_of(groups.proposals, [](const std::string &proposal) {
    return proposal.find('i') != std::string::npos;
  });
}

/// Changes the best groups at random, or how far ahead weights are brought.
Choices change(Search &search, const Decision &groups, const Decision *prefetch) {
  Choices candidate = search.bestChoices();
  const Decision *now = search.best().find(groups.key);
  std::string text = now ? now->choice : groups.choice;
  const Draw draw = [&](size_t end) { return search.draw(end); };
  const bool changesPrefetch = prefetch && !prefetch->proposals.empty() && draw(6) == 0;
  if (changesPrefetch)
    candidate[prefetch->key] = prefetch->proposals[draw(prefetch->proposals.size())];
  const llvm::SmallVector<int64_t> counts = partCounts(groups.key);
  for (size_t moves = changesPrefetch ? draw(2) : 1 + draw(3); moves > 0 && !counts.empty();
       --moves)
    if (auto parsed = npu::parseGroups(text, kernelsOf(text)); parsed && !parsed->empty())
      text = moveGroups(*parsed, counts, mayInterleave(groups), draw);
  candidate[groups.key] = text;
  return candidate;
}

/// Tries groups, and what was fastest in different trials put together.
class GroupTuner {
public:
  GroupTuner(Search &search, const Decision &groups) : search(search), groups(groups) {}

  /// Notes the times of a trial.
  void note(const TrialResult &result) {
    const Decision *made = result.done ? result.find(groups.key) : nullptr;
    if (!made)
      return;
    const unsigned count = kernelsOf(made->choice);
    const auto parsed = npu::parseGroups(made->choice, count);
    std::vector<double> cycles(count, 0);
    bool isComplete = parsed && !result.launches.empty();
    for (const LaunchTime &launch : result.launches) {
      if (launch.kernel && *launch.kernel < count)
        cycles[*launch.kernel] += launch.cycles - search.launchGain();
      else
        isComplete = false;
    }
    tried.insert(made->choice);
    if (isComplete)
      times.note(*parsed, cycles);
  }

  /// Tries candidates behind the best combinations that no trial has had. Returns whether one of
  /// all is better than what was best.
  bool tryAll(std::vector<Choices> candidates) {
    for (double surplus : {0.003, 0.01, 0.02}) {
      std::string text = npu::textOf(times.fastest(surplus));
      if (text.empty() || !tried.insert(text).second)
        continue;
      candidates.insert(candidates.begin(), search.bestChoices());
      candidates.front()[groups.key] = std::move(text);
    }
    if (candidates.empty())
      return false;
    std::vector<TrialResult> results = search.tryAll(candidates);
    bool isBetter = false;
    for (size_t i = 0; i < results.size(); ++i) {
      note(results[i]);
      isBetter |= search.accept(candidates[i], std::move(results[i]));
    }
    return isBetter;
  }

  /// Tries what the pass proposes, those that promise most first, until several bring nothing.
  void tryProposals() {
    llvm::ArrayRef<std::string> left = groups.proposals;
    for (bool isBetter = true; isBetter && !left.empty() && search.mayGoOn();) {
      std::vector<Choices> candidates;
      for (const std::string &proposal : left.take_front(generation)) {
        candidates.push_back(search.bestChoices());
        candidates.back()[groups.key] = proposal;
      }
      left = left.drop_front(candidates.size());
      isBetter = tryAll(std::move(candidates));
      while (search.mayGoOn() && tryAll({}))
        isBetter = true;
    }
  }

private:
  Search &search;
  const Decision &groups;
  GroupTimes times;
  std::set<std::string> tried;
};

/// Returns the decision on how far ahead weights are brought, of which a SoC has one.
const Decision *prefetchOf(const TrialResult &result) {
  const Decision *byDma = decisionOf(result, "npu-prefetch-weights");
  return byDma ? byDma : decisionOf(result, "npu-preload-weights");
}

} // namespace

void tunePrefetch(Search &search) {
  if (!search.mayGoOn())
    return;
  const TrialResult proposed = search.tryAll({search.bestChoices()}, maxGroupProposals).front();
  if (const Decision *prefetch = prefetchOf(proposed); prefetch && search.mayGoOn())
    search.tryProposals(*prefetch);
}

void tuneGroups(Search &search) {
  if (!search.mayGoOn())
    return;
  const TrialResult proposed = search.tryAll({search.bestChoices()}, maxGroupProposals).front();
  const Decision *groups = decisionOf(proposed, "npu-split-batch");
  const Decision *prefetch = prefetchOf(proposed);
  if (!groups) {
    if (prefetch && search.mayGoOn())
      search.tryProposals(*prefetch);
    search.say("the batch has no parts: there are no groups of layers to choose");
    return;
  }
  GroupTuner tuner(search, *groups);
  tuner.note(proposed);
  tuner.tryProposals();
  if (prefetch && search.mayGoOn())
    search.tryProposals(*prefetch);
  for (unsigned idle = 0; idle < groupPatience && search.mayGoOn(); ++idle) {
    std::vector<Choices> candidates;
    for (size_t i = 0; i < generation; ++i)
      candidates.push_back(change(search, *groups, prefetch));
    if (tuner.tryAll(std::move(candidates)))
      idle = 0;
  }
}

} // namespace atc::tuning
