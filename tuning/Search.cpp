//===-- Search.cpp - looks for better choices -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/Search.h"

#include "tuning/GroupMoves.h"

#include "openatc/om.h"

#include "llvm/Support/Format.h"

#include <atomic>
#include <set>
#include <thread>

namespace atc::tuning {

/// Gains below this share are rounding of the simulated times.
static constexpr double minGain = 1e-6;

Search::Search(const TrialRunner &runner, const Budget &budget, Listener listener)
    : runner(runner), budget(budget), listener(std::move(listener)), generator(budget.seed) {}

double Search::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

uint64_t Search::trialLimit() const {
  return share < 1 ? uint64_t(double(budget.trials) * share) : budget.trials;
}

/// Returns the seconds after which the present jobs start no trial.
double Search::timeLimit() const {
  return std::max(budget.seconds - reserve, budget.seconds / 2) * share;
}

bool Search::mayGoOn() const { return used < trialLimit() && seconds() < timeLimit(); }

/// Joined launches have no times of their kernels, which the other jobs need.
static bool isJoin(const std::string &key) { return partOfKey(key, 0) == "npu-join-launches"; }

/// Returns whether a decision depends on no other one, so that what a pass has decided by itself
/// once it would always decide: those on kernels, and the groups of layers, which are the first.
/// Other decisions on the whole model are cheap, and follow from the rest.
static bool isFixed(const Decision &decision) {
  return !decision.launches.empty() || partOfKey(decision.key, 0) == "npu-split-batch";
}

/// Adds what passes decide by themselves in trials so far, which saves them the time.
Choices Search::withKnown(const Choices &candidate) const {
  Choices all = candidate;
  for (const auto &[key, choice] : defaults)
    if (const std::string *own = ownChoice(candidate, key))
      all.emplace(key, *own);
  return all;
}

/// Returns the number of copies of buffers that a candidate has for the kernel of a tile; null
/// where it is that of the pass, or where the key is not that of a tile.
const std::string *Search::ownCopies(const Choices &candidate, const std::string &tileKey) const {
  if (partOfKey(tileKey, 0) != "npu-select-tiles")
    return nullptr;
  const std::string key = withPass(tileKey, "npu-select-buffers");
  const auto set = candidate.find(key), own = defaults.find(key);
  const bool isOther =
      set != candidate.end() && (own == defaults.end() || own->second != set->second);
  return isOther ? &set->second : nullptr;
}

/// Returns what a pass decides by itself where the other choices are those of a candidate; null
/// where no trial has shown it.
const std::string *Search::ownChoice(const Choices &candidate, const std::string &key) const {
  if (const std::string *copies = ownCopies(candidate, key)) {
    auto found = tilesOfCopies.find({key, *copies});
    return found == tilesOfCopies.end() ? nullptr : &found->second;
  }
  auto found = defaults.find(key);
  return found == defaults.end() ? nullptr : &found->second;
}

/// Notes the decisions of a trial that its candidate has not set.
void Search::learn(const TrialResult &result, const Choices &candidate) {
  for (const Decision &decision : result.decisions) {
    if (!isFixed(decision) || candidate.count(decision.key))
      continue;
    if (const std::string *copies = ownCopies(candidate, decision.key))
      tilesOfCopies.try_emplace({decision.key, *copies}, decision.choice);
    else
      defaults.emplace(decision.key, decision.choice);
  }
}

std::vector<TrialResult> Search::tryAll(const std::vector<Choices> &candidates, int64_t proposals) {
  const uint64_t limit = trialLimit();
  const size_t count = std::min<uint64_t>(candidates.size(), limit > used ? limit - used : 0);
  std::vector<TrialResult> results(candidates.size());
  std::vector<Choices> tables;
  for (size_t i = 0; i < count; ++i)
    tables.push_back(withKnown(candidates[i]));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      // A batch ends with the time of its job too, but its first trial is always there.
      if (i == 0 || seconds() < timeLimit())
        results[i] = runner.run(tables[i], proposals);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(budget.jobs, count); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  used += count;
  for (size_t i = 0; i < count; ++i)
    learn(results[i], candidates[i]);
  return results;
}

std::vector<JoinedTrial> Search::tryJoined(std::vector<Choices> candidates, int64_t proposals) {
  std::vector<JoinedTrial> trials(candidates.size());
  std::vector<TrialResult> apart = tryAll(candidates, proposals);
  std::vector<Choices> joined;
  std::vector<JoinedTrial *> sources;
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].kernels = trials[i].choices = std::move(candidates[i]);
    trials[i].apart = std::move(apart[i]);
    // The key of the joined launches follows from the kernels; the first proposal is the most.
    if (const Decision *join = decisionOf(trials[i].apart, "npu-join-launches");
        join && !join->proposals.empty()) {
      trials[i].choices[join->key] = join->proposals.front();
      joined.push_back(trials[i].choices);
      sources.push_back(&trials[i]);
    }
  }
  std::vector<TrialResult> results = tryAll(joined);
  for (size_t i = 0; i < results.size(); ++i)
    sources[i]->result = std::move(results[i]);
  return trials;
}

