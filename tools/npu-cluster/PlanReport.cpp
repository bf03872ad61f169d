//===-- PlanReport.cpp - plans for a network on a cluster -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/npu-cluster/PlanReport.h"

#include "cluster/Planner.h"
#include "cluster/program/StageProgram.h"
#include "npu/soc/Soc.h"
#include "support/ErrorCodes.h"
#include "support/InputJson.h"
#include "support/InputText.h"
#include "support/JsonText.h"
#include "support/OneLine.h"
#include "tools/common/Print.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

namespace atc::tools {

using cluster::Chain;
using cluster::Plan;
using cluster::PlanSearch;
using Json = nlohmann::ordered_json;

int fail(const std::string &line) {
  print(stderr, "%s\n", oneLine(line).c_str());
  return 1;
}

namespace {

/// A plan leaves this share of the memory to the runtime and to buffers of messages.
constexpr double kReserved = 0.05;

std::string divisionOf(const Plan &plan) {
  return "tp:" + std::to_string(plan.tensor) + ",pp:" + std::to_string(plan.pipeline) +
         ",dp:" + std::to_string(plan.data);
}

/// Returns the name of how the activations of the layers are kept.
std::string keepingOf(const Plan &plan) {
  return plan.modes.empty() ? nameOf(plan.recompute) : "mixed";
}

/// Counts the layers of each stage by how their activations are kept.
Json countModes(const Plan &plan) {
  Json stages = Json::array();
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const size_t end =
        cluster::endOfStage(plan.stages, stage, static_cast<uint32_t>(plan.modes.size()));
    Json counts = Json::object();
    for (size_t layer = plan.stages[stage]; layer < end; ++layer) {
      Json &count = counts[nameOf(plan.modes[layer])];
      count = count.is_null() ? 1 : count.get<int>() + 1;
    }
    stages.push_back(counts);
  }
  return stages;
}

Json jsonOf(const Plan &plan, const Chain &chain, bool isTraining) {
  const auto &time = plan.time;
  const auto &memory = plan.memory;
  Json json = {{"parallel", divisionOf(plan)},
               {"tp", plan.tensor},
               {"pp", plan.pipeline},
               {"dp", plan.data},
               {"micro_batch", plan.microBatch},
               {"micro_batches", plan.microBatches},
               {"recompute", keepingOf(plan)},
               {"zero", nameOf(plan.zero)},
               {"offload_optimizer", plan.offloadOptimizer},
               {"stages", plan.stages},
               {"step_ms", time.total() * 1e3},
               {"samples_per_second", chain.batch / time.total()},
               {"time_ms",
                {{"compute", time.compute * 1e3},
                 {"tensor", time.tensor * 1e3},
                 {"bubble", time.bubble * 1e3},
                 {"pipeline", time.pipeline * 1e3},
                 {"data", time.data * 1e3},
                 {"host", time.host * 1e3}}},
               {"memory_bytes",
                {{"weights", memory.weights},
                 {"gradients", memory.gradients},
                 {"optimizer", memory.optimizer},
                 {"activations", memory.activations},
                 {"states", memory.states},
                 {"total", memory.total()},
                 {"host", memory.host}}}};
  if (!plan.modes.empty()) {
    json["layers_of_stages"] = countModes(plan);
    json["alike_step_ms"] = plan.alikeSeconds * 1e3;
    json["variables"] = plan.variables;
  }
  json["purpose"] = isTraining ? "training" : "inference";
  json["layers"] = chain.layers.size();
  return json;
}

/// Reads what convertWeights needs of a plan that --json has printed.
std::optional<Plan> readPlan(const std::string &path, size_t layers, std::string &error) {
  std::string text;
  error = readInputText(path, text);
  if (!error.empty())
    return std::nullopt;
  Plan plan;
  Json json;
  if (error = parseInputJson(text, json); !error.empty()) {
    error = "it " + error;
    return std::nullopt;
  }
  try {
    const Json &chosen = json.contains("plans") ? json.at("plans").at(0) : json;
    plan.tensor = chosen.at("tp").get<uint32_t>();
    plan.pipeline = chosen.at("pp").get<uint32_t>();
    plan.data = chosen.at("dp").get<uint32_t>();
    plan.stages = chosen.at("stages").get<std::vector<uint32_t>>();
    if (chosen.at("layers").get<size_t>() != layers)
      error = "it is about a network of another number of layers";
  } catch (const Json::exception &exception) {
    error = exception.what();
  }
  const bool ascends = std::is_sorted(plan.stages.begin(), plan.stages.end());
  if (error.empty() && (plan.tensor < 1 || plan.tensor > 65536 || plan.stages.empty() ||
                        plan.stages.size() != plan.pipeline || plan.stages.front() != 0 ||
                        plan.stages.back() >= layers || !ascends))
    error = "its stages are no division of the network";
  if (!error.empty())
    return std::nullopt;
  return plan;
}

void printPlans(const PlanSearch &search, const Chain &chain, const cluster::Device &device,
                const PlanOptions &options) {
  const Plan &best = search.best.front();
  print(stdout, "%s, batch %g, %s on %u devices: %s\n\n", chain.name.c_str(), chain.batch,
        options.isTraining ? "training" : "inference", best.devices(), divisionOf(best).c_str());
  print(stdout, "%-22s %10s %9s %9s %9s %9s %9s %9s %9s  %-9s %-10s %s\n", "plan", "step ms",
        "compute", "tensor", "bubble", "pipeline", "data", "host", "GB", "micro", "recompute",
        "ZeRO");
  for (const Plan &plan : search.best)
    print(stdout, "%-22s %10.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f  %-9s %-10s %s%s\n",
          divisionOf(plan).c_str(), plan.time.total() * 1e3, plan.time.compute * 1e3,
          plan.time.tensor * 1e3, plan.time.bubble * 1e3, plan.time.pipeline * 1e3,
          plan.time.data * 1e3, plan.time.host * 1e3, plan.memory.total() * 1e-9,
          (std::to_string(plan.microBatches) + " x " +
           std::to_string(static_cast<uint64_t>(plan.microBatch)))
              .c_str(),
          keepingOf(plan).c_str(), nameOf(plan.zero), plan.offloadOptimizer ? ", offload" : "");
  print(stdout,
        "\nmemory of the fullest device: weights %.2f, gradients %.2f, optimizer %.2f, activations "
        "%.2f, states %.2f GB of %.2f GB\n",
        best.memory.weights * 1e-9, best.memory.gradients * 1e-9, best.memory.optimizer * 1e-9,
        best.memory.activations * 1e-9, best.memory.states * 1e-9, device.memoryBytes * 1e-9);
  if (best.memory.host > 0)
    print(stdout, "and %.2f GB in the memory of its server\n", best.memory.host * 1e-9);
  if (!best.modes.empty()) {
    print(stdout,
          "an integer program of %u variables has chosen for each layer what the backward pass "
          "computes again or reads from the server; the best plan whose layers are alike takes "
          "%.1f %% longer\n",
          best.variables, 100 * (best.alikeSeconds / best.time.total() - 1));
    const Json stages = countModes(best);
    for (size_t stage = 0; stage < stages.size(); ++stage)
      print(stdout, "stage %zu: %s\n", stage, stages[stage].dump().c_str());
  }
  if (search.best.size() > 1) {
    const Plan &next = search.best[1];
    print(stdout, "the next best, %s, takes %.1f %% longer\n", divisionOf(next).c_str(),
          100 * (next.time.total() / best.time.total() - 1));
  }
  print(stdout, "%llu plans were considered, %llu of them need more memory than a device has\n",
        static_cast<unsigned long long>(search.considered),
        static_cast<unsigned long long>(search.overMemory));
}

/// Lists for each rank of a replica of `to` the weights that it reads from ranks of `from`.
Json listSources(const Plan &from, const Plan &to, const Chain &chain) {
  Json ranks = Json::array();
  for (uint32_t rank = 0; rank < to.tensor * to.pipeline; ++rank) {
    Json reads = Json::array();
    for (const auto &source :
         convertWeights(from, to, rank, static_cast<uint32_t>(chain.layers.size())))
      reads.push_back({{"rank", source.rank},
                       {"layers", {source.firstLayer, source.endLayer}},
                       {"share", {source.from, source.to}}});
    ranks.push_back({{"rank", rank}, {"reads", reads}});
  }
  return ranks;
}

} // namespace

