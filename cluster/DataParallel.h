//===-- DataParallel.h - data-parallel training on a cluster ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CLUSTER_DATAPARALLEL_H
#define OPENATC_CLUSTER_DATAPARALLEL_H

#include "cluster/Network.h"

#include <map>

namespace atc::cluster {

/// A layer of a network: its times on one device, and its parameters, of which the gradients have
/// the size.
struct Layer {
  std::string name;
  double forwardSeconds = 0, backwardSeconds = 0, parameterBytes = 0;
};

struct Network {
  std::string name;
  double batch = 0; ///< per device
  std::vector<Layer> layers;
};

/// Returns the network that the JSON `text` describes (docs/sharding.md); nothing, and a sentence
/// in `error`, where it describes none.
std::optional<Network> parseNetwork(const std::string &text, std::string &error);

/// The techniques of a training step.
struct Techniques {
  std::vector<Algorithm> algorithms = {Algorithm::Ring};
  bool overlap = false;  ///< gradients are reduced while the backward pass goes on
  double sliceBytes = 0; ///< of gradients that are reduced together; 0: all of them at once
};

/// The times of a training step in seconds.
struct Step {
  double seconds = 0, compute = 0;
  double communication = 0, latency = 0; ///< sum over all reductions, and its part of latencies
  double exposed = 0; ///< of the communication that the computation does not hide
  uint32_t reductions = 0;
  std::map<std::string, uint32_t> algorithms; ///< how often each is used
  /// Returns the part of the step that is computation, from 0 to 1.
  double efficiency() const { return seconds > 0 ? compute / seconds : 1; }
  /// Returns what bounds the step: "compute", "bandwidth" or "latency".
  const char *bound() const {
    return exposed < 0.05 * compute      ? "compute"
           : latency > communication / 2 ? "latency"
                                         : "bandwidth";
  }
};

/// Simulates a step on the first `devices` devices: the forward pass, then layer by layer from the
/// last one the backward pass; reductions run one after the other on the network.
Step simulateStep(const Cluster &cluster, const Network &network, uint32_t devices,
                  const Techniques &techniques);

/// Returns the size of slices from 1 to 128 MB with which the step is fastest.
double chooseSlice(const Cluster &cluster, const Network &network, uint32_t devices,
                   Techniques techniques);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_DATAPARALLEL_H