/// Returns the cycles of a trial whose launches will be joined.
double Search::costOf(const TrialResult &result) const {
  return result.cycles - gainOfJoining * double(result.launches.size());
}

bool Search::accept(const Choices &candidate, TrialResult result) {
  if (!result.done || costOf(result) >= costOf(bestResult) * (1 - minGain))
    return false;
  bestResult = std::move(result);
  choices = candidate;
  std::string line;
  llvm::raw_string_ostream text(line);
  const bool isFastest = !heldResult.done || bestResult.cycles < heldResult.cycles;
  text << "trial " << used << ": " << llvm::format("%.4f ms", bestResult.milliseconds);
  if (isFastest)
    text << llvm::format(", %.3f x faster than untuned", first.cycles / bestResult.cycles);
  else
    // Launches of these kernels are yet to be joined.
    text << llvm::format(" before launches are joined; the best so far is %.4f ms",
                         heldResult.milliseconds);
  // Whoever reads the line finds the choices in the bank.
  if (isFastest)
    listener.improved(*this);
  say(line);
  return true;
}

void Search::tryProposals(const Decision &decision) {
  // Proposals are sorted by their promise, the best one first.
  constexpr size_t kTogether = 8;
  llvm::ArrayRef<std::string> left = decision.proposals;
  for (bool isBetter = true; isBetter && !left.empty() && mayGoOn();) {
    std::vector<Choices> candidates;
    for (const std::string &proposal : left.take_front(kTogether)) {
      candidates.push_back(choices);
      candidates.back()[decision.key] = proposal;
    }
    left = left.drop_front(candidates.size());
    isBetter = false;
    std::vector<TrialResult> results = tryAll(candidates);
    for (size_t i = 0; i < results.size(); ++i)
      isBetter |= accept(candidates[i], std::move(results[i]));
  }
}

Choices Search::tuned() const {
  Choices result;
  for (const auto &[key, choice] : choices) {
    const Decision *made = bestResult.find(key);
    const std::string *own = ownChoice(choices, key);
    // An entry that was not followed, or that says what would happen anyway, is of no use.
    if (made && made->choice == choice && (!own || *own != choice))
      result.emplace(key, choice);
  }
  return result;
}

Bank Search::bank(const std::string &model) const {
  Bank bank;
  for (const auto &[key, choice] : tuned()) {
    BankEntry entry{choice, om_version(), model, first.cycles, bestResult.cycles};
    const Decision *before = firstApart.find(key);
    if (const Decision *alone = kernelTimes().find(key); alone && !alone->launches.empty()) {
      entry.afterCycles = kernelTimes().cyclesOf(*alone);
      // A kernel of a part of the batch was not there before.
      entry.beforeCycles = before ? firstApart.cyclesOf(*before) : 0;
    }
    bank.add(key, std::move(entry));
  }
  return bank;
}

/// Compiles with the final choices alone, as atc does with the bank; what is not faster that way
/// is given up.
void Search::verify() {
  const Choices final = tuned();
  TrialResult result = runner.run(final, /*proposals=*/0, Launches::AsCompiled);
  ++used;
  if (result.done && result.cycles < first.cycles) {
    bestResult = std::move(result);
    choices = final;
    return;
  }
  bestResult = first;
  choices.clear();
}

/// Starts from what a bank knows: the other jobs from that without joined launches.
void Search::resume(const Choices &known) {
  Choices kernels = known;
  std::erase_if(kernels, [](const auto &entry) { return isJoin(entry.first); });
  std::vector<Choices> candidates = {known};
  if (kernels.size() != known.size() && !kernels.empty())
    candidates.push_back(kernels);
  std::vector<TrialResult> results = tryAll(candidates);
  const TrialResult all = results.front();
  if (kernels.size() == known.size()) {
    if (accept(known, all))
      say("resumed from the bank");
    return;
  }
  if (all.done && all.cycles < first.cycles * (1 - minGain)) {
    heldResult = all;
    heldChoices = known;
    say("resumed from the bank");
  }
  if (candidates.size() > 1)
    accept(kernels, std::move(results.back()));
}

const Decision *decisionOf(const TrialResult &result, std::string_view pass) {
  for (const Decision &made : result.decisions)
    if (partOfKey(made.key, 0) == pass)
      return &made;
  return nullptr;
}

