//===-- Network.cpp - times of collectives on a cluster -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/Network.h"

#include <algorithm>
#include <bit>

namespace atc::cluster {

const char *nameOf(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::Ring:
    return "ring";
  case Algorithm::HalvingDoubling:
    return "halving-doubling";
  case Algorithm::Tree:
    return "tree";
  case Algorithm::Hierarchical:
    return "hierarchical";
  }
  return "";
}

Time timeOfStep(const Cluster &cluster, const std::vector<Flow> &flows) {
  // Per device: bytes out and in, inside of its server and beyond.
  struct Load {
    double out = 0, in = 0, farOut = 0, farIn = 0;
  };
  std::vector<Load> loads(cluster.devices());
  double far = 0;
  Time time;
  for (const Flow &flow : flows) {
    const bool isLocal = flow.from / cluster.devicesPerServer == flow.to / cluster.devicesPerServer;
    (isLocal ? loads[flow.from].out : loads[flow.from].farOut) += flow.bytes;
    (isLocal ? loads[flow.to].in : loads[flow.to].farIn) += flow.bytes;
    far += isLocal ? 0 : flow.bytes;
    time.latency =
        std::max(time.latency, (isLocal ? cluster.local : cluster.network).latencySeconds);
  }
  for (const Load &load : loads) {
    time.transfer = std::max({time.transfer, load.out / cluster.local.bytesPerSecond,
                              load.in / cluster.local.bytesPerSecond,
                              load.farOut / cluster.network.bytesPerSecond,
                              load.farIn / cluster.network.bytesPerSecond});
  }
  const double core = cluster.devices() * cluster.network.bytesPerSecond / cluster.oversubscription;
  time.transfer = std::max(time.transfer, far / core);
  return time;
}

namespace {

/// Describes a step of several rings at once: the members of group g are first + g * groupStep + i
/// * step.
std::vector<Flow> ringStep(uint32_t groups, uint32_t groupStep, uint32_t members, uint32_t step,
                           double bytes) {
  std::vector<Flow> flows;
  for (uint32_t g = 0; g < groups; ++g)
    for (uint32_t i = 0; i < members; ++i)
      flows.push_back({g * groupStep + i * step, g * groupStep + (i + 1) % members * step, bytes});
  return flows;
}

/// All pairs at a distance exchange `bytes` bytes.
std::vector<Flow> pairStep(uint32_t devices, uint32_t distance, uint32_t stride, uint32_t groups,
                           double bytes) {
  std::vector<Flow> flows;
  for (uint32_t g = 0; g < groups; ++g)
    for (uint32_t i = 0; i < devices; ++i)
      flows.push_back({g + i * stride, g + (i ^ distance) * stride, bytes});
  return flows;
}

Time ringTime(const Cluster &cluster, uint32_t groups, uint32_t groupStep, uint32_t members,
              uint32_t step, double bytes, double phases) {
  Time time;
  if (members > 1)
    time.add(timeOfStep(cluster, ringStep(groups, groupStep, members, step, bytes / members)),
             phases * (members - 1));
  return time;
}

/// Halving, then doubling, among `members` devices `stride` apart, in `groups` groups at once.
Time halvingTime(const Cluster &cluster, uint32_t members, uint32_t stride, uint32_t groups,
                 double bytes) {
  Time time;
  double part = bytes / 2;
  // Neighbours exchange the most.
  for (uint32_t distance = 1; distance < members; distance *= 2, part /= 2)
    time.add(timeOfStep(cluster, pairStep(members, distance, stride, groups, part)), 2);
  return time;
}

} // namespace

std::optional<Time> timeOfAllReduce(const Cluster &cluster, Algorithm algorithm, double bytes,
                                    uint32_t devices) {
  Time time;
  if (devices <= 1)
    return time;
  const bool isPower = std::has_single_bit(devices);
  switch (algorithm) {
  case Algorithm::Ring:
    return ringTime(cluster, 1, 0, devices, 1, bytes, 2);
  case Algorithm::HalvingDoubling:
    if (!isPower)
      return std::nullopt;
    return halvingTime(cluster, devices, 1, 1, bytes);
  case Algorithm::Tree:
    if (!isPower)
      return std::nullopt;
    for (uint32_t distance = 1; distance < devices; distance *= 2) {
      std::vector<Flow> flows;
      for (uint32_t i = 0; i < devices; i += 2 * distance)
        flows.push_back({i + distance, i, bytes});
      time.add(timeOfStep(cluster, flows), 2);
    }
    return time;
  case Algorithm::Hierarchical: {
    const uint32_t local = cluster.devicesPerServer, servers = devices / local;
    if (devices % local || servers < 2 || local < 2)
      return std::nullopt;
    // Shares are reduced inside servers, each device reduces its share with those of the other
    // servers, and shares are gathered inside servers.
    time = ringTime(cluster, servers, local, local, 1, bytes, 2);
    Time across = ringTime(cluster, local, 1, servers, local, bytes / local, 2);
    if (std::has_single_bit(servers)) {
      const Time halving = halvingTime(cluster, servers, local, local, bytes / local);
      if (halving.seconds() < across.seconds())
        across = halving;
    }
    time.add(across);
    return time;
  }
  }
  return std::nullopt;
}

Choice chooseAllReduce(const Cluster &cluster, double bytes, uint32_t devices,
                       const std::vector<Algorithm> &allowed) {
  std::optional<Choice> best;
  for (Algorithm algorithm : allowed)
    if (std::optional<Time> time = timeOfAllReduce(cluster, algorithm, bytes, devices))
      if (!best || time->seconds() < best->time.seconds())
        best = {algorithm, *time};
  return best.value_or(Choice{Algorithm::Ring, ringTime(cluster, 1, 0, devices, 1, bytes, 2)});
}

} // namespace atc::cluster
