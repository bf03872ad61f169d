//===-- Network.h - times of collectives on a cluster -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A collective is a list of steps, a step a set of flows that begin together. A step takes as long
// as its busiest link, plus the latency of its longest connection. Flows that share a link share
// its bandwidth.

#ifndef OPENATC_CLUSTER_NETWORK_H
#define OPENATC_CLUSTER_NETWORK_H

#include "cluster/Cluster.h"

#include <vector>

namespace atc::cluster {

/// The algorithm by which an all_reduce is made of messages.
enum class Algorithm { Ring, HalvingDoubling, Tree, Hierarchical };
inline constexpr Algorithm allAlgorithms[] = {Algorithm::Ring, Algorithm::HalvingDoubling,
                                              Algorithm::Tree, Algorithm::Hierarchical};
/// Returns the name of an algorithm for reports.
const char *nameOf(Algorithm algorithm);

/// A message of a step between two devices, in bytes.
struct Flow {
  uint32_t from, to;
  double bytes;
};

/// The time of a collective in seconds: that of the latencies, and that of the bytes.
struct Time {
  double latency = 0, transfer = 0;
  /// Returns the sum of both.
  double seconds() const { return latency + transfer; }
  /// Adds `times` times another duration.
  void add(const Time &other, double times = 1) {
    latency += other.latency * times;
    transfer += other.transfer * times;
  }
};

/// Returns the time of one step.
Time timeOfStep(const Cluster &cluster, const std::vector<Flow> &flows);

/// Returns the time of an all_reduce of `bytes` bytes among the first `devices` devices. Nothing
/// where the algorithm cannot be used: halving-doubling and tree need a power of two, the
/// hierarchical one several whole servers.
std::optional<Time> timeOfAllReduce(const Cluster &cluster, Algorithm algorithm, double bytes,
                                    uint32_t devices);

/// An algorithm and its time.
struct Choice {
  Algorithm algorithm = Algorithm::Ring;
  Time time;
};
/// Returns the fastest of `allowed` for an all_reduce.
Choice chooseAllReduce(const Cluster &cluster, double bytes, uint32_t devices,
                       const std::vector<Algorithm> &allowed);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_NETWORK_H
