//===-- Manifest.cpp - the files of a model that was split over ranks -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/om-run/Manifest.h"

#include "support/ErrorCodes.h"
#include "support/InputJson.h"
#include "support/InputText.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace atc::tools {

/// The maximum of atc --parallel.
static constexpr size_t kMaxRanks = 4096;

/// Fills in the manifest; throws an exception of the JSON library where a field is missing or of
/// another type.
static std::string read(const nlohmann::json &json, const std::filesystem::path &folder,
                        Manifest &manifest) {
  if (json.at("format") != "openatc-ranks")
    return "its format is not openatc-ranks";
  if (json.at("version") != 1)
    return "its version is not 1: it was written by another atc";
  manifest.model = json.at("model").get<std::string>();
  for (const auto &[axis, count] : json.at("parallel").items())
    manifest.parallel +=
        (manifest.parallel.empty() ? "" : ",") + axis + ":" + std::to_string(count.get<uint32_t>());
  for (const nlohmann::json &rank : json.at("ranks")) {
    manifest.files.push_back((folder / rank.at("file").get<std::string>()).string());
    manifest.identities.push_back(rank.value("identity", std::string()));
  }
  manifest.inputs = json.at("inputs").get<std::vector<std::string>>();
  for (const nlohmann::json &output : json.at("outputs"))
    manifest.outputs.push_back(
        {output.at("name").get<std::string>(), output.at("rank").get<uint32_t>()});
  if (manifest.files.empty())
    return "it has no ranks";
  if (manifest.files.size() > kMaxRanks)
    return "it has more than " + std::to_string(kMaxRanks) + " ranks";
  for (const Manifest::Output &output : manifest.outputs)
    if (output.rank >= manifest.files.size())
      return "output '" + output.name + "' has a rank that there is not";
  return "";
}

bool readManifest(const std::string &path, Manifest &manifest, std::string &error) {
  manifest.path = path;
  std::string text, reason = readInputText(path, text);
  nlohmann::json json;
  if (reason.empty())
    reason = parseInputJson(text, json);
  if (reason.empty()) {
    try {
      reason = read(json, std::filesystem::path(path).parent_path(), manifest);
    } catch (const nlohmann::json::exception &problem) {
      reason = problem.what();
    }
  }
  if (!reason.empty())
    error = codedLine("E13005", "the manifest '" + path + "' cannot be used: " + reason +
                                    "; compile the model again with atc --parallel.");
  return reason.empty();
}

} // namespace atc::tools
