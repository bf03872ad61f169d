//===-- StageProgram.cpp - stages and layers by an integer program --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/program/StageProgram.h"

#include "cluster/PlanCosts.h"
#include "cluster/program/Solver.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace atc::cluster {

namespace {

/// A larger program is not tried: its search would take minutes.
constexpr size_t kMaxVariables = 4000;
/// The nodes of a search. A number and no time, so that the same network has the same plan on every
/// machine.
constexpr int kMaxNodes = 500;
/// The slowest stage may take this share longer than the best one that there is.
constexpr double kGap = 2e-3;
/// A plan with other layers must be this much faster than one that treats all alike.
constexpr double kMinGain = 1e-3;

/// Layers in a row of equal costs, of which only the number in each stage matters.
struct Run {
  uint32_t first, count;
};

bool areEqual(const ChainLayer &a, const ChainLayer &b) {
  auto costs = [](const ChainLayer &l) {
    return std::tie(l.macs, l.parameters, l.keptBytes, l.keptWholeBytes, l.recomputedBytes,
                    l.recomputedMacs, l.outputBytes, l.reducedBytes, l.reductions);
  };
  return costs(a) == costs(b);
}

std::vector<Run> findRuns(const Chain &chain) {
  std::vector<Run> runs;
  for (uint32_t i = 0; i < chain.layers.size(); ++i)
    if (i > 0 && areEqual(chain.layers[i - 1], chain.layers[i]))
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  return runs;
}

/// The program of one plan: count(s, r, m) layers of run r are in stage s with mode m. All times
/// are in units of `below`, all sizes in those of the memory that bounds them.
class StageProgram {
public:
  StageProgram(const Cluster &cluster, const Device &device, const Chain &chain, const Plan &plan,
               const std::vector<Recompute> &modes, double below)
      : cluster(cluster), device(device), chain(chain), plan(plan), modes(modes), below(below),
        runs(findRuns(chain)) {
    for (Recompute mode : modes) {
      Plan alike = plan;
      alike.modes.assign(chain.layers.size(), mode);
      costs.emplace_back(cluster, device, chain, Purpose::Training, alike);
    }
  }

  /// Returns the number of variables of the choice alone.
  size_t variables() const { return plan.pipeline * runs.size() * modes.size(); }

  std::optional<StageChoice> solve() {
    slowest = program.addVariable(0, 1, /*isInteger=*/false, /*cost=*/1);
    for (uint32_t stage = 0; stage < plan.pipeline; ++stage)
      addCounts(stage);
    for (uint32_t r = 0; r < runs.size(); ++r)
      addWholeRun(r);
    for (uint32_t stage = 0; stage < plan.pipeline; ++stage)
      addStage(stage);
    if (auto solution = program.solve(kMaxNodes, kGap))
      return read(*solution);
    return std::nullopt;
  }

private:
  using Variable = IntegerProgram::Variable;
  using Terms = IntegerProgram::Terms;

  Variable count(uint32_t stage, uint32_t run, size_t mode) const {
    return first[stage] + static_cast<uint32_t>(run * modes.size() + mode);
  }

  void addCounts(uint32_t stage) {
    first.push_back(program.size());
    for (const Run &run : runs)
      for (size_t m = 0; m < modes.size(); ++m)
        program.addVariable(0, run.count, /*isInteger=*/true);
    copies.push_back(program.addVariable(0, 1, /*isInteger=*/true));
  }

  Terms countsOf(uint32_t stage, uint32_t run) const {
    Terms terms;
    for (size_t m = 0; m < modes.size(); ++m)
      terms.push_back({count(stage, run, m), 1});
    return terms;
  }

  /// All layers of a run are somewhere, and a stage has some of the next run only where the stages
  /// up to it have all of this one.
  void addWholeRun(uint32_t run) {
    const double all = runs[run].count;
    Terms placed;
    for (uint32_t stage = 0; stage < plan.pipeline; ++stage) {
      const Terms own = countsOf(stage, run);
      placed.insert(placed.end(), own.begin(), own.end());
      if (run + 1 == runs.size())
        continue;
      const Variable isDone = program.addVariable(0, 1, /*isInteger=*/true);
      Terms done = placed, next = countsOf(stage, run + 1);
      done.push_back({isDone, -all});
      program.addAtLeast(done, 0);
      next.push_back({isDone, -static_cast<double>(runs[run + 1].count)});
      program.addAtMost(next, 0);
    }
    program.addEqual(placed, all);
  }

