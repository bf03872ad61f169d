//===-- PlanCosts.h - time and memory of a plan's stages --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CLUSTER_PLANCOSTS_H
#define OPENATC_CLUSTER_PLANCOSTS_H

#include "cluster/Planner.h"

#include <algorithm>

namespace atc::cluster {

/// Returns the seconds of an all_reduce of `bytes` bytes among `count` devices whose numbers are
/// `stride` apart, while all other such groups do the same: the fastest of a ring, a tree, and a
/// ring inside servers with one across them.
double secondsOfGroup(const Cluster &cluster, double bytes, uint32_t count, uint32_t stride);

/// The costs of runs of layers [first, end) under a division, in constant time each. All fields of
/// the plan but stages, memory and time are given.
class PlanCosts {
public:
  PlanCosts(const Cluster &cluster, const Device &device, const Chain &chain, Purpose purpose,
            const Plan &plan);

  uint32_t layers() const { return static_cast<uint32_t>(chain.layers.size()); }
  /// Returns the seconds that one micro-batch takes in a stage, forward and, in training, backward.
  double stageSeconds(uint32_t first, uint32_t end) const {
    return std::max(workSeconds(first, end), copySeconds(first, end));
  }
  /// Returns the part of that time in which the device computes and reduces.
  double workSeconds(uint32_t first, uint32_t end) const {
    return compute[end] - compute[first] + tensor[end] - tensor[first];
  }
  /// Returns the time that copies to and from the server's memory take beside it.
  double copySeconds(uint32_t first, uint32_t end) const {
    return offloaded.back() > 0
               ? 2 * (offloaded[end] - offloaded[first]) / cluster.host.bytesPerSecond
               : 0;
  }
  /// Returns the bytes that a device of stage number `stage` needs.
  PlanMemory stageMemory(uint32_t first, uint32_t end, uint32_t stage) const;
  /// Returns whether they are there, on the device and in the server.
  bool fits(uint32_t first, uint32_t end, uint32_t stage) const {
    const PlanMemory memory = stageMemory(first, end, stage);
    return memory.total() <= device.memoryBytes &&
           (cluster.hostBytes <= 0 || memory.host <= cluster.hostBytes);
  }
  /// Returns the bytes of the activations of the layer that is computed, a part of stageMemory.
  double workspaceBytes() const { return workspace; }
  /// Returns the times of the whole step for the given stages.
  PlanTime stepTime(const std::vector<uint32_t> &stages) const;
  /// Returns a lower bound of the seconds of a step, whatever the stages are.
  double lowerBound() const;
  /// Returns a lower bound of the bytes per device, whatever the stages are.
  double minBytes() const;

private:
  using Sums = std::vector<double>; ///< element i is the sum over the layers before layer i
  Sums sumOf(double (PlanCosts::*value)(const ChainLayer &, Recompute) const) const;
  double computeSeconds(const ChainLayer &layer, Recompute mode) const;
  double tensorSeconds(const ChainLayer &layer, Recompute mode) const;
  double keptBytes(const ChainLayer &layer, Recompute mode) const;
  double offloadedBytes(const ChainLayer &layer, Recompute mode) const;
  double parametersOf(const ChainLayer &layer, Recompute) const {
    return layer.parameters / plan.tensor;
  }
  double statesOf(const ChainLayer &layer, Recompute) const {
    return layer.stateBytes * plan.microBatch / plan.tensor;
  }
  double dataSeconds(uint32_t first, uint32_t end) const;

  const Cluster &cluster;
  const Device &device;
  const Chain &chain;
  const Purpose purpose;
  const Plan plan;
  bool hasTokens = false; ///< a step of inference is one token per sample
  double workspace = 0;   ///< bytes of the layer that needs the most while it is computed
  Sums compute, tensor, kept, offloaded, parameters, states;
};

/// Divides the chain into stages whose slowest one is fastest, each within the memory, by dynamic
/// programming. Returns the first layer of each stage, or nothing where no division fits.
std::vector<uint32_t> divideChain(const PlanCosts &costs, uint32_t stages);

/// Sets time and memory of a plan whose stages are known; `costs` are its own.
void finishPlan(const PlanCosts &costs, Plan &plan);

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_PLANCOSTS_H
