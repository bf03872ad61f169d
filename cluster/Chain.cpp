//===-- Chain.cpp - networks for the planner ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/Planner.h"

#include "support/InputJson.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace atc::cluster {

using Json = nlohmann::json;

namespace {

/// Reads numbers of a JSON object; the first error is an exception of the JSON library.
class Numbers {
public:
  Numbers(const Json &object, std::string where) : object(object), where(std::move(where)) {
    if (!object.is_object())
      fail("is no object");
  }
  /// Returns a required number above 0.
  double required(const char *name) {
    if (!object.contains(name))
      fail("has no field '" + std::string(name) + "'");
    return optional(name, 0);
  }
  double optional(const char *name, double otherwise) {
    known.insert(name);
    if (!object.contains(name))
      return otherwise;
    const Json &field = object.at(name);
    if (!field.is_number() || !(field.get<double>() > 0) || field.get<double>() > 1e18)
      fail("'" + std::string(name) + "' must be a number above 0");
    return field.get<double>();
  }
  uint32_t whole(const char *name, double otherwise = 0, double highest = 1e6) {
    const double value = otherwise > 0 ? optional(name, otherwise) : required(name);
    if (value != std::floor(value) || value > highest)
      fail("'" + std::string(name) + "' must be a whole number of at most " +
           std::to_string(static_cast<uint64_t>(highest)));
    return static_cast<uint32_t>(value);
  }
  bool flag(const char *name) {
    known.insert(name);
    if (!object.contains(name))
      return false;
    if (!object.at(name).is_boolean())
      fail("'" + std::string(name) + "' must be true or false");
    return object.at(name).get<bool>();
  }
  std::string text(const char *name, const std::string &otherwise) {
    known.insert(name);
    if (!object.contains(name))
      return otherwise;
    if (!object.at(name).is_string())
      fail("'" + std::string(name) + "' must be a text");
    return object.at(name).get<std::string>();
  }
  void skip(const char *name) { known.insert(name); }
  /// Reports fields that nothing reads.
  void end() {
    for (const auto &[name, value] : object.items())
      if (!known.count(name))
        fail("'" + name + "' is no field of it");
  }
  [[noreturn]] void fail(const std::string &what) {
    throw Json::other_error::create(501, where + ": " + what, &object);
  }

private:
  const Json &object;
  const std::string where;
  std::set<std::string> known;
};

/// Adds the layers of a decoder or encoder: a table of words, equal layers, and the product with
/// the table. The activations are those of Korthikanti et al., "Reducing Activation Recomputation
/// in Large Transformer Models", for f16 and without sequence parallelism.
void addTransformer(const Json &object, Chain &chain) {
  Numbers numbers(object, "transformer");
  const uint32_t layers = numbers.whole("layers", 0, 1022);
  const double hidden = numbers.whole("hidden");
  const uint32_t heads = numbers.whole("heads", 0, 65536);
  const uint32_t keyHeads = numbers.whole("key_value_heads", heads, 65536);
  const double words = numbers.whole("vocabulary", 0, 1e8);
  const double tokens = numbers.whole("sequence", 0, 1e8);
  const bool gated = numbers.flag("gated");
  const double inner = numbers.whole("intermediate", std::floor(4 * hidden), 1e7);
  numbers.end();
  if (keyHeads > heads || heads % keyHeads)
    numbers.fail("'key_value_heads' must divide 'heads'");
  if (std::fmod(hidden, heads) != 0)
    numbers.fail("'heads' must divide 'hidden'");
  const double keys = hidden * keyHeads / heads, plane = tokens * hidden;
  chain.tokens = tokens;

  ChainLayer table;
  table.name = "embedding";
  table.parameters = words * hidden;
  table.keptWholeBytes = tokens * 8;
  table.outputBytes = 2 * plane;
  table.reducedBytes = 2 * plane;
  table.reductions = 1;
  chain.layers.push_back(table);

  ChainLayer layer;
  const double products =
      2 * hidden * hidden + 2 * hidden * keys + (gated ? 3 : 2) * hidden * inner;
  const double scores = tokens * tokens * hidden; // of one of the two products of the attention
  layer.parameters = products + 4 * hidden;
  layer.macs = tokens * products + 2 * scores;
  layer.tokenMacs = products + 2 * tokens * hidden;
  layer.recomputedBytes = 5.0 * heads * tokens * tokens;
  layer.recomputedMacs = 2 * scores;
  layer.keptBytes = 8 * plane + 4 * tokens * inner * (gated ? 1.5 : 1) + layer.recomputedBytes;
  layer.keptWholeBytes = 10 * plane;
  layer.outputBytes = 2 * plane;
  layer.reducedBytes = 2 * 2 * plane;
  layer.reductions = 2;
  layer.stateBytes = 2 * 2 * tokens * keys;
  layer.divisibleBy = keyHeads;
  for (uint32_t i = 0; i < layers; ++i) {
    layer.name = "layer" + std::to_string(i);
    chain.layers.push_back(layer);
  }

  ChainLayer head;
  head.name = "head";
  head.parameters = words * hidden;
  head.macs = tokens * words * hidden;
  head.tokenMacs = words * hidden;
  head.keptBytes = 4 * tokens * words;
  head.keptWholeBytes = 2 * plane;
  chain.layers.push_back(head);
}

void addLayer(const Json &object, Chain &chain) {
  Numbers numbers(object, "layer " + std::to_string(chain.layers.size()));
  ChainLayer layer;
  layer.name = numbers.text("name", "layer" + std::to_string(chain.layers.size()));
  layer.macs = numbers.required("macs");
  layer.parameters = numbers.optional("parameters", 0);
  layer.outputBytes = numbers.optional("output_bytes", 0);
  layer.keptBytes = numbers.optional("kept_bytes", layer.outputBytes);
  layer.reducedBytes = numbers.optional("reduced_bytes", layer.outputBytes);
  layer.reductions = 1;
  // Without it a layer is not divided.
  layer.divisibleBy = numbers.whole("divisible_by", 1, 65536);
  numbers.end();
  chain.layers.push_back(layer);
}

} // namespace

std::optional<Chain> parseChain(const std::string &text, std::string &error) {
  Json json;
  if (error = parseInputJson(text, json); !error.empty()) {
    error = "it " + error;
    return std::nullopt;
  }
  Chain chain;
  try {
    Numbers numbers(json, "network");
    chain.name = numbers.text("name", "network");
    chain.batch = numbers.whole("batch", 1, 1e7);
    chain.weightBytes = numbers.optional("weight_bytes", chain.weightBytes);
    chain.gradientBytes = numbers.optional("gradient_bytes", chain.gradientBytes);
    chain.optimizerBytes = numbers.optional("optimizer_bytes", chain.optimizerBytes);
    numbers.skip("transformer");
    numbers.skip("layers");
    numbers.end();
    if (json.contains("transformer") == json.contains("layers"))
      numbers.fail("needs either 'transformer' or 'layers'");
    if (json.contains("transformer"))
      addTransformer(json.at("transformer"), chain);
    else
      for (const Json &layer : json.at("layers"))
        addLayer(layer, chain);
  } catch (const Json::exception &exception) {
    // Behind the library's own prefix, "[json.exception.other_error.501] ".
    const std::string what = exception.what();
    const size_t prefix = what.find("] ");
    error = prefix == std::string::npos ? what : what.substr(prefix + 2);
    return std::nullopt;
  }
  if (chain.layers.empty() || chain.layers.size() > 1024) {
    error = "a network has 1 to 1024 layers";
    return std::nullopt;
  }
  return chain;
}

} // namespace atc::cluster
