//===-- StageProgramTest.cpp - the integer program against dynamic programming and all choices ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/program/StageProgram.h"
#include "cluster/PlanCosts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace atc::cluster;

namespace {

const Device kDevice = {128e12, 1e12, 30e9, 0.7};
const std::vector<Recompute> kModes = {Recompute::None, Recompute::Selective, Recompute::Full,
                                       Recompute::Offload};

Cluster clusterWithHost() {
  Cluster cluster;
  cluster.devicesPerServer = 8;
  cluster.local = {"HCCS", 30e9, 2e-6};
  cluster.network = {"RoCE", 12.5e9, 5e-6};
  cluster.host = {"PCIe", 16e9, 1e-5};
  cluster.hostBytesPerSecond = 20e9;
  return cluster;
}

/// Returns a chain of random layers, some of which are equal to the one before.
Chain randomChain(uint32_t layers, uint32_t seed) {
  std::mt19937 random(seed);
  auto number = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 1000) / 1000;
  };
  Chain chain;
  chain.batch = 8;
  while (chain.layers.size() < layers) {
    ChainLayer layer;
    layer.macs = number(1e11, 8e11);
    layer.parameters = number(1e6, 5e7);
    layer.outputBytes = number(1e6, 5e6);
    layer.keptBytes = number(1e8, 9e8);
    layer.recomputedBytes = layer.keptBytes * number(0.2, 0.7);
    layer.recomputedMacs = layer.macs * number(0.02, 0.1);
    const size_t equal = std::min<size_t>(1 + random() % 3, layers - chain.layers.size());
    chain.layers.insert(chain.layers.end(), equal, layer);
  }
  return chain;
}

Plan planOf(uint32_t stages) {
  Plan plan;
  plan.pipeline = stages;
  plan.microBatch = 2;
  plan.microBatches = 4;
  return plan;
}

/// Returns the time of the slowest stage; a huge number where one does not fit.
double slowestOf(const PlanCosts &costs, const std::vector<uint32_t> &stages) {
  double slowest = stages.empty() ? 1e300 : 0;
  for (uint32_t stage = 0; stage < stages.size(); ++stage) {
    const uint32_t end = stage + 1 < stages.size() ? stages[stage + 1] : costs.layers();
    slowest = std::max(slowest, costs.fits(stages[stage], end, stage)
                                    ? costs.stageSeconds(stages[stage], end)
                                    : 1e300);
  }
  return slowest;
}

/// Returns the time of the slowest stage of the best of all modes of all layers.
double tryAllModes(const Cluster &cluster, const Device &device, const Chain &chain, Plan plan) {
  double best = 1e300;
  plan.modes.assign(chain.layers.size(), kModes[0]);
  const auto count = static_cast<uint32_t>(std::pow(kModes.size(), chain.layers.size()));
  for (uint32_t code = 0; code < count; ++code) {
    for (uint32_t rest = code, i = 0; i < chain.layers.size(); ++i, rest /= kModes.size())
      plan.modes[i] = kModes[rest % kModes.size()];
    const PlanCosts costs(cluster, device, chain, Purpose::Training, plan);
    best = std::min(best, slowestOf(costs, divideChain(costs, plan.pipeline)));
  }
  return best;
}

} // namespace

TEST_CASE("with one mode the program finds what dynamic programming finds", "[program]") {
  if (!hasSolver())
    return;
  const Cluster cluster = clusterWithHost();
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Chain chain = randomChain(6 + seed % 4, seed);
    Plan plan = planOf(2 + seed % 3);
    plan.recompute = kModes[seed % kModes.size()];
    Device device = kDevice;
    device.memoryBytes = seed % 2 ? 30e9 : 9e9;
    const PlanCosts costs(cluster, device, chain, Purpose::Training, plan);
    const std::vector<uint32_t> stages = divideChain(costs, plan.pipeline);
    const double slowest = slowestOf(costs, stages);
    const auto found = solveStages(cluster, device, chain, plan, {plan.recompute},
                                   stages.empty() ? 10.0 : 1.01 * slowest);
    INFO("seed " << seed);
    REQUIRE(found.has_value() == !stages.empty());
    if (found)
      CHECK(found->seconds == Approx(slowest).epsilon(2e-3));
  }
}

TEST_CASE("the program finds the best of all choices of the layers", "[program]") {
  if (!hasSolver())
    return;
  const Cluster cluster = clusterWithHost();
  uint32_t differ = 0;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const Chain chain = randomChain(5, 100 + seed);
    const Plan plan = planOf(1 + seed % 3);
    Device device = kDevice;
    device.memoryBytes = 3.5e9 + 0.7e9 * seed;
    const double best = tryAllModes(cluster, device, chain, plan);
    const auto found = solveStages(cluster, device, chain, plan, kModes, 10);
    INFO("seed " << seed);
    REQUIRE(found.has_value() == (best < 1e300));
    if (!found)
      continue;
    CHECK(found->seconds == Approx(best).epsilon(2e-3));
    differ += std::adjacent_find(found->modes.begin(), found->modes.end(), std::not_equal_to<>()) !=
              found->modes.end();
    CHECK_FALSE(solveStages(cluster, device, chain, plan, kModes, best * 0.99));
  }
  CHECK(differ >= 3);
}

TEST_CASE("a plan whose layers differ is faster, and says than which one", "[program]") {
  if (!hasSolver())
    return;
  std::string error;
  auto chain =
      parseChain(R"({"batch": 64, "transformer": {"layers": 24, "hidden": 4096, "heads": 32,
                              "vocabulary": 32000, "sequence": 2048}})",
                 error);
  REQUIRE(chain);
  const Cluster cluster = clusterWithHost();
  const PlanSearch alike = searchPlans(cluster, kDevice, *chain, Purpose::Training, 8, 3);
  PlanSearch mixed = alike;
  mixLayers(mixed, cluster, kDevice, *chain);
  REQUIRE(mixed.best.size() == alike.best.size());
  CHECK(mixed.best[0].time.total() < alike.best[0].time.total());
  uint32_t changed = 0;
  for (const Plan &plan : mixed.best) {
    CHECK(plan.memory.total() <= kDevice.memoryBytes);
    if (plan.modes.empty())
      continue;
    ++changed;
    CHECK(plan.modes.size() == chain->layers.size());
    CHECK(plan.alikeSeconds > plan.time.total());
    CHECK(plan.variables > 0);
  }
  CHECK(changed > 0);
}
