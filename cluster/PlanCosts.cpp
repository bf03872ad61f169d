//===-- PlanCosts.cpp - time and memory of a plan's stages ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/PlanCosts.h"

#include <algorithm>
#include <cmath>

namespace atc::cluster {

double secondsOfGroup(const Cluster &cluster, double bytes, uint32_t count, uint32_t stride) {
  if (count <= 1 || bytes <= 0)
    return 0;
  // The members inside a server, and the servers.
  const uint32_t near = std::clamp(cluster.devicesPerServer / stride, 1u, count);
  const uint32_t far = (count + near - 1) / near;
  const double farRate = cluster.network.bytesPerSecond / cluster.oversubscription;
  const double latency = far > 1 ? cluster.network.latencySeconds : cluster.local.latencySeconds;
  const double rate =
      far > 1 ? std::min(farRate, cluster.local.bytesPerSecond) : cluster.local.bytesPerSecond;
  auto ring = [](double n, double a, double size, double b) {
    return 2 * (n - 1) * (a + size / n / b);
  };
  const double levels =
      ring(near, cluster.local.latencySeconds, bytes, cluster.local.bytesPerSecond) +
      ring(far, cluster.network.latencySeconds, bytes / near, farRate);
  const double tree = 2 * std::ceil(std::log2(count)) * (latency + bytes / rate);
  return std::min({ring(count, latency, bytes, rate), levels, tree});
}

PlanCosts::PlanCosts(const Cluster &cluster, const Device &device, const Chain &chain,
                     Purpose purpose, const Plan &plan)
    : cluster(cluster), device(device), chain(chain), purpose(purpose), plan(plan) {
  for (const ChainLayer &layer : chain.layers) {
    hasTokens |= purpose == Purpose::Inference && layer.tokenMacs > 0;
    const double computed = purpose == Purpose::Training
                                ? layer.keptBytes / plan.tensor + layer.keptWholeBytes
                                : 4 * layer.outputBytes;
    workspace = std::max(workspace, computed * plan.microBatch);
  }
  compute = sumOf(&PlanCosts::computeSeconds);
  tensor = sumOf(&PlanCosts::tensorSeconds);
  kept = sumOf(&PlanCosts::keptBytes);
  offloaded = sumOf(&PlanCosts::offloadedBytes);
  parameters = sumOf(&PlanCosts::parametersOf);
  states = sumOf(&PlanCosts::statesOf);
}

PlanCosts::Sums PlanCosts::sumOf(double (PlanCosts::*value)(const ChainLayer &, Recompute)
                                     const) const {
  Sums sums = {0};
  for (size_t i = 0; i < chain.layers.size(); ++i)
    sums.push_back(sums.back() + (this->*value)(chain.layers[i], plan.modes.empty()
                                                                     ? plan.recompute
                                                                     : plan.modes[i]));
  return sums;
}

/// Returns the longer of arithmetic and of reading the weights (and a token's cache).
double PlanCosts::computeSeconds(const ChainLayer &layer, Recompute mode) const {
  const double rate = device.macsPerSecond * device.utilization * plan.tensor;
  const double bytes = device.bytesPerSecond * plan.tensor;
  const double weights = layer.parameters * chain.weightBytes / bytes;
  if (purpose == Purpose::Inference) {
    const double macs = (hasTokens ? layer.tokenMacs : layer.macs) * plan.microBatch;
    const double read = hasTokens ? layer.stateBytes * plan.microBatch / bytes : 0;
    return std::max(macs / rate, weights + read);
  }
  // Forward, the gradients of inputs and of weights, and what is computed again.
  double passes = 3 * layer.macs;
  if (mode == Recompute::Full)
    passes += layer.macs;
  else if (mode == Recompute::Selective)
    passes += layer.recomputedMacs;
  return std::max(passes * plan.microBatch / rate, 3 * weights);
}

double PlanCosts::tensorSeconds(const ChainLayer &layer, Recompute mode) const {
  if (layer.reductions <= 0)
    return 0;
  const double share = hasTokens ? 1 / chain.tokens : 1;
  const double bytes = layer.reducedBytes / layer.reductions * plan.microBatch * share;
  const double passes = purpose == Purpose::Inference ? 1 : mode == Recompute::Full ? 3 : 2;
  return passes * layer.reductions * secondsOfGroup(cluster, bytes, plan.tensor, 1);
}

/// Returns the bytes of activations that a micro-batch leaves for its backward pass.
double PlanCosts::keptBytes(const ChainLayer &layer, Recompute mode) const {
  if (purpose == Purpose::Inference || mode == Recompute::Offload)
    return 0;
  if (mode == Recompute::Full)
    return layer.outputBytes * plan.microBatch;
  const double again = mode == Recompute::Selective ? layer.recomputedBytes : 0;
  return ((layer.keptBytes - again) / plan.tensor + layer.keptWholeBytes) * plan.microBatch;
}

/// Returns the bytes that a micro-batch leaves in the memory of the server instead.
double PlanCosts::offloadedBytes(const ChainLayer &layer, Recompute mode) const {
  return purpose == Purpose::Training && mode == Recompute::Offload
             ? keptBytes(layer, Recompute::None)
             : 0;
}

PlanMemory PlanCosts::stageMemory(uint32_t first, uint32_t end, uint32_t stage) const {
  PlanMemory memory;
  const double count = parameters[end] - parameters[first];
  memory.weights = count * chain.weightBytes;
  memory.states = purpose == Purpose::Inference ? states[end] - states[first] : 0;
  memory.activations = workspace;
  if (purpose == Purpose::Inference)
    return memory;
  memory.gradients = count * chain.gradientBytes / (plan.zero == Zero::Gradients ? plan.data : 1);
  const double optimizer = count * chain.optimizerBytes / (plan.zero == Zero::None ? 1 : plan.data);
  (plan.offloadOptimizer ? memory.host : memory.optimizer) = optimizer;
  // A stage begins as many forward passes before the first backward pass as stages follow.
  const double begun = std::min(plan.microBatches, plan.pipeline - stage);
  memory.activations += begun * (kept[end] - kept[first]);
  if (const double copied = offloaded[end] - offloaded[first]; copied > 0) {
    // The next layer's are on their way while one is computed.
    memory.activations += workspace;
    memory.host += begun * copied;
  }
  return memory;
}

/// Returns the seconds of reducing a stage's gradients and of its update that nothing hides.
double PlanCosts::dataSeconds(uint32_t first, uint32_t end) const {
  const double count = parameters[end] - parameters[first], shares = plan.data;
  const double all =
      secondsOfGroup(cluster, count * chain.gradientBytes, plan.data, plan.tensor * plan.pipeline);
  // All but the first layer's gradients can be sent while the backward pass goes on.
  const double backward = (compute[end] - compute[first]) * 2 / 3;
  const double hides = backward * (1 - 1.0 / (end - first));
  const double sent = count * (chain.weightBytes + chain.gradientBytes);
  const double state = count * 2 * chain.optimizerBytes;
  const double update = plan.offloadOptimizer ? sent / cluster.host.bytesPerSecond +
                                                    (state + sent) / cluster.hostBytesPerSecond
                                              : (state + sent) / device.bytesPerSecond;
  switch (plan.zero) {
  case Zero::None:
    return std::max(0.0, all - hides) + update;
  case Zero::Optimizer: // reduce_scatter of gradients, all_gather of weights
    return std::max(0.0, all / 2 - hides) + update / shares + all / 2;
  case Zero::Gradients: // a reduce_scatter per micro-batch
    return plan.microBatches * std::max(0.0, all / 2 - hides) + update / shares + all / 2;
  }
  return 0;
}

PlanTime PlanCosts::stepTime(const std::vector<uint32_t> &stages) const {
  PlanTime time;
  double message = 0, slowest = 0;
  uint32_t slow = 0;
  const bool isLocal = plan.tensor * plan.pipeline <= cluster.devicesPerServer;
  const Link &link = isLocal ? cluster.local : cluster.network;
  auto endOf = [&](uint32_t stage) { return endOfStage(stages, stage, layers()); };
  for (uint32_t stage = 0; stage < stages.size(); ++stage) {
    const uint32_t first = stages[stage], end = endOf(stage);
    if (stage > 0) {
      const double bytes = chain.layers[first - 1].outputBytes * plan.microBatch *
                           (hasTokens ? 1 / chain.tokens : 1);
      message = std::max(message, link.latencySeconds + bytes / link.bytesPerSecond);
    }
    if (const double own = stageSeconds(first, end); own > slowest) {
      slowest = own;
      slow = stage;
    }
    if (purpose == Purpose::Training)
      time.data = std::max(time.data, dataSeconds(first, end));
  }
  const double hops = static_cast<double>(stages.size() - 1);
  if (purpose == Purpose::Inference) {
    time.compute = compute.back();
    time.tensor = tensor.back();
    time.pipeline = hops * message;
    return time;
  }
  const double runs = plan.microBatches;
  time.compute = runs * (compute[endOf(slow)] - compute[stages[slow]]);
  time.tensor = runs * (tensor[endOf(slow)] - tensor[stages[slow]]);
  time.host = runs * (slowest - workSeconds(stages[slow], endOf(slow)));
  time.bubble = hops * slowest;
  // Messages overlap with other micro-batches as far as a stage takes longer than they do.
  time.pipeline = 2 * hops * message + runs * std::max(0.0, 2 * message - slowest);
  return time;
}

double PlanCosts::lowerBound() const {
  const double all = compute.back() + tensor.back();
  if (purpose == Purpose::Inference)
    return all;
  return all / plan.pipeline * (plan.microBatches + plan.pipeline - 1);
}

double PlanCosts::minBytes() const {
  const PlanMemory all = stageMemory(0, layers(), plan.pipeline - 1);
  return workspace + (all.total() - workspace) / plan.pipeline;
}

} // namespace atc::cluster
