//===-- TuneJoins.cpp - looks for launches that become one ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each launch that is joined with the one before saves its start, but weights are then named for
// L2 earlier, and cores that finish early wait within the launch.

#include "tuning/JoinMoves.h"
#include "tuning/Search.h"

namespace atc::tuning {

namespace {

constexpr int64_t maxJoinProposals = 12;
constexpr unsigned joinPatience = 2; ///< generations without a gain that end the search

/// Joined launches cost less, so that other groups of layers may be better with them: tries the
/// proposals for groups with all launches joined that can be.
void tryGroups(Search &search, const Decision &groups) {
  std::vector<Choices> candidates;
  for (const std::string &proposal : groups.proposals) {
    Choices &candidate = candidates.emplace_back(search.bestChoices());
    std::erase_if(candidate, [](const auto &entry) {
      return partOfKey(entry.first, 0) == "npu-join-launches";
    });
    candidate[groups.key] = proposal;
  }
  for (JoinedTrial &trial : search.tryJoined(std::move(candidates)))
    search.accept(trial.choices, std::move(trial.result));
}

} // namespace

void tuneJoins(Search &search) {
  if (!search.mayGoOn())
    return;
  const TrialResult present = search.tryAll({search.bestChoices()}, maxJoinProposals).front();
  const Decision *first = decisionOf(present, "npu-join-launches");
  if (!first || first->proposals.empty())
    return search.say("no launches can be joined");
  search.tryProposals(*first);
  if (const Decision *groups = decisionOf(present, "npu-split-batch"); groups && search.mayGoOn())
    tryGroups(search, *groups);
  // The groups may be others now.
  const TrialResult best = search.tryAll({search.bestChoices()}, 1).front();
  const Decision *decision = decisionOf(best, "npu-join-launches");
  if (!decision || decision->proposals.empty())
    return;
  // The first proposal joins all that can be joined.
  for (unsigned idle = 0; idle < joinPatience && search.mayGoOn(); ++idle) {
    std::vector<Choices> candidates;
    for (size_t i = 0; i < generation; ++i) {
      Choices &candidate = candidates.emplace_back(search.bestChoices());
      std::string &choice = candidate.try_emplace(decision->key, decision->choice).first->second;
      choice = moveRuns(choice, decision->proposals.front(),
                        [&](size_t end) { return search.draw(end); });
    }
    std::vector<TrialResult> results = search.tryAll(candidates);
    for (size_t i = 0; i < results.size(); ++i)
      if (search.accept(candidates[i], std::move(results[i])))
        idle = 0;
  }
}

} // namespace atc::tuning
