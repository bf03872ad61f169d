//===-- npu-cluster.cpp - training on many simulated devices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/DataParallel.h"
#include "openatc/om.h"
#include "support/ErrorCodes.h"
#include "support/InputText.h"
#include "support/Interruption.h"
#include "support/JsonText.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Print.h"
#include "tools/npu-cluster/PlanReport.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace atc;
using namespace atc::tools;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string cluster, network, plan;
  PlanOptions plans;
  std::vector<uint32_t> devices = {8, 16, 32, 64, 128, 256, 384, 512, 1024, 2048, 4096};
  uint32_t explain = 384;
  bool json = false;
};

/// The techniques of training, each with those before it.
std::vector<std::pair<const char *, cluster::Techniques>>
listTechniques(const cluster::Cluster &cluster, const cluster::Network &network, uint32_t devices) {
  cluster::Techniques plain, chosen, overlap, sliced;
  chosen.algorithms.assign(std::begin(cluster::allAlgorithms), std::end(cluster::allAlgorithms));
  overlap = sliced = chosen;
  overlap.overlap = sliced.overlap = true;
  sliced.sliceBytes = cluster::chooseSlice(cluster, network, devices, sliced);
  return {{"one ring at the end", plain},
          {"algorithm by cost", chosen},
          {"overlap", overlap},
          {"slices of gradients", sliced}};
}

cluster::Cluster resized(cluster::Cluster cluster, uint32_t devices) {
  cluster.devicesPerServer = std::min(cluster.devicesPerServer, devices);
  cluster.servers = (devices + cluster.devicesPerServer - 1) / cluster.devicesPerServer;
  return cluster;
}

std::string algorithmsOf(const cluster::Step &step) {
  std::string text;
  for (const auto &[name, count] : step.algorithms)
    text += (text.empty() ? "" : ", ") + name + " x" + std::to_string(count);
  return text;
}

Json jsonOf(const cluster::Step &step, uint32_t devices, const cluster::Network &network) {
  return {{"devices", devices},
          {"step_ms", step.seconds * 1e3},
          {"compute_ms", step.compute * 1e3},
          {"communication_ms", step.communication * 1e3},
          {"exposed_ms", step.exposed * 1e3},
          {"efficiency", step.efficiency()},
          {"samples_per_second", network.batch * devices / step.seconds},
          {"reductions", step.reductions},
          {"algorithms", step.algorithms},
          {"bound", step.bound()}};
}

int run(const Options &options) {
  std::string text, error;
  if (error = readInputText(options.cluster, text); !error.empty())
    return fail(codedLine("E10410", "the file '" + options.cluster + "' cannot be read: " + error));
  const auto cluster = cluster::parseCluster(text, error);
  if (!cluster)
    return fail(codedLine("E13018", "the file '" + options.cluster + "' cannot be used: " + error));
  if (error = readInputText(options.network, text); !error.empty())
    return fail(codedLine("E10410", "the file '" + options.network + "' cannot be read: " + error));
  if (!options.plan.empty())
    return reportPlans(*cluster, text, options.network, options.plans);
  const auto network = cluster::parseNetwork(text, error);
  if (!network)
    return fail(codedLine("E13018", "the file '" + options.network + "' cannot be used: " + error));

  Json json = {{"network", network->name},
               {"batch_per_device", network->batch},
               {"sweep", Json::array()},
               {"techniques", Json::array()}};
  if (!options.json)
    print(stdout, "%s, batch %g per device, data-parallel\n\n%8s %10s %12s %12s %10s  %-10s %s\n",
          network->name.c_str(), network->batch, "devices", "step ms", "exchange ms", "exposed ms",
          "linear", "bound by", "all_reduce");
  for (uint32_t devices : options.devices) {
    const cluster::Cluster sized = resized(*cluster, devices);
    const auto techniques = listTechniques(sized, *network, devices);
    const cluster::Step step =
        cluster::simulateStep(sized, *network, devices, techniques.back().second);
    if (options.json)
      json["sweep"].push_back(jsonOf(step, devices, *network));
    else
      print(stdout, "%8u %10.3f %12.3f %12.3f %9.1f%%  %-10s %s\n", devices, step.seconds * 1e3,
            step.communication * 1e3, step.exposed * 1e3, 100 * step.efficiency(), step.bound(),
            algorithmsOf(step).c_str());
  }
  if (!options.json)
    print(stdout, "\nWhat each technique is worth on %u devices:\n%-22s %10s %12s %10s\n",
          options.explain, "with", "step ms", "exposed ms", "linear");
  const cluster::Cluster sized = resized(*cluster, options.explain);
  for (const auto &[name, techniques] : listTechniques(sized, *network, options.explain)) {
    const cluster::Step step = cluster::simulateStep(sized, *network, options.explain, techniques);
    if (options.json) {
      json["techniques"].push_back(jsonOf(step, options.explain, *network));
      json["techniques"].back()["with"] = name;
      json["techniques"].back()["slice_bytes"] = techniques.sliceBytes;
    } else {
      print(stdout, "%-22s %10.3f %12.3f %9.1f%%\n", name, step.seconds * 1e3, step.exposed * 1e3,
            100 * step.efficiency());
    }
  }
  if (options.json)
    printLines(stdout, jsonText(json));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  atc::endInOrder("npu-cluster");
  Options options;
  CLI::App app("Simulates data-parallel training on a cluster of devices: what a step takes, what "
               "bounds it, and what overlap and slices of gradients are worth. With --plan it "
               "divides a network among the devices.");
  app.set_version_flag("--version", std::string("npu-cluster ") + om_version());
  app.add_option("cluster", options.cluster, "the .json file of the cluster (docs/sharding.md)")
      ->required();
  app.add_option("network", options.network,
                 "the .json file of the network: its layers, and the time of a forward pass")
      ->required();
  app.add_option("--devices", options.devices, "numbers of devices (default 8 to 4096)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(1, 65536));
  app.add_option("--explain", options.explain,
                 "the number of devices for which each technique is shown (default 384)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  app.add_flag("--json", options.json, "print one JSON object instead of tables");
  addPlanOptions(app, options.plan, options.plans);
  if (std::optional<int> code = parseCommandLine(app, "npu-cluster", argc, argv))
    return *code;
  options.plans.json = options.json;
  options.plans.isTraining = options.plan == "training";
  if (app.count("--devices"))
    options.plans.devices = options.devices.front();
  return finishOutput(run(options));
}