  /// The time, the memory and at least one layer of a stage.
  void addStage(uint32_t stage) {
    Terms some, work = {{slowest, -1}}, moved = {{slowest, -1}}, memory, host;
    const double workspace = costs[0].workspaceBytes();
    for (uint32_t r = 0; r < runs.size(); ++r)
      for (size_t m = 0; m < modes.size(); ++m) {
        const uint32_t layer = runs[r].first;
        const Variable variable = count(stage, r, m);
        const PlanMemory needed = costs[m].stageMemory(layer, layer + 1, stage);
        const bool isCopied = modes[m] == Recompute::Offload;
        some.push_back({variable, 1});
        work.push_back({variable, costs[m].workSeconds(layer, layer + 1) / below});
        memory.push_back(
            {variable, (needed.total() - (isCopied ? 2 : 1) * workspace) / device.memoryBytes});
        if (isCopied) {
          moved.push_back({variable, costs[m].copySeconds(layer, layer + 1) / below});
          program.addAtMost({{variable, 1}, {copies[stage], -static_cast<double>(runs[r].count)}},
                            0);
        }
        if (cluster.hostBytes > 0)
          host.push_back({variable, needed.host / cluster.hostBytes});
      }
    memory.push_back({copies[stage], workspace / device.memoryBytes});
    program.addAtLeast(some, 1);
    program.addAtMost(work, 0);
    program.addAtMost(moved, 0);
    program.addAtMost(memory, 1 - workspace / device.memoryBytes);
    if (cluster.hostBytes > 0)
      program.addAtMost(host, 1);
  }

  /// Turns numbers of layers into stages and modes, and computes their costs.
  std::optional<StageChoice> read(const std::vector<double> &solution) const {
    StageChoice choice;
    choice.variables = program.size();
    for (uint32_t stage = 0; stage < plan.pipeline; ++stage) {
      choice.stages.push_back(static_cast<uint32_t>(choice.modes.size()));
      for (uint32_t r = 0; r < runs.size(); ++r)
        for (size_t m = 0; m < modes.size(); ++m)
          choice.modes.insert(choice.modes.end(),
                              static_cast<size_t>(std::lround(solution[count(stage, r, m)])),
                              modes[m]);
    }
    if (choice.modes.size() != chain.layers.size())
      return std::nullopt;
    Plan mixed = plan;
    mixed.modes = choice.modes;
    const PlanCosts own(cluster, device, chain, Purpose::Training, mixed);
    for (uint32_t stage = 0; stage < plan.pipeline; ++stage) {
      const uint32_t begin = choice.stages[stage],
                     end = endOfStage(choice.stages, stage, own.layers());
      if (begin >= end || !own.fits(begin, end, stage))
        return std::nullopt;
      choice.seconds = std::max(choice.seconds, own.stageSeconds(begin, end));
    }
    return choice;
  }

  const Cluster &cluster;
  const Device &device;
  const Chain &chain;
  const Plan &plan;
  const std::vector<Recompute> &modes;
  const double below;
  const std::vector<Run> runs;
  std::vector<PlanCosts> costs; ///< of each mode, for all layers
  IntegerProgram program;
  Variable slowest = 0;
  std::vector<Variable> first;  ///< per stage
  std::vector<Variable> copies; ///< per stage: whether a layer of it is copied to the host
};

/// Returns the plan with what the program finds, where that makes a step faster than `before`.
std::optional<Plan> tryPlan(const Cluster &cluster, const Device &device, const Chain &chain,
                            Plan plan, double before) {
  plan.recompute = Recompute::None;
  plan.modes.clear();
  if (PlanCosts(cluster, device, chain, Purpose::Training, plan).lowerBound() >= before)
    return std::nullopt;
  std::vector<Recompute> modes = {Recompute::None, Recompute::Selective, Recompute::Full};
  if (cluster.host.bytesPerSecond > 0)
    modes.push_back(Recompute::Offload);
  // The slowest stage alone takes that long in each micro-batch.
  const double below = before / (plan.microBatches + plan.pipeline - 1);
  auto choice = solveStages(cluster, device, chain, plan, modes, below);
  if (!choice)
    return std::nullopt;
  plan.stages = std::move(choice->stages);
  plan.modes = std::move(choice->modes);
  plan.variables = choice->variables;
  finishPlan(PlanCosts(cluster, device, chain, Purpose::Training, plan), plan);
  return plan.time.total() < before * (1 - kMinGain) ? std::optional(plan) : std::nullopt;
}

} // namespace

bool hasSolver() { return IntegerProgram::hasSolver(); }

std::optional<StageChoice> solveStages(const Cluster &cluster, const Device &device,
                                       const Chain &chain, const Plan &plan,
                                       const std::vector<Recompute> &modes, double below) {
  StageProgram program(cluster, device, chain, plan, modes, below);
  if (!hasSolver() || plan.pipeline > chain.layers.size() || program.variables() > kMaxVariables)
    return std::nullopt;
  return program.solve();
}

void mixLayers(PlanSearch &search, const Cluster &cluster, const Device &device,
               const Chain &chain) {
  if (!hasSolver())
    return;
  for (Plan &best : search.best) {
    const double alike = best.time.total();
    forEachSetting(cluster, chain, best, [&](const Plan &plan) {
      if (auto mixed = tryPlan(cluster, device, chain, plan, best.time.total())) {
        best = std::move(*mixed);
        best.alikeSeconds = alike;
      }
    });
  }
  sortPlans(search.best);
}

} // namespace atc::cluster
