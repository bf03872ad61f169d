//===-- ClusterTest.cpp - collectives against closed formulas -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/DataParallel.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc::cluster;

namespace {

Cluster flat(uint32_t devices) {
  Cluster cluster;
  cluster.servers = 1;
  cluster.devicesPerServer = devices;
  cluster.local = {"HCCS", 30e9, 2e-6};
  cluster.network = {"RoCE", 12.5e9, 5e-6};
  return cluster;
}

double seconds(const Cluster &cluster, Algorithm algorithm, double bytes, uint32_t devices) {
  const auto time = timeOfAllReduce(cluster, algorithm, bytes, devices);
  REQUIRE(time);
  return time->seconds();
}

const std::vector<Algorithm> all(std::begin(allAlgorithms), std::end(allAlgorithms));

} // namespace

TEST_CASE("all_reduce takes what the formulas say", "[cluster]") {
  const uint32_t n = GENERATE(2u, 8u, 64u);
  const double bytes = GENERATE(8.0, 1e6, 1e9), a = 2e-6, b = 30e9, rounds = std::log2(n);
  const Cluster cluster = flat(n);
  CHECK(seconds(cluster, Algorithm::Ring, bytes, n) == Approx(2 * (n - 1) * (a + bytes / n / b)));
  CHECK(seconds(cluster, Algorithm::HalvingDoubling, bytes, n) ==
        Approx(2 * rounds * a + 2 * (n - 1.0) / n * bytes / b));
  CHECK(seconds(cluster, Algorithm::Tree, bytes, n) == Approx(2 * rounds * (a + bytes / b)));
}

TEST_CASE("servers: rings cross the slow links, levels reduce what crosses", "[cluster]") {
  Cluster cluster = flat(8);
  cluster.servers = 6;
  const double bytes = 1e8, b = 30e9, far = 12.5e9;
  CHECK(seconds(cluster, Algorithm::Ring, bytes, 48) == Approx(2 * 47 * (5e-6 + bytes / 48 / far)));
  CHECK(seconds(cluster, Algorithm::Hierarchical, bytes, 48) ==
        Approx(2 * 7 * (2e-6 + bytes / 8 / b) + 2 * 5 * (5e-6 + bytes / 8 / 6 / far)));
  CHECK_FALSE(timeOfAllReduce(cluster, Algorithm::Hierarchical, bytes, 12));
  CHECK_FALSE(timeOfAllReduce(cluster, Algorithm::HalvingDoubling, bytes, 48));
  // The core of the network carries all shares at once.
  cluster.oversubscription = 4;
  CHECK(seconds(cluster, Algorithm::Hierarchical, bytes, 48) ==
        Approx(2 * 7 * (2e-6 + bytes / 8 / b) + 2 * 5 * (5e-6 + 4 * bytes / 8 / 6 / far)));
}

TEST_CASE("small tensors take the algorithm of few steps, large ones that of few bytes",
          "[cluster]") {
  const Cluster cluster = flat(64);
  CHECK(chooseAllReduce(cluster, 8, 64, {Algorithm::Ring, Algorithm::Tree}).algorithm ==
        Algorithm::Tree);
  CHECK(chooseAllReduce(cluster, 1e9, 64, {Algorithm::Ring, Algorithm::Tree}).algorithm ==
        Algorithm::Ring);
  CHECK(chooseAllReduce(cluster, 1e9, 1, all).time.seconds() == 0);
}

TEST_CASE("a step hides what it can", "[cluster]") {
  const Cluster cluster = flat(8);
  Network network{"two layers", 4, {{"a", 0.010, 0.020, 3e7}, {"b", 0.010, 0.020, 3e7}}};
  Techniques techniques;
  const double one = seconds(cluster, Algorithm::Ring, 6e7, 8),
               half = seconds(cluster, Algorithm::Ring, 3e7, 8);
  const Step plain = simulateStep(cluster, network, 8, techniques);
  CHECK(plain.seconds == Approx(0.060 + one));
  CHECK(plain.reductions == 1);
  // The first slice is hidden behind layer a; the second one has nothing to hide behind.
  techniques.overlap = true;
  techniques.sliceBytes = 3e7;
  const Step sliced = simulateStep(cluster, network, 8, techniques);
  CHECK(sliced.seconds == Approx(0.060 + half));
  CHECK(sliced.exposed == Approx(half));
  CHECK(sliced.reductions == 2);
  CHECK(simulateStep(cluster, network, 1, techniques).efficiency() == 1);
}

TEST_CASE("descriptions that cannot be used say why", "[cluster]") {
  std::string error;
  CHECK_FALSE(parseCluster("{", error));
  CHECK(error.find("it is not valid JSON: ") == 0);
  // A file of brackets alone must take neither the stack nor all memory.
  const std::string deep(1000000, '[');
  CHECK_FALSE(parseCluster(deep, error));
  CHECK(error == "it is nested deeper than 64 levels");
  CHECK_FALSE(parseNetwork(deep, error));
  CHECK(error == "it is nested deeper than 64 levels");
  CHECK_FALSE(parseCluster(R"({"servers": 1.5})", error));
  CHECK(error == "cluster: 'servers' must be a whole number of at most 1000000");
  CHECK_FALSE(parseCluster(R"({"local": {"speed": 3}})", error));
  CHECK(error == "cluster.local: 'speed' is no field of it");
  CHECK_FALSE(parseCluster(R"({"network": {"latency_us": -1}})", error));
  CHECK(error == "cluster.network: 'latency_us' must be a positive number");
  CHECK(parseCluster("{}", error)->devices() == 8);
  CHECK_FALSE(parseNetwork(R"({"name": "x", "batch": 1, "forward_ms": 1, "layers": []})", error));
  CHECK(error == "it has no layers");
  CHECK_FALSE(parseNetwork(R"({"name": "x", "batch": -1})", error));
  CHECK(error.find("'batch' must be at least 0") != std::string::npos);
  auto withParameters = [&](const char *parameters) {
    return parseNetwork(R"({"name": "x", "batch": 1, "forward_ms": 1, "layers": [)"
                        R"({"name": "l", "macs": 1, "parameters": )" +
                            std::string(parameters) + "}]}",
                        error);
  };
  CHECK_FALSE(withParameters("1e308"));
  CHECK(error.find("'parameters' must be at least 0 and at most 1e18") != std::string::npos);
  CHECK_FALSE(withParameters("1e16"));
  CHECK(error.find("more than 1e15 parameters") != std::string::npos);
  // So many slices are not taken one by one.
  Techniques techniques;
  techniques.sliceBytes = 1e6;
  const Step step =
      simulateStep(*parseCluster("{}", error), *withParameters("1e15"), 8, techniques);
  CHECK(step.reductions == 4'000'000'000u);
}
