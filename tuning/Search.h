//===-- Search.h - looks for better choices ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TUNING_SEARCH_H
#define OPENATC_TUNING_SEARCH_H

#include "tuning/Trial.h"

#include <chrono>
#include <functional>
#include <random>

namespace atc::tuning {

/// Limits of a search.
struct Budget {
  double seconds = 600;
  uint64_t trials = UINT64_MAX;
  unsigned jobs = 2; ///< trials at a time; the result does not depend on it
  uint64_t seed = 0;
  bool tuneGroups = true; ///< job type 1
  bool tuneTiles = true;  ///< job type 2
};

/// A trial of kernels whose launches are joined.
struct JoinedTrial {
  Choices kernels;   ///< the candidate
  TrialResult apart; ///< ... with launches apart
  Choices choices;   ///< ... with as many launches joined as possible
  TrialResult result;
};

/// The state of a search: the best choices so far and the trials that led to them. With a limit of
/// trials and enough seconds the result depends on the model, the bank and the seed alone.
class Search {
public:
  /// Called in the searching thread with one line of text, and whenever the best choices change.
  struct Listener {
    std::function<void(const std::string &)> progress;
    std::function<void(const Search &)> improved;
  };

  /// Starts a search within `budget`; `runner` must outlive it.
  Search(const TrialRunner &runner, const Budget &budget, Listener listener);

  /// Starts from the model without choices and from `known`, runs the jobs of the budget and checks
  /// the result once more by itself. Returns false after an error in the model, which is in
  /// untuned().messages.
  bool run(const Choices &known);

  /// Returns the trial without choices, compiled as `atc` does.
  const TrialResult &untuned() const { return first; }
  /// Returns the best trial; never slower than untuned().
  const TrialResult &best() const { return bestResult; }
  /// Returns a trial with the time of each kernel: the best one in which every kernel has launches
  /// of its own.
  const TrialResult &kernelTimes() const { return apart.done ? apart : bestResult; }
  /// Returns the same of the model without choices.
  const TrialResult &untunedKernelTimes() const { return firstApart; }
  /// Returns the choices of the best trial that differ from what the passes decide themselves.
  Choices tuned() const;
  /// Returns the entries for a bank, with their figures.
  Bank bank(const std::string &model) const;
  uint64_t trials() const { return used; }
  double seconds() const;

  // For the jobs.

  /// Returns whether the budget has room for another batch of trials.
  bool mayGoOn() const;
  /// Runs a trial for each candidate, several at a time, as far as the budget of trials goes; the
  /// others are not done. A candidate is the choices that differ from those that passes make.
  std::vector<TrialResult> tryAll(const std::vector<Choices> &candidates, int64_t proposals = 0);
  /// Runs two trials for each candidate, which joins no launches: with these apart, and with as
  /// many joined as possible. Results of the second one are not done where nothing can be joined.
  std::vector<JoinedTrial> tryJoined(std::vector<Choices> candidates, int64_t proposals = 1);
  /// Makes a trial the best if it is faster by more than rounding. Returns whether it is.
  bool accept(const Choices &candidate, TrialResult result);
  /// Tries proposals for a decision in place of the present choice, until several bring nothing.
  void tryProposals(const Decision &decision);
  const Choices &bestChoices() const { return choices; }
  /// Returns the cycles that a launch saves when it is joined with the one before it, where trials
  /// that are compared have different numbers of launches: less of each counts.
  double launchGain() const { return gainOfJoining; }
  std::mt19937_64 &random() { return generator; }
  /// Returns a number below `end`, the same on every machine.
  size_t draw(size_t end) { return end ? generator() % end : 0; }
  void say(const std::string &line) const { listener.progress(line); }

private:
  Choices withKnown(const Choices &candidate) const;
  const std::string *ownCopies(const Choices &candidate, const std::string &tileKey) const;
  const std::string *ownChoice(const Choices &candidate, const std::string &key) const;
  void learn(const TrialResult &result, const Choices &candidate);
  void resume(const Choices &known);
  void holdJoined();
  void holdFastest(std::vector<JoinedTrial> trials, JoinedTrial &fastest);
  void interleaveRanges(const Decision &groups, JoinedTrial &fastest);
  void tuneGroupsForJoining();
  void tuneCopies();
  double costOf(const TrialResult &result) const;
  void joinLaunches();
  void tuneWithinLaunches();
  void verify();
  double shareOfGroups() const { return budget.tuneTiles ? 0.2 : 0.75; }
  uint64_t trialLimit() const;
  double timeLimit() const;

  const TrialRunner &runner;
  Budget budget;
  Listener listener;
  std::mt19937_64 generator;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  TrialResult first, bestResult;
  TrialResult firstApart; ///< without choices, each kernel with launches of its own
  Choices choices;
  TrialResult apart;      ///< the best one before launches were joined
  TrialResult heldResult; ///< the best one with joined launches, while kernels are tuned
  Choices heldChoices;
  double gainOfJoining = 0; ///< cycles per launch, while groups are tuned
  bool interleaves = false; ///< kernels are tuned for interleaved groups of layers
  double share = 1;         ///< of the budget that the present jobs may have used when they end
  double reserve = 0;       ///< seconds of the budget that compiling the result takes
  /// The decisions that passes make by themselves, by key: a trial that is given them need not find
  /// them again.
  Choices defaults;
  /// The tiles that passes select by themselves for other numbers of copies of buffers than their
  /// own, by key of the tile and number of copies.
  std::map<std::pair<std::string, std::string>, std::string> tilesOfCopies;
  uint64_t used = 0;
};

/// Job type 1: looks for better groups of layers, and how far ahead weights are brought.
void tuneGroups(Search &search);
/// A part of that: looks only for how far ahead weights are brought.
void tunePrefetch(Search &search);
/// Job type 1 as well, behind all others: looks for launches that become one.
void tuneJoins(Search &search);
/// Job type 2: looks for better tiles and numbers of buffers of each kernel.
void tuneTiles(Search &search);
/// Job type 2, behind all others: the same for kernels as they are within joined launches.
void tuneJoined(Search &search);

/// Candidates of a generation; more than any machine here has processors, so that the search is the
/// same with any number of them.
inline constexpr size_t generation = 8;

/// Returns the decision of a pass that makes one for the whole model; null where it made none.
const Decision *decisionOf(const TrialResult &result, std::string_view pass);

} // namespace atc::tuning

#endif // OPENATC_TUNING_SEARCH_H
