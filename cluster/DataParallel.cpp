//===-- DataParallel.cpp - data-parallel training on a cluster ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/DataParallel.h"

#include "support/InputJson.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace atc::cluster {

using Json = nlohmann::json;

/// The maximum of a number of the file, and of the parameters of all layers: so many slices of
/// their gradients can be counted.
static constexpr double kMaxNumber = 1e18, kMaxParameters = 1e15;

/// Returns a number of at least 0; throws an exception of the JSON library otherwise.
static double number(const Json &object, const char *name) {
  const double value = object.at(name).get<double>();
  if (!(value >= 0 && value <= kMaxNumber))
    throw Json::other_error::create(
        501, std::string("'") + name + "' must be at least 0 and at most 1e18", &object);
  return value;
}

std::optional<Network> parseNetwork(const std::string &text, std::string &error) {
  Json json;
  if (error = parseInputJson(text, json); !error.empty()) {
    error = "it " + error;
    return std::nullopt;
  }
  Network network;
  try {
    network.name = json.at("name").get<std::string>();
    network.batch = number(json, "batch");
    const double forward = number(json, "forward_ms") * 1e-3;
    const double ratio = json.contains("backward_ratio") ? number(json, "backward_ratio") : 2;
    double macs = 0, parameters = 0;
    for (const Json &layer : json.at("layers"))
      macs += number(layer, "macs");
    for (const Json &layer : json.at("layers")) {
      const double own = macs > 0 ? forward * number(layer, "macs") / macs : 0;
      network.layers.push_back(
          {layer.at("name").get<std::string>(), own, own * ratio, number(layer, "parameters") * 4});
      parameters += number(layer, "parameters");
    }
    if (parameters > kMaxParameters)
      throw Json::other_error::create(501, "the layers have more than 1e15 parameters", &json);
  } catch (const Json::exception &problem) {
    error = problem.what();
    return std::nullopt;
  }
  if (network.layers.empty()) {
    error = "it has no layers";
    return std::nullopt;
  }
  return network;
}

Step simulateStep(const Cluster &cluster, const Network &network, uint32_t devices,
                  const Techniques &techniques) {
  Step step;
  double forward = 0, backward = 0;
  for (const Layer &layer : network.layers) {
    forward += layer.forwardSeconds;
    backward += layer.backwardSeconds;
  }
  step.compute = forward + backward;
  double now = forward, free = 0, waiting = 0;
  // The choices that were already computed, by size: the same few sizes occur many times.
  std::map<double, Choice> known;
  auto reduce = [&](double bytes, double ready, double count) {
    auto [at, isNew] = known.try_emplace(bytes);
    if (isNew)
      at->second = chooseAllReduce(cluster, bytes, devices, techniques.algorithms);
    const Choice &choice = at->second;
    free =
        std::max(free, techniques.overlap ? ready : step.compute) + count * choice.time.seconds();
    step.communication += count * choice.time.seconds();
    step.latency += count * choice.time.latency;
    step.reductions += uint32_t(count);
    step.algorithms[nameOf(choice.algorithm)] += uint32_t(count);
  };
  for (auto layer = network.layers.rbegin(); layer != network.layers.rend(); ++layer) {
    now += layer->backwardSeconds;
    waiting += layer->parameterBytes;
    if (techniques.sliceBytes > 0 && waiting >= techniques.sliceBytes) {
      reduce(techniques.sliceBytes, now, std::floor(waiting / techniques.sliceBytes));
      waiting = std::fmod(waiting, techniques.sliceBytes);
    }
  }
  if (waiting > 0)
    reduce(waiting, now, 1);
  step.seconds = std::max(step.compute, free);
  step.exposed = step.seconds - step.compute;
  return step;
}

double chooseSlice(const Cluster &cluster, const Network &network, uint32_t devices,
                   Techniques techniques) {
  double best = 0, seconds = 1e300;
  for (int megabytes = 1; megabytes <= 128; megabytes *= 2) {
    techniques.sliceBytes = megabytes * 1e6;
    const double own = simulateStep(cluster, network, devices, techniques).seconds;
    if (own < seconds) {
      seconds = own;
      best = techniques.sliceBytes;
    }
  }
  return best;
}

} // namespace atc::cluster
