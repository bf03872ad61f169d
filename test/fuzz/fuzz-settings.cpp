//===-- fuzz-settings.cpp - no settings file crashes its reader -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first byte of an input chooses the reader of the others: 0 the lines and the JSON of
// a file that a flag of atc names, 1 a message in text form (atc --mode=1), 2 a
// configuration of amct, 3 its record of scales, 4 a training step, 5 a cluster, 6 a network for
// its planner, 7 one for data-parallel training, 8 a bank of tuned choices, 9 a manifest of ranks,
// 10 tensors that ranks divide.

#include "cluster/DataParallel.h"
#include "cluster/Planner.h"
#include "driver/shard/ShardCompiler.h"
#include "driver/training/TrainingOptions.h"
#include "frontends/TextMessage.h"
#include "quantize/Config.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/Outcome.h"
#include "tools/atc/GraphJson.h"
#include "tools/atc/SettingsFile.h"
#include "tools/om-run/Manifest.h"
#include "tuning/Bank.h"

using namespace atc;

static bool readSettings(const std::string &path, Diagnostics &diagnostics) {
  auto file = tools::SettingsFile::read("keep_dtype", path, diagnostics);
  if (!file)
    return false;
  for (const tools::SettingsLine &line : file->lines())
    if (line.text.empty())
      std::abort();
  return !file->looksLikeJson() || file->json(diagnostics);
}

/// Plans what could be read, on few devices: their number only changes how long that takes.
static void planChain(const cluster::Chain &chain) {
  cluster::Cluster cluster;
  cluster.servers = 2;
  cluster.devicesPerServer = 4;
  cluster.local = {"a", 30e9, 2e-6};
  cluster.network = {"b", 12.5e9, 5e-6};
  const cluster::Device device = {1e14, 1e12, 3e10};
  for (const cluster::Purpose purpose : {cluster::Purpose::Training, cluster::Purpose::Inference}) {
    const cluster::PlanSearch search = cluster::searchPlans(cluster, device, chain, purpose, 8, 3);
    for (const cluster::Plan &plan : search.best)
      if (plan.devices() != 8 || plan.stages.size() != plan.pipeline)
        std::abort();
  }
}

/// Returns whether a bank was read; one that was is written and read again with the same content.
static bool readBank(const std::string &text, std::string &errorText) {
  tuning::Bank bank, again;
  if (!bank.read(text, "fuzz", errorText))
    return false;
  std::string unexpected;
  if (!again.read(bank.text(), "again", unexpected) || again.text() != bank.text())
    std::abort();
  return true;
}

/// Returns 0 where `read`; an error has to say why not.
static int answer(bool read, const std::string &errorText) {
  if (read != errorText.empty())
    std::abort();
  return read ? 0 : -1;
}

/// Returns 0 for files without an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return -1;
  const fuzz::MemoryFile file(data + 1, size - 1);
  const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  Diagnostics diagnostics;
  std::string errorText;
  bool read = false;
  switch (data[0] % 11) {
  case 0:
    read = readSettings(file.path(), diagnostics);
    break;
  case 1:
    read = !tools::describeTextMessage(file.path(), diagnostics).is_null();
    break;
  case 2: {
    quantize::QuantConfig config;
    read = quantize::parseConfig(text, "fuzz.cfg", config, diagnostics);
    break;
  }
  case 3:
    return parseTextMessage(text, errorText) ? 0 : -1;
  case 4:
    read = driver::parseTrainingOptions(text, "fuzz.json", diagnostics).has_value();
    break;
  case 5:
    return answer(cluster::parseCluster(text, errorText).has_value(), errorText);
  case 6: {
    const auto chain = cluster::parseChain(text, errorText);
    if (chain && chain->layers.size() <= 64)
      planChain(*chain);
    return answer(chain.has_value(), errorText);
  }
  case 7: {
    const auto network = cluster::parseNetwork(text, errorText);
    if (network)
      cluster::simulateStep(*cluster::parseCluster("{}", errorText), *network, 8,
                            {{cluster::Algorithm::Ring}, true, 1e6});
    return answer(network.has_value(), errorText);
  }
  case 8:
    return answer(readBank(text, errorText), errorText);
  case 9: {
    tools::Manifest manifest;
    return answer(tools::readManifest(file.path(), manifest, errorText), errorText);
  }
  case 10: {
    driver::ShardRequest request;
    read = driver::readShardTensors(file.path(), request, diagnostics);
    break;
  }
  }
  return fuzz::checkOutcome(read, diagnostics);
}
