//===-- TuneJoins.cpp - looks for launches that become one ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each launch that is joined with the one before saves its start, but weights are then named for
// L2 earlier, and cores that finish early wait within the launch.

#include "tuning/JoinMoves.h"
#include "tuning/Search.h"

namespace atc::tuning {

namespace {

constexpr int64_t maxProposals = 8;
constexpr size_t generation = 8;
constexpr unsigned patience = 2; ///< generations without a gain that end the search

} // namespace

void tuneJoins(Search &search) {
  if (!search.mayGoOn())
    return;
  const TrialResult present = search.tryAll({search.bestChoices()}, maxProposals).front();
  const Decision *decision = nullptr;
  for (const Decision &made : present.decisions)
    if (partOfKey(made.key, 0) == "npu-join-launches")
      decision = &made;
  if (!decision || decision->proposals.empty())
    return search.say("no launches can be joined");
  search.tryProposals(*decision);
  // The first proposal joins all that can be joined.
  for (unsigned idle = 0; idle < patience && search.mayGoOn(); ++idle) {
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
