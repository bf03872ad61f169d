//===-- TuneJoined.cpp - looks for better kernels of joined launches ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a joined launch a kernel loads while the one before computes, and waits for the cores of
// others: its best tile is another one than where it has launches of its own. One trial tries
// another choice for every kernel, and each layer's share of the time estimates what the choice is
// worth. Those that promise most are then tried one by one, and the time of the model decides.

#include "tuning/Search.h"
#include "tuning/TileMoves.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace atc::tuning {

namespace {

constexpr int64_t maxKernelProposals = 12;
constexpr unsigned joinedPatience = 6; ///< generations without a gain that end the search
/// A choice that is not expected to save this share of the model's time is not tried by itself.
constexpr double minModelGain = 5e-5;

/// A change of one decision, with the cycles that it is expected to save.
struct Change {
  std::string key, choice;
  double gain = 0;
};

class JoinedTuner {
public:
  explicit JoinedTuner(Search &search) : search(search) {}

  void run() {
    if (!collect())
      return;
    std::vector<Change> changes = estimate();
    llvm::stable_sort(changes, [](const Change &a, const Change &b) { return a.gain > b.gain; });
    combine(changes);
    for (size_t i = 0; i < changes.size() && search.mayGoOn(); i += generation)
      tryChanges(llvm::ArrayRef(changes).slice(i, std::min(generation, changes.size() - i)));
    for (unsigned idle = 0; idle < joinedPatience && search.mayGoOn(); ++idle)
      if (tryChanges(mutate()))
        idle = 0;
  }

private:
  /// Finds the kernels of the best trial, longest first. Returns whether there are any.
  bool collect() {
    const TrialResult result = search.tryAll({search.bestChoices()}, maxKernelProposals).front();
    for (const Decision &decision : result.decisions)
      if (const double cycles = result.cyclesOf(decision);
          cycles > 0 && !decision.proposals.empty()) {
        kernels.push_back(decision);
        times[decision.key] = cycles;
      }
    llvm::stable_sort(
        kernels, [&](const Decision &a, const Decision &b) { return times[a.key] > times[b.key]; });
    return !kernels.empty();
  }

  /// Tries the proposals of all kernels, one of each kernel in a trial. Kinds of decisions are
  /// tried apart, since a kernel has one time.
  std::vector<Change> estimate() {
    std::set<std::string_view> passes;
    size_t max = 0;
    for (const Decision &kernel : kernels) {
      passes.insert(partOfKey(kernel.key, 0));
      max = std::max(max, kernel.proposals.size());
    }
    std::vector<Choices> candidates;
    for (size_t number = 0; number < max; ++number)
      for (std::string_view pass : passes) {
        Choices candidate = search.bestChoices();
        bool isNew = false;
        for (const Decision &kernel : kernels)
          if (partOfKey(kernel.key, 0) == pass && number < kernel.proposals.size() &&
              kernel.proposals[number] != kernel.choice) {
            candidate[kernel.key] = kernel.proposals[number];
            isNew = true;
          }
        if (isNew)
          candidates.push_back(std::move(candidate));
      }
    std::vector<Change> changes;
    const Choices before = search.bestChoices();
    const double min = search.best().cycles * minModelGain;
    for (size_t i = 0; i < candidates.size() && search.mayGoOn(); i += generation) {
      const std::vector<Choices> batch(candidates.begin() + long(i),
                                       candidates.begin() +
                                           long(std::min(i + generation, candidates.size())));
      std::vector<TrialResult> results = search.tryAll(batch);
      for (auto [candidate, result] : llvm::zip_equal(batch, results))
        for (const Decision &kernel : kernels) {
          const Decision *made = result.done ? result.find(kernel.key) : nullptr;
          auto now = candidate.find(kernel.key);
          if (!made || now == candidate.end() || made->choice != now->second ||
              made->choice == kernel.choice)
            continue;
          if (const double gain = times[kernel.key] - result.cyclesOf(*made); gain > min)
            changes.push_back({kernel.key, made->choice, gain});
        }
    }
    return changes;
  }

  /// Tries what promises most of each decision together: all of it, the better half, and so on.
  void combine(llvm::ArrayRef<Change> changes) {
    std::vector<Change> best;
    std::set<std::string_view> keys;
    for (const Change &change : changes)
      if (keys.insert(change.key).second)
        best.push_back(change);
    std::vector<Choices> candidates;
    for (size_t count = best.size(); count > 1; count /= 2) {
      Choices &candidate = candidates.emplace_back(search.bestChoices());
      for (size_t i = 0; i < count; ++i)
        candidate[best[i].key] = best[i].choice;
    }
    if (candidates.empty() || !search.mayGoOn())
      return;
    std::vector<TrialResult> results = search.tryAll(candidates);
    for (auto [candidate, result] : llvm::zip_equal(candidates, results))
      search.accept(candidate, std::move(result));
  }

  /// Tries each change by itself, and then together those that have been faster than what there
  /// was. Returns whether anything is better.
  bool tryChanges(llvm::ArrayRef<Change> changes) {
    const Choices base = search.bestChoices();
    const double before = search.best().cycles;
    std::vector<Choices> candidates;
    for (const Change &change : changes) {
      candidates.push_back(base);
      candidates.back()[change.key] = change.choice;
    }
    std::vector<TrialResult> results = search.tryAll(candidates);
    std::map<std::string, std::pair<double, std::string>> faster; // by key
    for (auto [change, result] : llvm::zip_equal(changes, results))
      if (result.done && result.cycles < before) {
        auto &entry = faster.try_emplace(change.key, result.cycles, change.choice).first->second;
        if (result.cycles < entry.first)
          entry = {result.cycles, change.choice};
      }
    for (auto [candidate, result] : llvm::zip_equal(candidates, results))
      search.accept(candidate, std::move(result));
    if (faster.size() > 1 && search.mayGoOn()) {
      Choices all = base;
      for (const auto &[key, entry] : faster)
        all[key] = entry.second;
      search.accept(all, search.tryAll({all}).front());
    }
    return search.best().cycles < before;
  }

  /// Changes kernels at random, those that take long more often.
  std::vector<Change> mutate() {
    const Draw draw = [&](size_t end) { return search.draw(end); };
    std::vector<Change> changes;
    for (size_t i = 0; i < 2 * generation && changes.size() < generation; ++i) {
      // The smaller of two numbers: the longest kernels come first.
      const Decision &kernel = kernels[std::min(draw(kernels.size()), draw(kernels.size()))];
      const Decision *made = search.best().find(kernel.key);
      const std::string now = made ? made->choice : kernel.choice;
      std::string choice;
      if (draw(2))
        choice = kernel.proposals[draw(kernel.proposals.size())];
      else if (partOfKey(kernel.key, 0) == "npu-select-tiles")
        choice = moveTile(now, draw);
      else if (partOfKey(kernel.key, 0) == "npu-select-boxes")
        choice = moveBox(now, draw);
      if (!choice.empty() && choice != now)
        changes.push_back({kernel.key, choice});
    }
    return changes;
  }

  Search &search;
  std::vector<Decision> kernels;
  std::map<std::string, double> times; ///< of each kernel in the trial that they were found in
};

} // namespace

void tuneJoined(Search &search) {
  if (search.mayGoOn())
    JoinedTuner(search).run();
}

} // namespace atc::tuning
