//===-- AutoPlacementTest.cpp - the cut between NPU and CPU ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tuning/AutoPlacement.h"

#include <catch2/catch.hpp>
#include <random>

using namespace atc;
using namespace atc::tuning;

namespace {

/// Returns a kernel of `macs` products whose program takes `seconds` on the NPU. It computes a node
/// of its own.
ChargedKernel kernelOf(double seconds, uint64_t macs, bool onNpu = true) {
  ChargedKernel charged;
  charged.kernel.onNpu = onNpu;
  static unsigned count = 0;
  charged.kernel.nodes = {"node" + std::to_string(count++)};
  charged.kernel.macs = macs;
  charged.kernel.operations = 2 * macs;
  charged.seconds = seconds;
  return charged;
}

AutoPlacement costs() {
  AutoPlacement placement;
  placement.rates = driver::hostRates(cpu::cpuLevels().front(), 2);
  return placement;
}

/// Returns the cost of a choice of sides, by its definition.
double costOf(const PlacementCandidate &candidate, const AutoPlacement &costs,
              const std::vector<bool> &onHost) {
  double sum = 0;
  for (size_t i = 0; i < onHost.size(); ++i) {
    const ChargedKernel &charged = candidate.kernels[i];
    if (!charged.kernel.onNpu && !onHost[i])
      return 1e9;
    sum += !onHost[i]             ? charged.seconds
           : charged.kernel.onNpu ? hostSeconds(charged.kernel, costs.rates)
                                  : 0;
    sum += i > 0 && onHost[i] != onHost[i - 1] ? costs.link.switchSeconds : 0;
  }
  for (const driver::PlacedTensor &tensor : candidate.tensors)
    if (onHost[tensor.from] != onHost[tensor.to])
      sum += double(tensor.bytes) * (candidate.kernels[tensor.from].kernel.onNpu ? 2 : 1) /
             costs.link.bytesPerSecond;
  return sum;
}

} // namespace

TEST_CASE("an island between host kernels moves to the CPU, a large one stays") {
  PlacementCandidate candidate;
  candidate.kernels = {kernelOf(0, 0, false), kernelOf(3e-6, 10), kernelOf(0, 0, false),
                       kernelOf(1e-4, 1'000'000'000), kernelOf(0, 0, false)};
  CHECK(findHostKernels(candidate, costs(), 1) == std::vector<bool>{true, true, true, false, true});
  SECTION("a pinned kernel stays") {
    candidate.kernels[1].kernel.isPinned = true;
    CHECK(!findHostKernels(candidate, costs(), 1)[1]);
  }
  SECTION("a kernel without names stays: no rule could move it") {
    candidate.kernels[1].kernel.nodes.clear();
    CHECK(!findHostKernels(candidate, costs(), 1)[1]);
  }
  SECTION("dearer switches move more") {
    CHECK(findHostKernels(candidate, costs(), 1e6) == std::vector<bool>(5, true));
  }
}

TEST_CASE("kernels of one node move together, and are launched once on the host") {
  const AutoPlacement charges = costs();
  PlacementCandidate candidate;
  // The steps of an LSTM: each takes less time than a launch on the host.
  candidate.kernels = {kernelOf(1e-4, 1'000'000'000)};
  for (int step = 0; step < 100; ++step) {
    candidate.kernels.push_back(kernelOf(charges.rates.launchSeconds * 0.9, 10));
    candidate.kernels.back().kernel.nodes = {"lstm"};
  }
  std::vector<bool> expected(101, true);
  expected.front() = false;
  CHECK(findHostKernels(candidate, charges, 1) == expected);
  SECTION("kernels of nodes of their own do not") {
    for (size_t i = 1; i < candidate.kernels.size(); ++i)
      candidate.kernels[i].kernel.nodes = {"step" + std::to_string(i)};
    CHECK(findHostKernels(candidate, charges, 1) == std::vector<bool>(101, false));
  }
  SECTION("a kernel of two nodes ties them") {
    candidate.kernels.push_back(kernelOf(1e-4, 1'000'000'000));
    candidate.kernels.back().kernel.nodes = {"large", "lstm"};
    candidate.kernels.front().kernel.nodes = {"large"};
    CHECK(findHostKernels(candidate, charges, 1) == std::vector<bool>(102, false));
  }
  SECTION("and stay where one of them is pinned") {
    candidate.kernels[50].kernel.isPinned = true;
    CHECK(findHostKernels(candidate, charges, 1) == std::vector<bool>(101, false));
  }
}

TEST_CASE("the cut costs what the best of all choices costs") {
  std::mt19937 random(7);
  auto draw = [&](uint32_t end) { return random() % end; };
  for (int trial = 0; trial < 200; ++trial) {
    PlacementCandidate candidate;
    const size_t count = 2 + draw(7);
    for (size_t i = 0; i < count; ++i)
      candidate.kernels.push_back(kernelOf(draw(40) * 1e-6, draw(4) * 1'000'000, draw(4) != 0));
    for (size_t i = 1; i < count; ++i)
      candidate.tensors.push_back({draw(uint32_t(i)), i, draw(200'000)});
    const std::vector<bool> cut = findHostKernels(candidate, costs(), 1);
    double best = 1e9;
    for (unsigned sides = 0; sides < 1u << count; ++sides) {
      std::vector<bool> onHost;
      for (size_t i = 0; i < count; ++i)
        onHost.push_back(sides >> i & 1);
      best = std::min(best, costOf(candidate, costs(), onHost));
    }
    CHECK(costOf(candidate, costs(), cut) == Approx(best).margin(1e-10));
  }
}

TEST_CASE("the time of the modelled CPU follows the work") {
  const driver::HostRates one = driver::hostRates(cpu::cpuLevels().front(), 1),
                          two = driver::hostRates(cpu::cpuLevels().front(), 2);
  const driver::PlacedKernel large = kernelOf(0, 1'000'000'000, false).kernel;
  CHECK(hostSeconds(large, one) / hostSeconds(large, two) == Approx(2).epsilon(0.01));
  driver::PlacedKernel call = large, copy;
  call.isHostCall = true;
  CHECK(hostSeconds(call, one) > hostSeconds(large, one));
  copy.bytes = 1'000'000'000;
  CHECK(hostSeconds(copy, one) == Approx(1e9 / one.bytes).epsilon(0.01));
}

TEST_CASE("the modelled CPU multiplies integers as its level does") {
  auto ratioOf = [](llvm::StringRef name) {
    const auto *level =
        llvm::find_if(cpu::cpuLevels(), [&](const auto &each) { return each.name == name; });
    REQUIRE(level != cpu::cpuLevels().end());
    const driver::HostRates rates = driver::hostRates(*level, 1);
    return rates.integerMacs / rates.floatMacs;
  };
  CHECK(ratioOf("x86-64-v3") == Approx(1));
  CHECK(ratioOf("x86-64-v4-vnni") == Approx(4));
  CHECK(ratioOf("x86-64-v4-amx") == Approx(8));
}
