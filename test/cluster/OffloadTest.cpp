//===-- OffloadTest.cpp - plans that use the memory of the server ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/PlanCosts.h"

#include <catch2/catch.hpp>

using namespace atc::cluster;

namespace {

Cluster server(double gigabytesPerSecond) {
  Cluster cluster;
  cluster.devicesPerServer = 2;
  cluster.local = {"HCCS", 30e9, 2e-6};
  cluster.network = {"RoCE", 12.5e9, 5e-6};
  if (gigabytesPerSecond > 0) {
    cluster.host = {"PCIe", gigabytesPerSecond * 1e9, 1e-5};
    cluster.hostBytesPerSecond = 20e9;
  }
  return cluster;
}

/// Returns four equal layers of 1 TMAC, 100 million parameters, and 1 GB of activations per sample.
Chain fourLayers() {
  Chain chain;
  chain.batch = 8;
  ChainLayer layer;
  layer.macs = 1e12;
  layer.parameters = 1e8;
  layer.outputBytes = 1e6;
  layer.keptBytes = 1e9;
  chain.layers.assign(4, layer);
  return chain;
}

const Device kDevice = {100e12, 1e12, 30e9, 1.0};

} // namespace

TEST_CASE("offloaded activations take the link's time and the server's memory", "[planner]") {
  const Cluster cluster = server(10);
  const Chain chain = fourLayers();
  Plan plan;
  plan.microBatch = 1;
  plan.microBatches = 8;
  const PlanCosts kept(cluster, kDevice, chain, Purpose::Training, plan);
  plan.recompute = Recompute::Offload;
  const PlanCosts copied(cluster, kDevice, chain, Purpose::Training, plan);
  CHECK(kept.stageMemory(0, 4, 0).activations == Approx(5e9));   // and the layer that is computed
  CHECK(copied.stageMemory(0, 4, 0).activations == Approx(2e9)); // this and the next one
  CHECK(kept.stageMemory(0, 4, 0).host == 0);
  CHECK(copied.stageMemory(0, 4, 0).host == Approx(4e9));
  // 3 x 4 TMAC at 100 TMAC/s; 4 GB there and back at 10 GB/s.
  CHECK(kept.stageSeconds(0, 4) == Approx(0.12));
  CHECK(copied.stageSeconds(0, 4) == Approx(0.8));
  CHECK(copied.stepTime({0}).host == Approx(8 * (0.8 - 0.12)));
  // What is copied while the device computes costs nothing.
  const Cluster fast = server(100);
  const PlanCosts hidden(fast, kDevice, chain, Purpose::Training, plan);
  CHECK(hidden.stepTime({0}).host == Approx(0).margin(1e-12));
  CHECK(hidden.stepTime({0}).total() == Approx(kept.stepTime({0}).total()));
}

TEST_CASE("an offloaded optimizer leaves the device and sends gradients and weights", "[planner]") {
  const Cluster cluster = server(10);
  const Chain chain = fourLayers();
  Plan plan;
  plan.microBatches = 8;
  const PlanCosts own(cluster, kDevice, chain, Purpose::Training, plan);
  plan.offloadOptimizer = true;
  const PlanCosts away(cluster, kDevice, chain, Purpose::Training, plan);
  CHECK(own.stageMemory(0, 4, 0).optimizer == Approx(4.8e9));
  CHECK(away.stageMemory(0, 4, 0).optimizer == 0);
  CHECK(away.stageMemory(0, 4, 0).host == Approx(4.8e9));
  // 2 + 2 bytes per parameter over the link; these and 24 in the server's memory.
  CHECK(own.stepTime({0}).data == Approx(4e8 * 28 / 1e12));
  CHECK(away.stepTime({0}).data == Approx(4e8 * 4 / 10e9 + 4e8 * 28 / 20e9));
}

TEST_CASE("the memory of the server is used where it is needed, and only as far as it is there",
          "[planner]") {
  const Chain chain = fourLayers();
  Device device = kDevice;
  auto best = [&](const Cluster &cluster) {
    return searchPlans(cluster, device, chain, Purpose::Training, 1, 1).best;
  };
  REQUIRE(best(server(10)).size() == 1);
  CHECK_FALSE(best(server(10))[0].offloadOptimizer);
  CHECK(best(server(10))[0].memory.host == 0);
  // Weights and gradients take 1.6 GB, the optimizer's state 4.8 GB.
  device.memoryBytes = 4e9;
  CHECK(best(server(0)).empty());
  REQUIRE(best(server(10)).size() == 1);
  CHECK(best(server(10))[0].offloadOptimizer);
  Cluster small = server(10);
  small.hostBytes = 4e9;
  CHECK(best(small).empty());
}

TEST_CASE("a cluster's host has fields with defaults", "[planner]") {
  std::string error;
  auto cluster = parseCluster(R"({"host": {}})", error);
  REQUIRE(cluster);
  CHECK(cluster->host.kind == "PCIe");
  CHECK(cluster->host.bytesPerSecond == 16e9);
  CHECK(cluster->hostBytes == 0);
  CHECK(parseCluster("{}", error)->host.bytesPerSecond == 0);
  cluster = parseCluster(R"({"host": {"gigabytes_per_second": 25, "memory_bytes": 64e9,
                                      "memory_gigabytes_per_second": 40}})",
                         error);
  REQUIRE(cluster);
  CHECK(cluster->hostBytesPerSecond == 40e9);
  CHECK(cluster->hostBytes == 64e9);
  CHECK_FALSE(parseCluster(R"({"host": {"speed": 25}})", error));
  CHECK(error == "cluster.host: 'speed' is no field of it");
}