/// Returns whether launches of a trial are joined.
static bool joinsLaunches(const TrialResult &result) {
  const Decision *join = decisionOf(result, "npu-join-launches");
  llvm::SmallVector<llvm::StringRef> lengths;
  if (join)
    llvm::StringRef(join->choice).split(lengths, ' ');
  return llvm::any_of(lengths, [](llvm::StringRef length) { return length != "1"; });
}

/// Makes the fastest trial the best, if one of these is faster than what was.
void Search::holdFastest(std::vector<JoinedTrial> trials, JoinedTrial &fastest) {
  for (JoinedTrial &trial : trials)
    if (accept(trial.choices, trial.result))
      fastest = std::move(trial);
}

/// Looks for the layers to be interleaved: parts of the batch cost more than the whole, but those
/// of early layers still fill the cores. The whole network and its beginning come first, then both
/// ends of the fastest range move, by less and less of the network's time.
void Search::interleaveRanges(const Decision &groups, JoinedTrial &fastest) {
  constexpr double kFirstStep = 0.125, kMinStep = 0.015;
  std::vector<double> passed = {0}; // cycles before each kernel, and of all
  for (const LaunchTime &launch : firstApart.launches) {
    if (!launch.kernel)
      return;
    passed.resize(std::max(passed.size(), *launch.kernel + 2), 0);
    passed[*launch.kernel + 1] += launch.cycles;
  }
  for (size_t i = 1; i < passed.size(); ++i)
    passed[i] += passed[i - 1];
  const auto now = npu::parseGroups(groups.choice, passed.size() - 1);
  if (!now)
    return;
  struct Range {
    std::string text; ///< of all groups
    llvm::SmallVector<npu::Group> pattern;
    double begin, end; ///< in shares of the time
  };
  std::vector<Range> ranges;
  std::set<std::string> tried;
  auto add = [&](const llvm::SmallVector<npu::Group> &pattern, double begin, double end) {
    auto kernelAt = [&](double share) {
      return unsigned(llvm::lower_bound(passed, share * passed.back()) - passed.begin());
    };
    if (begin < 0 || end > 1 || begin >= end)
      return;
    std::string text = npu::textOf(interleaveRange(*now, pattern, kernelAt(begin), kernelAt(end)));
    if (tried.insert(text).second)
      ranges.push_back({std::move(text), pattern, begin, end});
  };
  std::optional<Range> best;
  auto tryRanges = [&] {
    std::vector<Choices> candidates;
    for (const Range &range : ranges) {
      candidates.push_back(fastest.kernels);
      candidates.back()[groups.key] = range.text;
    }
    holdFastest(tryJoined(std::move(candidates)), fastest);
    for (Range &range : ranges)
      if (auto made = fastest.kernels.find(groups.key);
          made != fastest.kernels.end() && made->second == range.text)
        best = range;
    ranges.clear();
  };
  tried.insert(groups.choice);
  llvm::SmallVector<llvm::SmallVector<npu::Group>> patterns; // the one with the fewest parts first
  for (const std::string &proposal : groups.proposals)
    if (auto pattern = npu::parseGroups(proposal, passed.size() - 1);
        pattern && llvm::any_of(*pattern, [](const npu::Group &g) { return g.isInterleaved; }))
      patterns.push_back(std::move(*pattern));
  if (patterns.empty())
    return;
  for (double end : {0.5, 1.0, 0.25})
    add(patterns.front(), 0, end);
  tryRanges();
  share = shareOfGroups() / 2; // how far ahead weights are brought may gain more
  for (double step = kFirstStep; best && step > kMinStep && mayGoOn(); step /= 2) {
    const Range middle = *best;
    for (double way : {-step, step}) {
      add(middle.pattern, middle.begin, middle.end + way);
      add(middle.pattern, middle.begin + way, middle.end);
    }
    for (const llvm::SmallVector<npu::Group> &pattern : patterns)
      add(pattern, middle.begin, middle.end);
    tryRanges();
  }
  interleaves = best.has_value();
}

/// Joins all launches of the best trial that can be, which mostly gains more than anything else,
/// and holds that while kernels, which need launches of their own, are tuned. Where cube and vector
/// cores can work at once, does the same with interleaved groups: if these are the best, kernels
/// are tuned for them.
void Search::holdJoined() {
  constexpr int64_t kProposals = 6;
  std::vector<JoinedTrial> trials = tryJoined({choices}, kProposals);
  JoinedTrial fastest = trials.front();
  std::optional<Decision> groups;
  if (const Decision *made = decisionOf(fastest.apart, "npu-split-batch"))
    groups = *made;
  const TrialResult before = bestResult;
  const Choices beforeChoices = choices;
  holdFastest(std::move(trials), fastest);
  if (groups && mayGoOn())
    interleaveRanges(*groups, fastest);
  if (choices == beforeChoices)
    return;
  TrialResult joined = std::exchange(bestResult, interleaves ? fastest.apart : before);
  Choices joinedChoices = std::exchange(choices, interleaves ? fastest.kernels : beforeChoices);
  if (!heldResult.done || joined.cycles < heldResult.cycles) {
    heldResult = std::move(joined);
    heldChoices = std::move(joinedChoices);
  }
}

