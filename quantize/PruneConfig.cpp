//===-- PruneConfig.cpp - the settings of pruning -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/PruneConfig.h"

#include "frontends/ModelFile.h"
#include "quantize/SettingsReader.h"
#include "quantize/SettingsText.h"

#include <algorithm>

namespace atc::quantize {

namespace {

using Json = nlohmann::json;

class Reader : public SettingsReader {
public:
  using SettingsReader::SettingsReader;

  void readTop(const Json &json, PruneConfig &config);

private:
  void readLayers(const Json &json, PruneConfig &config);
  void readSearch(const Json &json, PruneConfig &config);
  void readOverridingFile(const std::string &text, const std::string &path, PruneConfig &config);
  void readPruning(const Json &json, const std::string &path, LayerPruning &layer);
  void readFilterPruner(const Json &json, const std::string &path, LayerPruning &layer);
  void readSelectivePruner(const Json &json, const std::string &path, LayerPruning &layer);
  void readOverrides(const Json &json, const std::string &key, const char *nameKey,
                     std::map<std::string, LayerPruning> &into);
};

void Reader::readFilterPruner(const Json &json, const std::string &path, LayerPruning &layer) {
  layer.kind = PruneKind::Channels;
  bool hasRatio = false;
  for (const auto &[key, value] : json.items()) {
    const std::string inner = path + "." + key;
    if (key == "prune_ratio") {
      hasRatio = true;
      if (value.is_number() && value.get<double>() >= 0 && value.get<double>() < 1)
        layer.ratio = value.get<double>();
      else
        addError(inner, "must be a number from 0 to below 1");
    } else if (key == "ascend_optimized") {
      readBool(value, inner, layer.ascendOptimized);
    } else {
      addUnknown(inner);
    }
  }
  if (!hasRatio)
    addError(path, "must have a prune_ratio");
}

void Reader::readSelectivePruner(const Json &json, const std::string &path, LayerPruning &layer) {
  layer.kind = PruneKind::TwoOfFour;
  for (const auto &[key, value] : json.items()) {
    const std::string inner = path + "." + key;
    if (key == "n_out_of_m_type") {
      if (value != "M4N2" && value != 0)
        addError(inner, "must be M4N2: two of four weights stay");
    } else if (key == "update_freq") {
      if (value != 0)
        addError(inner, "must be 0: the choice is made once, as nothing is trained");
    } else {
      addUnknown(inner);
    }
  }
}

void Reader::readPruning(const Json &json, const std::string &path, LayerPruning &layer) {
  if (!isObject(json, path))
    return;
  if (json.size() != 1)
    addError(path, "must have one of filter_pruner and n_out_of_m_pruner");
  for (const auto &[key, value] : json.items()) {
    const std::string inner = path + "." + key;
    const bool isFilter = key == "filter_pruner";
    if (!isFilter && key != "n_out_of_m_pruner") {
      addUnknown(inner);
      continue;
    }
    if (!isObject(value, inner))
      continue;
    for (const auto &[algorithm, settings] : value.items()) {
      const std::string at = inner + "." + algorithm;
      if (algorithm != (isFilter ? "balanced_l2_norm_filter_prune" : "l1_selective_prune"))
        addUnknown(at);
      else if (isObject(settings, at))
        isFilter ? readFilterPruner(settings, at, layer) : readSelectivePruner(settings, at, layer);
    }
  }
}

void Reader::readOverrides(const Json &json, const std::string &key, const char *nameKey,
                           std::map<std::string, LayerPruning> &into) {
  for (const Json &item : json.is_array() ? json : Json::array({json})) {
    if (!isObject(item, key))
      continue;
    if (!item.contains(nameKey) || !item.contains("prune_config")) {
      addError(key, std::string("must have a ") + nameKey + " and a prune_config");
      continue;
    }
    std::set<std::string> names;
    LayerPruning layer;
    for (const auto &[inner, value] : item.items()) {
      if (inner == nameKey)
        readNames(value, key + "." + inner, names);
      else if (inner == "prune_config")
        readPruning(value, key + "." + inner, layer);
      else
        addError(key + "." + inner, "is not supported: models are not retrained here");
    }
    for (const std::string &each : names)
      into[each] = layer;
  }
}

/// Reads the settings of the search for ratios.
void Reader::readSearch(const Json &json, PruneConfig &config) {
  config.common.kind = PruneKind::Channels;
  for (const auto &[key, value] : json.items()) {
    if (key == "compress_ratio") {
      if (double ratio = 0; readNumber(value, key, 1, 1000, ratio))
        config.compressRatio = ratio;
    } else if (key == "max_prune_ratio") {
      readNumber(value, key, 0, 1, config.maxRatio);
    } else if (key == "test_iteration") {
      if (double count = 0; readNumber(value, key, 1, 1e9, count))
        config.numSamples = static_cast<int64_t>(count);
    } else if (key == "ascend_optimized") {
      readBool(value, key, config.common.ascendOptimized);
    } else if (key == "override_prune_cfg") {
      if (std::string path; readText(value, key, path))
        if (auto buffer = readWholeFile(path, diagnostics))
          readOverridingFile(buffer->getBuffer().str(), path, config);
    } else {
      addUnknown(key);
    }
  }
}

/// Reads the settings of layers that the search leaves alone.
void Reader::readOverridingFile(const std::string &text, const std::string &path,
                                PruneConfig &config) {
  Json json;
  if (!parseSettings(text, path, json, diagnostics))
    return;
  Reader inner(path, diagnostics);
  if (json.contains("prune_config") || json.contains("compress_ratio"))
    inner.addError("prune_config", "must not be in a file of override_prune_cfg, which has only "
                                   "layers to skip and to override");
  else
    inner.readLayers(json, config);
}

void Reader::readTop(const Json &json, PruneConfig &config) {
  if (json.contains("compress_ratio")) {
    readSearch(json, config);
    return;
  }
  readLayers(json, config);
  if (!config.has(PruneKind::Channels) && !config.has(PruneKind::TwoOfFour) &&
      !diagnostics.hasErrors())
    addError("prune_config", "is missing: nothing would be pruned");
}

void Reader::readLayers(const Json &json, PruneConfig &config) {
  for (const auto &[key, value] : json.items()) {
    if (key == "prune_config")
      readPruning(value, key, config.common);
    else if (key == "skip_layers" || key == "regular_prune_skip_layers")
      readNames(value, key, config.skipLayers);
    else if (key == "skip_layer_types" || key == "regular_prune_skip_types")
      readNames(value, key, config.skipTypes);
    else if (key == "override_layer_configs")
      readOverrides(value, key, "layer_name", config.layers);
    else if (key == "override_layer_types")
      readOverrides(value, key, "layer_type", config.types);
    else if (key.starts_with("retrain_") || key.starts_with("quant_skip_") || key == "batch_num" ||
             key == "fakequant_precision_mode")
      addError(key, "is not supported: it is for training with quantization; prune first, then "
                    "quantize the result with `amct calibrate`");
    else
      addUnknown(key);
  }
  if (config.has(PruneKind::Channels) && config.has(PruneKind::TwoOfFour))
    addError("prune_config", "cannot have filter_pruner and n_out_of_m_pruner at once: prune "
                             "channels first, and the result again");
}

} // namespace

LayerPruning PruneConfig::of(const std::string &node, const std::string &type) const {
  if (skipLayers.count(node) || skipTypes.count(type))
    return {};
  if (auto own = layers.find(node); own != layers.end())
    return own->second;
  auto ofType = types.find(type);
  return ofType == types.end() ? common : ofType->second;
}

void PruneConfig::resolve(const NodeAliases &aliases) {
  resolveNames(skipLayers, aliases);
  resolveNames(layers, aliases);
}

bool PruneConfig::has(PruneKind kind) const {
  auto matches = [&](const auto &entry) { return entry.second.kind == kind; };
  return common.kind == kind || std::any_of(types.begin(), types.end(), matches) ||
         std::any_of(layers.begin(), layers.end(), matches);
}

bool parsePruneConfig(const std::string &text, const std::string &name, PruneConfig &config,
                      Diagnostics &diagnostics) {
  const unsigned before = diagnostics.numErrors();
  Json json;
  if (parseSettings(text, name, json, diagnostics))
    Reader(name, diagnostics).readTop(json, config);
  return diagnostics.numErrors() == before;
}

bool readPruneConfig(const std::string &path, PruneConfig &config, Diagnostics &diagnostics) {
  auto buffer = readWholeFile(path, diagnostics);
  return buffer && parsePruneConfig(buffer->getBuffer().str(), path, config, diagnostics);
}

} // namespace atc::quantize
