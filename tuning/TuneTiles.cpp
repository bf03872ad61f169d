//===-- TuneTiles.cpp - looks for better tiles of each kernel -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels hardly influence each other: one trial tries another choice for every kernel at once, and
// the launches' times say which of them were better. These are then put together, and the whole
// model decides.

#include "tuning/Search.h"
#include "tuning/TileMoves.h"

#include "llvm/ADT/STLExtras.h"

namespace atc::tuning {

namespace {

constexpr int64_t maxTileProposals = 20;
constexpr unsigned tilePatience = 3; ///< generations without a gain that end the search
/// A kernel's choice must save this share of its time to be put together with others.
constexpr double minKernelGain = 0.002;

/// The best choice so far for one key by the times of its launches alone.
struct Kernel {
  Decision decision;
  std::string best;
  double before = 0, cycles = 0;

  std::string_view pass() const { return partOfKey(decision.key, 0); }
  double gain() const { return before - cycles; }
};

class TileTuner {
public:
  explicit TileTuner(Search &search) : search(search) {}

  /// Collects the kernels of the best trial. Returns whether there are any.
  bool collect() {
    const TrialResult result = search.tryAll({search.bestChoices()}, maxTileProposals).front();
    kernels.clear();
    for (const Decision &decision : result.decisions)
      if (!decision.launches.empty())
        kernels.push_back(
            {decision, decision.choice, result.cyclesOf(decision), result.cyclesOf(decision)});
    return !kernels.empty();
  }

  void run() {
    if (!collect())
      return;
    tryProposals();
    combine();
    transfer();
    combine();
    for (unsigned idle = 0; idle < tilePatience && search.mayGoOn(); ++idle) {
      const double before = search.best().cycles;
      mutate();
      combine();
      if (search.best().cycles < before)
        idle = 0;
    }
  }

private:
  /// The choices of one trial by kernel; empty: the present one stays.
  using Round = std::vector<std::string>;

  void tryRounds(const std::vector<Round> &rounds) {
    std::vector<Choices> candidates;
    for (const Round &round : rounds) {
      Choices &candidate = candidates.emplace_back(search.bestChoices());
      for (auto [kernel, choice] : llvm::zip_equal(kernels, round))
        if (!choice.empty())
          candidate[kernel.decision.key] = choice;
    }
    std::vector<TrialResult> results = search.tryAll(candidates);
    for (auto [round, candidate, result] : llvm::zip_equal(rounds, candidates, results)) {
      if (!result.done)
        continue;
      for (auto [kernel, choice] : llvm::zip_equal(kernels, round)) {
        const Decision *made = result.find(kernel.decision.key);
        if (choice.empty() || !made || made->choice != choice)
          continue;
        const double cycles = result.cyclesOf(*made);
        if (cycles > 0 && cycles < kernel.cycles * (1 - minKernelGain)) {
          kernel.cycles = cycles;
          kernel.best = choice;
        }
      }
      search.accept(candidate, std::move(result));
    }
  }

  /// Tries other boxes and numbers of buffers, and the next tiles of the cost model. The kinds of
  /// decision of one kernel are tried apart, because the times are those of the kernel.
  void tryProposals() {
    std::vector<Round> rounds;
    for (std::string_view pass : {"npu-select-boxes", "npu-select-buffers", "npu-select-tiles"})
      for (size_t number = 0;; ++number) {
        Round round(kernels.size());
        bool any = false;
        for (auto [kernel, choice] : llvm::zip_equal(kernels, round))
          if (kernel.pass() == pass && number < kernel.decision.proposals.size()) {
            any = true;
            if (kernel.decision.proposals[number] != kernel.decision.choice)
              choice = kernel.decision.proposals[number];
          }
        if (!any)
          break;
        rounds.push_back(std::move(round));
      }
    for (size_t i = 0; i < rounds.size() && search.mayGoOn(); i += generation)
      tryRounds({rounds.begin() + long(i),
                 rounds.begin() + long(std::min(i + generation, rounds.size()))});
  }