/// Tunes groups by times of launches apart, less what these will save when they are joined, as
/// launches of the untuned model did. Groups that are then not faster joined are given up, so that
/// kernels are not tuned for them.
void Search::tuneGroupsForJoining() {
  const TrialResult before = bestResult;
  const Choices beforeChoices = choices;
  const auto joined = llvm::count_if(first.launches, [](const LaunchTime &t) { return t.joined; });
  if (heldResult.done && joined)
    gainOfJoining = std::max(0.0, (firstApart.cycles - first.cycles) / double(joined));
  tuneGroups(*this);
  gainOfJoining = 0;
  if (!heldResult.done || choices == beforeChoices || bestResult.cycles < heldResult.cycles)
    return;
  const TrialResult kernels = bestResult;
  const Choices kernelChoices = choices;
  const TrialResult named = runner.run(withKnown(choices), /*proposals=*/1);
  const Decision *join = decisionOf(named, "npu-join-launches");
  ++used;
  if (!join || join->proposals.empty())
    return;
  Choices candidate = choices;
  candidate[join->key] = join->proposals.front();
  TrialResult result = runner.run(withKnown(candidate));
  ++used;
  if (!result.done || result.cycles >= heldResult.cycles) {
    say("the groups are not faster once launches are joined");
    bestResult = before;
    choices = beforeChoices;
  } else if (accept(candidate, std::move(result))) {
    heldResult = std::exchange(bestResult, kernels);
    heldChoices = std::exchange(choices, kernelChoices);
  }
}

/// Joins launches of the best trial; what the bank knew stays where that is not faster.
void Search::joinLaunches() {
  apart = bestResult;
  tuneJoins(*this);
  if (heldResult.done && heldResult.cycles < bestResult.cycles) {
    bestResult = heldResult;
    choices = heldChoices;
  }
}

/// Tunes kernels once more where the best launches are joined ones.
void Search::tuneWithinLaunches() {
  if (!joinsLaunches(bestResult))
    return;
  // Trials leave launches apart where nothing says otherwise. What else was decided for the model
  // as a whole stays, which saves trials its simulation.
  const Choices before = choices;
  for (const Decision &decision : bestResult.decisions)
    if (decision.launches.empty())
      choices.insert_or_assign(decision.key, decision.choice);
  const double cycles = bestResult.cycles;
  tuneJoined(*this);
  if (bestResult.cycles == cycles) {
    choices = before;
    return;
  }
  // The kernels are others now.
  Choices kernels = choices;
  std::erase_if(kernels, [](const auto &entry) { return isJoin(entry.first); });
  if (TrialResult result = runner.run(kernels); result.done)
    apart = std::move(result);
  ++used;
}

bool Search::run(const Choices &known) {
  first = runner.run({}, /*proposals=*/0, Launches::AsCompiled);
  ++used;
  // In the end the result is compiled twice, to check it and to write it, and a trial that has
  // begun is waited for.
  constexpr double kCompilationsAtEnd = 4;
  reserve = kCompilationsAtEnd * seconds();
  if (!first.done)
    return false;
  bestResult = first;
  // Launches that atc joins by itself stay apart while kernels are tuned, so that each has a time
  // of its own.
  if (joinsLaunches(first)) {
    bestResult = runner.run({});
    ++used;
    if (!bestResult.done)
      return false;
    heldResult = first;
  }
  firstApart = bestResult;
  learn(firstApart, {});
  if (!known.empty() && mayGoOn())
    resume(known);
  if (budget.tuneGroups && heldChoices.empty() && mayGoOn())
    holdJoined();
  // Joining must have a part of the budget, as kernels must where both are tuned, and as they must
  // again within joined launches.
  share = shareOfGroups();
  if (budget.tuneTiles) {
    share = budget.tuneGroups ? share : 0.35;
    tuneCopies();
    share = 1.5 * shareOfGroups();
  }
  // Apart from each other, launches of interleaved groups only cost more.
  if (budget.tuneGroups && interleaves)
    tunePrefetch(*this);
  else if (budget.tuneGroups)
    tuneGroupsForJoining();
  share = budget.tuneGroups ? 0.4 : heldResult.done ? 0.5 : 1;
  if (budget.tuneTiles)
    tuneTiles(*this);
  share = budget.tuneTiles ? 0.6 : 1;
  if (budget.tuneGroups || heldResult.done)
    joinLaunches();
  share = 1;
  if (budget.tuneTiles)
    tuneWithinLaunches();
  verify();
  listener.improved(*this);
  return true;
}

} // namespace atc::tuning
