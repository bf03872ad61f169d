//===-- ShardRequest.cpp - how a model is to be split ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/Cluster.h"
#include "driver/shard/ShardCompiler.h"
#include "support/InputText.h"
#include "support/TextDepth.h"

#include "llvm/Support/JSON.h"

using namespace llvm;

namespace atc::driver {

static constexpr int64_t maxRanks = 4096;

/// Reads a text file; nothing after an error.
static std::optional<std::string> readFile(const std::string &path, StringRef flag,
                                           Diagnostics &diagnostics) {
  std::string text;
  const std::string reason = readInputText(path, text);
  if (reason.empty())
    return text;
  diagnostics.error("E10410",
                    "the file \"" + path + "\" of " + flag.str() + " cannot be read: " + reason);
  return std::nullopt;
}

std::optional<ShardRequest> readParallel(const std::string &text, const std::string &clusterFile,
                                         Diagnostics &diagnostics) {
  std::optional<cluster::Cluster> cluster;
  if (!clusterFile.empty()) {
    std::optional<std::string> json = readFile(clusterFile, "--cluster", diagnostics);
    if (!json)
      return std::nullopt;
    std::string error;
    cluster = cluster::parseCluster(*json, error);
    if (!cluster) {
      diagnostics.error("E13018", "the file \"" + clusterFile + "\" of --cluster cannot be used: " +
                                      error + " (docs/sharding.md describes it)");
      return std::nullopt;
    }
  }
  ShardRequest request;
  if (text == "auto") {
    if (!cluster) {
      diagnostics.error("E10057", "--parallel=auto needs --cluster: the file that says how many "
                                  "devices there are");
      return std::nullopt;
    }
    if (cluster->devices() > maxRanks) {
      diagnostics.error("E10061", "the cluster of --cluster has " +
                                      std::to_string(cluster->devices()) + " devices, at most " +
                                      std::to_string(maxRanks) + " can be ranks of one model");
      return std::nullopt;
    }
    request.automatic = cluster;
  } else {
    SmallVector<StringRef> items;
    StringRef(text).split(items, ',');
    for (StringRef item : items) {
      auto [name, number] = item.trim().split(':');
      int64_t *value = name == "tp"   ? &request.tensor
                       : name == "pp" ? &request.pipeline
                       : name == "dp" ? &request.data
                                      : nullptr;
      int64_t count;
      if (!value || number.getAsInteger(10, count) || count < 1 || count > maxRanks) {
        diagnostics.error("E10001", "the value \"" + text +
                                        "\" of --parallel is invalid: write auto, or a list such "
                                        "as tp:2,pp:2,dp:1 of numbers from 1 to " +
                                        std::to_string(maxRanks));
        return std::nullopt;
      }
      *value = count;
    }
  }
  if (request.ranks() > maxRanks) {
    diagnostics.error("E10001", "the value \"" + text + "\" of --parallel is invalid: it has " +
                                    std::to_string(request.ranks()) + " ranks, at most " +
                                    std::to_string(maxRanks) + " are allowed");
    return std::nullopt;
  }
  if (cluster && request.ranks() > cluster->devices()) {
    diagnostics.error("E10061", "--parallel has " + std::to_string(request.ranks()) +
                                    " ranks, but the cluster of --cluster has " +
                                    std::to_string(cluster->devices()) + " devices");
    return std::nullopt;
  }
  return request;
}

bool readShardTensors(const std::string &path, ShardRequest &request, Diagnostics &diagnostics) {
  std::optional<std::string> text = readFile(path, "--shard_tensors", diagnostics);
  if (!text)
    return false;
  Expected<json::Value> value = isJsonTooDeep(*text)
                                    ? createStringError("it " + depthReason(kMaxJsonDepth))
                                    : json::parse(*text);
  const json::Object *object = value ? value->getAsObject() : nullptr;
  const std::string reason = value ? "it is no object" : toString(value.takeError());
  if (!object) {
    diagnostics.error("E13018", "the file \"" + path + "\" of --shard_tensors cannot be used: " +
                                    reason + "; write {\"name of a tensor\": dim}");
    return false;
  }
  for (const auto &[name, dim] : *object) {
    std::optional<int64_t> number = dim.getAsInteger();
    if (!number || *number < -1 || *number > 64) {
      diagnostics.error("E13018", "the file \"" + path + "\" of --shard_tensors cannot be used: '" +
                                      name.str() +
                                      "' needs the number of a dim, or -1 to keep it whole");
      return false;
    }
    request.tensors.push_back(name.str() + "=" + std::to_string(*number));
  }
  return true;
}

} // namespace atc::driver
