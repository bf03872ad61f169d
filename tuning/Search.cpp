//===-- Search.cpp - looks for better choices -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/Search.h"

#include "openatc/om.h"

#include "llvm/Support/Format.h"

#include <atomic>
#include <thread>

namespace atc::tuning {

/// Gains below this share are rounding of the simulated times.
static constexpr double minGain = 1e-6;

Search::Search(const TrialRunner &runner, const Budget &budget, Listener listener)
    : runner(runner), budget(budget), listener(std::move(listener)), generator(budget.seed) {}

double Search::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool Search::mayGoOn() const { return used < budget.trials && seconds() < budget.seconds; }

/// Adds what passes decide by themselves in trials so far, which saves them the time. Decisions on
/// the whole model are left to the passes: they are cheap, and others depend on them.
Choices Search::withKnown(const Choices &candidate) const {
  Choices all = candidate;
  for (const auto &[key, choice] : defaults)
    all.emplace(key, choice);
  return all;
}

void Search::learn(const TrialResult &result) {
  for (const Decision &decision : result.decisions)
    if (!decision.launches.empty())
      defaults.emplace(decision.key, decision.choice);
}

std::vector<TrialResult> Search::tryAll(const std::vector<Choices> &candidates, int64_t proposals) {
  const size_t count = std::min<uint64_t>(candidates.size(), budget.trials - used);
  std::vector<TrialResult> results(candidates.size());
  std::vector<Choices> tables;
  for (size_t i = 0; i < count; ++i)
    tables.push_back(withKnown(candidates[i]));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      // A batch ends with the time too, but its first trial is always there.
      if (i == 0 || seconds() < budget.seconds)
        results[i] = runner.run(tables[i], proposals);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(budget.jobs, count); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  used += count;
  for (size_t i = 0; i < count; ++i) {
    // What a candidate itself sets is no default.
    TrialResult own = results[i];
    llvm::erase_if(own.decisions,
                   [&](const Decision &decision) { return candidates[i].count(decision.key); });
    learn(own);
  }
  return results;
}

bool Search::accept(const Choices &candidate, TrialResult result) {
  if (!result.done || result.cycles >= bestResult.cycles * (1 - minGain))
    return false;
  bestResult = std::move(result);
  choices = candidate;
  std::string line;
  llvm::raw_string_ostream(line) << "trial " << used << ": "
                                 << llvm::format("%.4f ms, %.3f x faster than untuned",
                                                 bestResult.milliseconds,
                                                 first.cycles / bestResult.cycles);
  // Whoever reads the line finds the choices in the bank.
  listener.improved(*this);
  say(line);
  return true;
}

Choices Search::tuned() const {
  Choices result;
  for (const auto &[key, choice] : choices) {
    const Decision *made = bestResult.find(key);
    auto own = defaults.find(key);
    // An entry that was not followed, or that says what would happen anyway, is of no use.
    if (made && made->choice == choice && (own == defaults.end() || own->second != choice))
      result.emplace(key, choice);
  }
  return result;
}

Bank Search::bank(const std::string &model) const {
  Bank bank;
  for (const auto &[key, choice] : tuned()) {
    BankEntry entry{choice, om_version(), model, first.cycles, bestResult.cycles};
    const Decision *made = bestResult.find(key), *before = first.find(key);
    if (made && !made->launches.empty()) {
      entry.afterCycles = bestResult.cyclesOf(*made);
      // A kernel of a part of the batch was not there before.
      entry.beforeCycles = before ? first.cyclesOf(*before) : 0;
    }
    bank.add(key, std::move(entry));
  }
  return bank;
}

/// Compiles with the final choices alone, as atc does with the bank; what is not faster that way
/// is given up.
void Search::verify() {
  const Choices final = tuned();
  TrialResult result = runner.run(final);
  ++used;
  if (result.done && result.cycles < first.cycles) {
    bestResult = std::move(result);
    choices = final;
    return;
  }
  bestResult = first;
  choices.clear();
}

bool Search::run(const Choices &known) {
  first = runner.run({}, /*proposals=*/0);
  ++used;
  if (!first.done)
    return false;
  learn(first);
  bestResult = first;
  if (!known.empty() && mayGoOn()) {
    std::vector<TrialResult> resumed = tryAll({known});
    if (accept(known, std::move(resumed.front())))
      say("resumed from the bank");
  }
  if (budget.tuneGroups)
    tuneGroups(*this);
  if (budget.tuneTiles)
    tuneTiles(*this);
  verify();
  listener.improved(*this);
  return true;
}

} // namespace atc::tuning