  /// Tries for each kernel what has won for others of its op.
  void transfer() {
    std::vector<std::pair<std::string, std::string>> winners; // what pass and op chose
    for (const Kernel &kernel : kernels)
      if (kernel.best != kernel.decision.choice)
        winners.emplace_back(kindOf(kernel), kernel.best);
    llvm::sort(winners);
    winners.erase(std::unique(winners.begin(), winners.end()), winners.end());
    std::vector<Round> rounds;
    for (const auto &[kind, choice] : winners) {
      Round &round = rounds.emplace_back(kernels.size());
      for (auto [kernel, other] : llvm::zip_equal(kernels, round))
        if (kindOf(kernel) == kind && kernel.best != choice)
          other = choice;
    }
    for (size_t i = 0; i < std::min(rounds.size(), 2 * generation) && search.mayGoOn();
         i += generation)
      tryRounds({rounds.begin() + long(i),
                 rounds.begin() + long(std::min(i + generation, rounds.size()))});
  }

  static std::string kindOf(const Kernel &kernel) {
    return std::string(partOfKey(kernel.decision.key, 0)) + "|" +
           std::string(partOfKey(kernel.decision.key, 2));
  }

  /// Changes every kernel's tile or box at random.
  void mutate() {
    std::vector<Round> rounds;
    for (size_t i = 0; i < generation; ++i) {
      Round &round = rounds.emplace_back(kernels.size());
      for (auto [kernel, choice] : llvm::zip_equal(kernels, round))
        if (kernel.pass() == "npu-select-tiles")
          choice = moveTile(kernel.best, [&](size_t end) { return search.draw(end); });
        else if (kernel.pass() == "npu-select-boxes")
          choice = moveBox(kernel.best, [&](size_t end) { return search.draw(end); });
    }
    tryRounds(rounds);
  }

  /// Returns whether the best trial lacks what won for a kernel.
  bool isMissing(const Kernel &kernel) const {
    const Decision *now = search.best().find(kernel.decision.key);
    return kernel.gain() > 0 && !(now && now->choice == kernel.best);
  }

  /// Puts the best choices of all kernels together: all, those that gain most, and each that is
  /// then missing alone on top of the best.
  void combine() {
    std::vector<const Kernel *> better;
    for (const Kernel &kernel : kernels)
      if (isMissing(kernel))
        better.push_back(&kernel);
    llvm::sort(better, [](const Kernel *a, const Kernel *b) {
      return std::tuple(-a->gain(), a->decision.key) < std::tuple(-b->gain(), b->decision.key);
    });
    if (better.empty() || !search.mayGoOn())
      return;
    std::vector<Choices> candidates;
    for (size_t count = better.size(); count > 0; count /= 2) {
      Choices &candidate = candidates.emplace_back(search.bestChoices());
      for (size_t i = 0; i < count; ++i)
        candidate[better[i]->decision.key] = better[i]->best;
    }
    tryCandidates(candidates);
    for (auto next = better.begin(); next != better.end() && search.mayGoOn();) {
      candidates.clear();
      for (; next != better.end() && candidates.size() < generation; ++next)
        if (isMissing(**next)) {
          Choices &candidate = candidates.emplace_back(search.bestChoices());
          candidate[(*next)->decision.key] = (*next)->best;
        }
      tryCandidates(candidates);
    }
  }

  void tryCandidates(const std::vector<Choices> &candidates) {
    std::vector<TrialResult> results = search.tryAll(candidates);
    for (auto [candidate, result] : llvm::zip_equal(candidates, results))
      search.accept(candidate, std::move(result));
  }

  Search &search;
  std::vector<Kernel> kernels;
};

} // namespace

void tuneTiles(Search &search) {
  if (search.mayGoOn())
    TileTuner(search).run();
}

} // namespace atc::tuning
