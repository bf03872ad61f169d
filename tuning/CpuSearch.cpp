//===-- CpuSearch.cpp - looks for better choices for the CPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/CpuSearch.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <random>

namespace atc::tuning {

namespace {

/// A kernel's candidate must save this share of its time: less is noise of the clock.
constexpr double kMinKernelGain = 0.02;
/// In the last comparison a choice must save this share of its kernels' time, and all of them
/// together that of the model's.
constexpr double kMinKeptGain = 0.01, kMinModelGain = 0.003;
/// Runs of each program in a comparison of candidates, and in the last one.
constexpr unsigned kRuns = 7, kLastRuns = 25;
constexpr double kSeconds = 0.2;
/// Rounds without a winner that end the search.
constexpr unsigned kPatience = 10;

class CpuSearch {
public:
  CpuSearch(const driver::CompilerOptions &options, const Budget &budget,
            const std::function<void(const std::string &)> &say, Diagnostics &diagnostics)
      : options(options), budget(budget), say(say), diagnostics(diagnostics),
        generator(budget.seed) {}

  CpuTuning run(const Choices &known) {
    untuned = build({});
    if (!untuned)
      return finish();
    best = untuned.get();
    if (!known.empty())
      tryRound(known);
    if (budget.tuneGroups)
      for (const char *form : {"direct", "2x2", "4x4"})
        tryRound(changeAll("cpu-select-winograd", [&](const std::string &) { return form; }));
    unsigned idle = 0;
    while (budget.tuneTiles && idle < kPatience && mayGoOn()) {
      const bool won = tryRound(changeAll("cpu-select-tiles", [&](const std::string &tile) {
        return moveCpuTile(tile, [&](size_t end) { return end ? generator() % end : 0; });
      }));
      idle = won ? 0 : idle + 1;
    }
    verify();
    result.done = !failed;
    return finish();
  }

private:
  bool mayGoOn() const {
    return !failed && result.trials < budget.trials && seconds() < budget.seconds;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  CpuTuning finish() {
    result.seconds = seconds();
    return std::move(result);
  }

  std::unique_ptr<CpuProgram> build(const Choices &table) {
    Diagnostics own;
    auto program = CpuProgram::build(options, table, /*threads=*/0, own);
    ++result.trials;
    if (!program) {
      failed = true;
      for (const CodedMessage &message : own.all())
        diagnostics.add(message);
    }
    return program;
  }

  bool measure(const std::vector<CpuProgram *> &programs, unsigned runs, double seconds,
               std::vector<CpuTimes> &times) {
    std::string error;
    if (runInTurn(programs, runs, seconds, times, error))
      return true;
    diagnostics.errorLine(error);
    failed = true;
    return false;
  }

  /// Returns other choices for all decisions of a pass.
  Choices changeAll(std::string_view pass,
                    llvm::function_ref<std::string(const std::string &)> change) {
    Choices changed;
    for (const CpuDecision &decision : best->decisions())
      if (partOfKey(decision.key, 0) == pass)
        if (std::string choice = change(decision.choice);
            !choice.empty() && choice != decision.choice)
          changed[decision.key] = choice;
    return changed;
  }

  /// Compiles with changed choices and keeps those that make their kernels faster. Returns whether
  /// there are any.
  bool tryRound(const Choices &changed) {
    if (changed.empty() || !mayGoOn())
      return false;
    Choices table = choices;
    for (const auto &[key, choice] : changed)
      table[key] = choice;
    std::unique_ptr<CpuProgram> candidate = build(table);
    std::vector<CpuTimes> times;
    if (!candidate || !measure({best, candidate.get()}, kRuns, kSeconds, times))
      return false;
    Choices won;
    for (const auto &[key, choice] : changed) {
      const CpuDecision *before = best->find(key), *after = candidate->find(key);
      if (before && after && after->choice == choice && before->choice != choice &&
          times[1].of(*after) < times[0].of(*before) * (1 - kMinKernelGain))
        won[key] = choice;
    }
    if (won.empty())
      return false;
    const size_t count = won.size();
    for (auto &[key, choice] : won)
      choices[key] = choice;
    // The next candidates are compared with what is the best now.
    tuned = count == changed.size() ? std::move(candidate) : build(choices);
    if (!tuned)
      return false;
    best = tuned.get();
    say(llvm::formatv("trial {0}: {1} of {2} changed kernels are faster, {3} choices so far",
                      result.trials, count, changed.size(), choices.size()));
    return true;
  }

  /// Returns how long the last comparison takes.
  double lastSeconds() const { return std::min(2.0, budget.seconds / 20); }

  /// Compares the best with the untuned model once more, and gives up what does not win again.
  void verify() {
    std::vector<CpuTimes> times;
    for (unsigned attempt = 0; attempt < 3 && !failed && !choices.empty(); ++attempt) {
      if (!measure({untuned.get(), best}, kLastRuns, lastSeconds(), times))
        return;
      Choices kept;
      for (const auto &[key, choice] : choices) {
        const CpuDecision *before = untuned->find(key), *after = best->find(key);
        // A kernel that exists only with other choices is judged by the whole model.
        if (after && after->choice == choice &&
            (!before || (before->choice != choice &&
                         times[1].of(*after) < times[0].of(*before) * (1 - kMinKeptGain))))
          kept[key] = choice;
      }
      const bool isStable = kept.size() == choices.size();
      choices = kept;
      if (isStable)
        break;
      tuned = build(choices);
      if (!tuned)
        return;
      best = tuned.get();
    }
    if (failed)
      return;
    if (!measure({untuned.get(), best}, kLastRuns, lastSeconds(), times))
      return;
    result.runs = times[0].runs.size();
    result.beforeMs = times[0].median() * 1e-6;
    result.afterMs = times[1].median() * 1e-6;
    if (choices.empty() || result.afterMs >= result.beforeMs * (1 - kMinModelGain)) {
      result.afterMs = result.beforeMs;
      return;
    }
    for (const auto &[key, choice] : choices) {
      const CpuDecision *before = untuned->find(key), *after = best->find(key);
      result.kept[key] = {choice, before ? times[0].of(*before) : 0,
                          after ? times[1].of(*after) : 0};
    }
  }

  const driver::CompilerOptions &options;
  Budget budget;
  std::function<void(const std::string &)> say;
  Diagnostics &diagnostics;
  std::mt19937_64 generator;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::unique_ptr<CpuProgram> untuned, tuned;
  CpuProgram *best = nullptr; ///< `tuned`, or `untuned` while nothing is better
  Choices choices;
  CpuTuning result;
  bool failed = false;
};

} // namespace

std::string moveCpuTile(llvm::StringRef text, const Draw &draw) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  int64_t sizes[6];
  if (parts.size() != std::size(sizes))
    return "";
  for (auto [part, size] : llvm::zip_equal(parts, sizes))
    if (part.getAsInteger(10, size))
      return "";
  auto &[pixels, blocks, rows, groups, depth, flatten] = sizes;
  auto scaled = [&](int64_t size) { return draw(2) ? size * 2 : std::max<int64_t>(size / 2, 1); };
  auto stepped = [&](int64_t size) { return draw(2) ? size + 1 : std::max<int64_t>(size - 1, 1); };
  switch (draw(7)) {
  case 0:
    pixels = stepped(pixels);
    break;
  case 1: { // another shape of the register tile with as many accumulators
    const int64_t held = pixels * blocks;
    blocks = scaled(blocks);
    pixels = std::max<int64_t>(held / blocks, 1);
    groups = std::max(groups / blocks, int64_t(1)) * blocks;
    break;
  }
  case 2:
    rows = flatten ? rows : scaled(rows);
    break;
  case 3:
    rows = flatten ? rows : stepped(rows);
    break;
  case 4:
    groups = scaled(groups);
    break;
  case 5:
    groups = draw(2) ? groups + blocks : std::max(groups - blocks, blocks);
    break;
  default:
    depth = scaled(depth);
    break;
  }
  std::string result;
  for (int64_t size : sizes)
    result += (result.empty() ? "" : ",") + std::to_string(size);
  return result;
}

CpuTuning tuneCpu(const driver::CompilerOptions &options, const Budget &budget,
                  const Choices &known, const std::function<void(const std::string &)> &say,
                  Diagnostics &diagnostics) {
  return CpuSearch(options, budget, say, diagnostics).run(known);
}

} // namespace atc::tuning
