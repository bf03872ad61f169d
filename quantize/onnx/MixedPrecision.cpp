//===-- MixedPrecision.cpp - int8 as far as a budget allows ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/MixedPrecision.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace atc::quantize {

namespace {

/// Returns the cosine similarity of the least similar output.
double worstCosine(const ErrorReport &report) {
  double worst = 1;
  for (const TensorComparison &output : report.outputs)
    worst = std::min(worst, output.cosine);
  return worst;
}

/// Returns the names of the quantized layers, that with the least similar input first. Errors
/// accumulate along the graph, so these are the layers that the outputs depend on most.
std::vector<std::string> rankLayers(const Quantization &result) {
  std::map<std::string, double> similarity;
  for (const TensorComparison &tensor : result.report.tensors)
    similarity[tensor.name] = tensor.sqnr;
  std::vector<std::pair<double, std::string>> ranked;
  for (const LayerEntry &layer : result.calibration.table.layers) {
    auto known = similarity.find(layer.input);
    ranked.emplace_back(known == similarity.end() ? 0 : known->second,
                        layer.node.empty() ? layer.output : layer.node);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto &[sqnr, name] : ranked)
    names.push_back(std::move(name));
  return names;
}

} // namespace

std::unique_ptr<MixedQuantization>
quantizeToCosine(const OnnxModel &model, const QuantizeOptions &options, double minCosine,
                 OpenData open, mlir::MLIRContext &context, Diagnostics &diagnostics) {
  assert(options.compare && "the budget is one of the comparison");
  std::vector<std::string> ranked;
  // Attempts `count` layers in float; null after an error.
  auto attempt = [&](size_t count) -> std::unique_ptr<Quantization> {
    QuantizeOptions attempted = options;
    attempted.config.skipLayers.insert(ranked.begin(), ranked.begin() + count);
    std::unique_ptr<DataSource> data = open();
    return quantizeOnnx(std::make_unique<OnnxModel>(model), attempted, *data, context, diagnostics);
  };
  auto mixed = std::make_unique<MixedQuantization>();
  mixed->result = attempt(0);
  if (!mixed->result)
    return nullptr;
  double best = worstCosine(mixed->result->report);
  if (best >= minCosine)
    return mixed;
  ranked = rankLayers(*mixed->result);
  mixed->result = nullptr;
  // The least count in [low, high) that meets the budget, as far as more float never harms.
  size_t low = 1, high = ranked.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    auto result = attempt(middle);
    if (!result)
      return nullptr;
    const double cosine = worstCosine(result->report);
    best = std::max(best, cosine);
    if (cosine >= minCosine) {
      mixed->result = std::move(result);
      mixed->floatLayers.assign(ranked.begin(), ranked.begin() + middle);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (mixed->result)
    return mixed;
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%g; the best was %.6f", minCosine, best);
  diagnostics.error("E10014", "no layer of '" + options.name +
                                  "' can be int8 so that all outputs have the cosine similarity " +
                                  numbers + ": give a smaller one, or more samples");
  return nullptr;
}

} // namespace atc::quantize
