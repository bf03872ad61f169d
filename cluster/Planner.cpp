//===-- Planner.cpp - how a network is divided among devices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/Planner.h"
#include "cluster/PlanCosts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace atc::cluster {

const char *nameOf(Recompute recompute) {
  switch (recompute) {
  case Recompute::None:
    return "none";
  case Recompute::Selective:
    return "selective";
  case Recompute::Full:
    return "full";
  case Recompute::Offload:
    return "offload";
  }
  return "";
}

const char *nameOf(Zero zero) {
  return zero == Zero::None ? "none" : zero == Zero::Optimizer ? "optimizer" : "gradients";
}

static constexpr double kNever = std::numeric_limits<double>::infinity();

// Entry [s][l] is the best for the first l layers in s + 1 stages.
std::vector<uint32_t> divideChain(const PlanCosts &costs, uint32_t stages) {
  const uint32_t layers = costs.layers();
  if (stages > layers)
    return {};
  std::vector<double> before(layers + 1, kNever);
  std::vector<std::vector<uint32_t>> begins(stages, std::vector<uint32_t>(layers + 1, 0));
  before[0] = 0;
  for (uint32_t stage = 0; stage < stages; ++stage) {
    std::vector<double> best(layers + 1, kNever);
    for (uint32_t end = stage + 1; end <= layers - (stages - 1 - stage); ++end) {
      // Longer stages only take longer and need more memory.
      for (uint32_t first = end; first-- > stage;) {
        const double own = costs.stageSeconds(first, end);
        if (own >= best[end] || !costs.fits(first, end, stage))
          break;
        if (const double slowest = std::max(own, before[first]); slowest < best[end]) {
          best[end] = slowest;
          begins[stage][end] = first;
        }
      }
    }
    before = std::move(best);
  }
  if (before[layers] == kNever)
    return {};
  std::vector<uint32_t> first(stages);
  for (uint32_t stage = stages, end = layers; stage-- > 0; end = first[stage])
    first[stage] = begins[stage][end];
  return first;
}

void finishPlan(const PlanCosts &costs, Plan &plan) {
  plan.time = costs.stepTime(plan.stages);
  for (uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    const uint32_t end = endOfStage(plan.stages, stage, costs.layers());
    const PlanMemory own = costs.stageMemory(plan.stages[stage], end, stage);
    if (stage == 0 || own.total() > plan.memory.total())
      plan.memory = own;
  }
}

void forEachSetting(const Cluster &cluster, const Chain &chain, Plan plan,
                    const std::function<void(const Plan &)> &each) {
  const double samples = chain.batch / plan.data;
  for (double size = 1; size <= samples; size *= 2) {
    if (std::fmod(samples, size) != 0)
      continue;
    plan.microBatch = size;
    plan.microBatches = static_cast<uint32_t>(samples / size);
    for (Zero zero : {Zero::None, Zero::Optimizer, Zero::Gradients})
      for (bool offload : {false, true}) {
        if ((zero != Zero::None && plan.data == 1) || (offload && cluster.host.bytesPerSecond <= 0))
          continue;
        plan.zero = zero;
        plan.offloadOptimizer = offload;
        each(plan);
      }
  }
}

void sortPlans(std::vector<Plan> &plans) {
  std::sort(plans.begin(), plans.end(), [](const Plan &a, const Plan &b) {
    return std::tuple(a.time.total(), a.tensor, a.pipeline) <
           std::tuple(b.time.total(), b.tensor, b.pipeline);
  });
}

namespace {

class Search {
public:
  Search(const Cluster &cluster, const Device &device, const Chain &chain, Purpose purpose)
      : cluster(cluster), device(device), chain(chain), purpose(purpose) {}

  /// Returns whether every layer can be divided among `count` devices.
  bool canDivide(uint32_t count) const {
    return std::all_of(chain.layers.begin(), chain.layers.end(), [&](const ChainLayer &layer) {
      return layer.divisibleBy == 0 || layer.divisibleBy % count == 0;
    });
  }

