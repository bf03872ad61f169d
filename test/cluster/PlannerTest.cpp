//===-- PlannerTest.cpp - plans against closed formulas and all divisions -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/PlanCosts.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc::cluster;

namespace {

Cluster serversOf8(uint32_t servers) {
  Cluster cluster;
  cluster.servers = servers;
  cluster.devicesPerServer = 8;
  cluster.local = {"HCCS", 30e9, 2e-6};
  cluster.network = {"RoCE", 12.5e9, 5e-6};
  return cluster;
}

const Device kDevice = {128e12, 1e12, 30e9, 0.7};

/// Returns a chain of layers that differ.
Chain uneven() {
  Chain chain;
  chain.batch = 8;
  for (double macs : {4.0, 1.0, 1.0, 6.0, 2.0, 2.0, 3.0}) {
    ChainLayer layer;
    layer.macs = macs * 1e11;
    layer.parameters = macs * 1e7;
    layer.outputBytes = 1e6;
    layer.keptBytes = 1e8;
    chain.layers.push_back(layer);
  }
  return chain;
}

/// Returns the seconds of the slowest stage of the best of all divisions.
double tryAll(const PlanCosts &costs, uint32_t first, uint32_t stages) {
  if (stages == 1)
    return costs.stageSeconds(first, costs.layers());
  double best = 1e300;
  for (uint32_t end = first + 1; end + stages - 1 <= costs.layers(); ++end)
    best = std::min(best, std::max(costs.stageSeconds(first, end), tryAll(costs, end, stages - 1)));
  return best;
}

const std::string transformer200 =
    R"({"name": "t", "batch": 1024, "transformer": {"layers": 80, "hidden": 14336, "heads": 112,
        "vocabulary": 64000, "sequence": 2048}})";

} // namespace

TEST_CASE("groups of ranks take what the formulas say", "[planner]") {
  const Cluster cluster = serversOf8(4);
  const double bytes = 1e9;
  CHECK(secondsOfGroup(cluster, bytes, 1, 1) == 0);
  CHECK(secondsOfGroup(cluster, bytes, 8, 1) == Approx(2 * 7 * (2e-6 + bytes / 8 / 30e9)));
  // Ranks 8 apart are in different servers.
  CHECK(secondsOfGroup(cluster, bytes, 4, 8) == Approx(2 * 3 * (5e-6 + bytes / 4 / 12.5e9)));
  // All devices: a ring inside each server, then each device's share across servers.
  CHECK(secondsOfGroup(cluster, bytes, 32, 1) ==
        Approx(2 * 7 * (2e-6 + bytes / 8 / 30e9) + 2 * 3 * (5e-6 + bytes / 32 / 12.5e9)));
  // Few bytes take a tree.
  CHECK(secondsOfGroup(cluster, 8, 8, 1) == Approx(2 * 3 * (2e-6 + 8 / 30e9)));
}

TEST_CASE("stages are the best of all divisions", "[planner]") {
  const Chain chain = uneven();
  for (uint32_t stages : {2u, 3u, 4u, 7u}) {
    const Cluster cluster = serversOf8(stages);
    const PlanSearch search = searchPlans(cluster, kDevice, chain, Purpose::Training, stages, 1000);
    REQUIRE(!search.best.empty());
    bool seen = false;
    for (const Plan &plan : search.best) {
      if (plan.pipeline != stages)
        continue;
      seen = true;
      const PlanCosts costs(cluster, kDevice, chain, Purpose::Training, plan);
      double slowest = 0;
      for (uint32_t stage = 0; stage < stages; ++stage)
        slowest = std::max(slowest, costs.stageSeconds(plan.stages[stage],
                                                       stage + 1 < stages ? plan.stages[stage + 1]
                                                                          : costs.layers()));
      CHECK(slowest == Approx(tryAll(costs, 0, stages)));
    }
    CHECK(seen);
  }
}