void addPlanOptions(CLI::App &app, std::string &purpose, PlanOptions &options) {
  app.add_option("--plan", purpose,
                 "divide the network, a transformer or a chain of layers, among the devices of the "
                 "cluster (or --devices=N of them) for this purpose")
      ->check(CLI::IsMember({"training", "inference"}));
  app.add_option("--batch", options.batch,
                 "samples of a step over all devices (default: those of the network's file)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000000));
  app.add_option("--plans", options.count, "the number of plans that are shown (default 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--convert", options.convert,
                 "a plan that --json has printed: say from which of its ranks each rank of the new "
                 "plan reads its weights")
      ->type_name("FILE");
}

int reportPlans(const cluster::Cluster &cluster, const std::string &text, const std::string &path,
                const PlanOptions &options) {
  std::string error;
  auto chain = cluster::parseChain(text, error);
  if (!chain)
    return fail(codedLine("E13018", "the file '" + path + "' cannot be used: " + error));
  if (options.batch)
    chain->batch = options.batch;
  const npu::SocTable *soc = npu::findSoc(cluster.soc);
  if (!soc)
    return fail(codedLine("E13018", "the cluster's soc '" + cluster.soc + "' is not known"));
  const double hertz = static_cast<double>(soc->mhz) * 1e6;
  cluster::Device device;
  device.macsPerSecond =
      static_cast<double>(soc->cubeCores) * soc->macsPerCycle(npu::DataType::F16) * hertz;
  device.bytesPerSecond = static_cast<double>(soc->cubeCores) * soc->ddrRate() * hertz;
  device.memoryBytes =
      (1 - kReserved) *
      static_cast<double>(cluster.memoryBytes ? cluster.memoryBytes : soc->gmBytes);
  const uint32_t devices = options.devices ? options.devices : cluster.devices();
  const auto purpose =
      options.isTraining ? cluster::Purpose::Training : cluster::Purpose::Inference;
  PlanSearch search =
      cluster::searchPlans(cluster, device, *chain, purpose, devices, options.count);
  if (options.isTraining)
    cluster::mixLayers(search, cluster, device, *chain);
  if (search.best.empty()) {
    std::ostringstream reason;
    reason.precision(3);
    reason << "no division of '" << chain->name << "' over " << devices
           << " devices fits: a device has " << device.memoryBytes * 1e-9 << " GB for a plan";
    if (search.considered)
      reason << ", but needs at least " << search.minBytes * 1e-9
             << " GB: take more devices or a smaller batch";
    else
      reason << ", and no tp, pp, dp with this product divides its heads, layers and batch";
    return fail(codedLine("E10061", reason.str()));
  }
  std::optional<Plan> from;
  if (!options.convert.empty()) {
    from = readPlan(options.convert, chain->layers.size(), error);
    if (!from)
      return fail(
          codedLine("E13018", "the plan '" + options.convert + "' cannot be used: " + error));
  }
  if (!options.json) {
    printPlans(search, *chain, device, options);
    if (from)
      print(stdout, "from %s:\n", divisionOf(*from).c_str());
  }
  Json json = {{"network", chain->name},
               {"devices", devices},
               {"device_memory_bytes", device.memoryBytes},
               {"considered", search.considered},
               {"over_memory", search.overMemory},
               {"plans", Json::array()}};
  for (const Plan &plan : search.best)
    json["plans"].push_back(jsonOf(plan, *chain, options.isTraining));
  if (from)
    json["conversion"] = listSources(*from, search.best.front(), *chain);
  if (options.json)
    printLines(stdout, jsonText(json));
  else if (from)
    for (const Json &rank : json["conversion"])
      for (const Json &read : rank["reads"])
        print(stdout, "rank %s reads layers %s, share %s of rank %s\n", rank["rank"].dump().c_str(),
              read["layers"].dump().c_str(), read["share"].dump().c_str(),
              read["rank"].dump().c_str());
  return 0;
}

} // namespace atc::tools