  /// Finds the best plan of a division, if any fits.
  void searchDivision(uint32_t tensor, uint32_t pipeline, uint32_t data) {
    const double samples = chain.batch / data;
    if (samples != std::floor(samples))
      return;
    fastest.reset();
    Plan plan;
    plan.tensor = tensor, plan.pipeline = pipeline, plan.data = data;
    if (purpose == Purpose::Inference) {
      plan.microBatch = samples;
      consider(plan);
    } else {
      // The remaining settings trade time for memory.
      forEachSetting(cluster, chain, plan, [&](Plan setting) {
        for (Recompute recompute :
             {Recompute::None, Recompute::Selective, Recompute::Full, Recompute::Offload}) {
          if (recompute == Recompute::Offload && cluster.host.bytesPerSecond <= 0)
            continue;
          setting.recompute = recompute;
          consider(setting);
        }
      });
    }
    if (fastest)
      found.best.push_back(*fastest);
  }

  PlanSearch found{{}, 0, 0, kNever};

private:
  void consider(Plan plan) {
    const PlanCosts costs(cluster, device, chain, purpose, plan);
    const double min = costs.minBytes();
    found.minBytes = std::min(found.minBytes, min);
    ++found.considered;
    if (fastest && costs.lowerBound() >= fastest->time.total())
      return;
    if (min <= device.memoryBytes)
      plan.stages = divideChain(costs, plan.pipeline);
    if (plan.stages.empty()) {
      ++found.overMemory;
      return;
    }
    finishPlan(costs, plan);
    if (!fastest || plan.time.total() < fastest->time.total())
      fastest = plan;
  }

  const Cluster &cluster;
  const Device &device;
  const Chain &chain;
  const Purpose purpose;
  std::optional<Plan> fastest; ///< of the division that is searched
};

} // namespace

PlanSearch searchPlans(const Cluster &cluster, const Device &device, const Chain &chain,
                       Purpose purpose, uint32_t devices, uint32_t count) {
  Search search(cluster, device, chain, purpose);
  for (uint32_t tensor = 1; tensor <= devices; ++tensor) {
    if (devices % tensor || !search.canDivide(tensor))
      continue;
    for (uint32_t pipeline = 1; pipeline <= devices / tensor; ++pipeline)
      if (devices / tensor % pipeline == 0 && pipeline <= chain.layers.size())
        search.searchDivision(tensor, pipeline, devices / tensor / pipeline);
  }
  std::vector<Plan> &best = search.found.best;
  sortPlans(best);
  if (best.size() > count)
    best.resize(count);
  return std::move(search.found);
}

std::vector<WeightSource> convertWeights(const Plan &from, const Plan &to, uint32_t rank,
                                         uint32_t layers) {
  auto endOf = [&](const Plan &plan, uint32_t stage) {
    return endOfStage(plan.stages, stage, layers);
  };
  const uint32_t own = rank % to.tensor, stage = rank / to.tensor % to.pipeline;
  const uint32_t first = to.stages[stage], end = endOf(to, stage);
  // Shares are whole numbers of parts: tp of one plan times tp of the other.
  const uint32_t parts = from.tensor * to.tensor;
  const uint32_t low = own * from.tensor, high = low + from.tensor;
  std::vector<WeightSource> sources;
  for (uint32_t p = 0; p < from.pipeline; ++p) {
    const uint32_t begin = std::max(first, from.stages[p]), stop = std::min(end, endOf(from, p));
    if (begin >= stop)
      continue;
    // Rank t of a tp group has the share [t, t + 1) / tp.
    for (uint32_t t = 0; t < from.tensor; ++t) {
      const uint32_t lower = std::max(low, t * to.tensor),
                     upper = std::min(high, (t + 1) * to.tensor);
      if (lower < upper)
        sources.push_back(
            {p * from.tensor + t, begin, stop, double(lower) / parts, double(upper) / parts});
    }
  }
  return sources;
}

} // namespace atc::cluster