TEST_CASE("a plan that does not fit takes recomputation, then optimizer sharding", "[planner]") {
  Chain chain = uneven();
  const Cluster cluster = serversOf8(1);
  Device device = kDevice;
  auto dataPlan = [&] {
    for (const Plan &plan : searchPlans(cluster, device, chain, Purpose::Training, 8, 1000).best)
      if (plan.data == 8)
        return std::optional<Plan>(plan);
    return std::optional<Plan>();
  };
  const auto roomy = dataPlan();
  REQUIRE(roomy);
  CHECK(roomy->recompute == Recompute::None);
  // Weights and gradients are 4 bytes per parameter, the optimizer's 12, the kept activations 0.7
  // GB: without sharding the state alone takes 3.04 GB.
  device.memoryBytes = 2.3e9;
  const auto sharded = dataPlan();
  REQUIRE(sharded);
  CHECK(sharded->zero != Zero::None);
  CHECK(sharded->memory.total() <= device.memoryBytes);
  CHECK(sharded->time.total() >= roomy->time.total());
  device.memoryBytes = 1.3e9;
  const auto tight = dataPlan();
  REQUIRE(tight);
  CHECK(tight->recompute == Recompute::Full);
  CHECK(tight->memory.total() <= device.memoryBytes);
  device.memoryBytes = 1e8;
  const PlanSearch none = searchPlans(cluster, device, chain, Purpose::Training, 8, 5);
  CHECK(none.best.empty());
  CHECK(none.minBytes > device.memoryBytes);
}

TEST_CASE("200 B parameters fit 64 devices for inference and 2048 for training", "[planner]") {
  std::string error;
  auto chain = parseChain(transformer200, error);
  REQUIRE(chain);
  double parameters = 0;
  for (const ChainLayer &layer : chain->layers)
    parameters += layer.parameters;
  CHECK(parameters == Approx(2e11).epsilon(0.01));
  const PlanSearch training =
      searchPlans(serversOf8(256), kDevice, *chain, Purpose::Training, 2048, 3);
  chain->batch = 64;
  const PlanSearch inference =
      searchPlans(serversOf8(8), kDevice, *chain, Purpose::Inference, 64, 3);
  for (const PlanSearch &search : {training, inference}) {
    REQUIRE(search.best.size() == 3);
    for (const Plan &plan : search.best) {
      CHECK(plan.memory.total() <= kDevice.memoryBytes);
      CHECK(plan.memory.total() >= parameters * 2 / plan.tensor / plan.pipeline * 0.9);
    }
    CHECK(search.best[0].time.total() <= search.best[1].time.total());
  }
  CHECK(training.best[0].devices() == 2048);
  CHECK(inference.best[0].devices() == 64);

  // Every share of every layer is read once by a replica of the other plan.
  const Plan &from = training.best[0], &to = inference.best[0];
  std::vector<double> share(chain->layers.size());
  for (uint32_t rank = 0; rank < to.tensor * to.pipeline; ++rank)
    for (const WeightSource &source : convertWeights(from, to, rank, share.size())) {
      CHECK(source.rank < from.tensor * from.pipeline);
      const uint32_t stage = source.rank / from.tensor, t = source.rank % from.tensor;
      CHECK(source.firstLayer >= from.stages[stage]);
      CHECK(source.from >= double(t) / from.tensor - 1e-12);
      CHECK(source.to <= double(t + 1) / from.tensor + 1e-12);
      for (uint32_t layer = source.firstLayer; layer < source.endLayer; ++layer)
        share[layer] += source.to - source.from;
    }
  for (double sum : share)
    CHECK(sum == Approx(1));
}

TEST_CASE("networks that are wrong are errors with the field", "[planner]") {
  std::string error;
  auto errorOf = [&](const std::string &text) {
    CHECK_FALSE(parseChain(text, error));
    return error;
  };
  CHECK(errorOf("{").find("it is not valid JSON: ") == 0);
  CHECK(errorOf(std::string(1000000, '[')) == "it is nested deeper than 64 levels");
  CHECK(errorOf("[]") == "network: is no object");
  CHECK(errorOf("{}") == "network: needs either 'transformer' or 'layers'");
  CHECK(errorOf(R"({"layers": [], "batches": 2})") == "network: 'batches' is no field of it");
  CHECK(errorOf(R"({"layers": []})") == "a network has 1 to 1024 layers");
  CHECK(errorOf(R"({"layers": [{"macs": -1}]})") == "layer 0: 'macs' must be a number above 0");
  CHECK(errorOf(R"({"transformer": {"layers": 2}})") == "transformer: has no field 'hidden'");
  CHECK(errorOf(R"({"transformer": {"layers": 2, "hidden": 10, "heads": 3, "vocabulary": 9,
                    "sequence": 4}})") == "transformer: 'heads' must divide 'hidden'");
}
