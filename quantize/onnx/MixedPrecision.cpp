//===-- MixedPrecision.cpp - int8 as far as a budget allows ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/MixedPrecision.h"

#include "quantize/onnx/SwitchedModel.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <numeric>

namespace atc::quantize {

namespace {

/// The number of samples that rank the layers. The search that follows uses all compared ones.
constexpr size_t kRankingSamples = 2;

/// Returns the cosine similarity of the least similar output.
double worstCosine(const ErrorReport &report) {
  double worst = 1;
  for (const TensorComparison &output : report.outputs)
    worst = std::min(worst, output.cosine);
  return worst;
}

class MixedQuantizer {
public:
  MixedQuantizer(const Quantization &all, const QuantizeOptions &options, double minCosine,
                 mlir::MLIRContext &context, Diagnostics &diagnostics)
      : all(all), options(options), minCosine(minCosine), context(context),
        diagnostics(diagnostics), best(worstCosine(all.report)) {}

  std::unique_ptr<Quantization> run();

private:
  size_t numLayers() const { return all.calibration.table.layers.size(); }
  bool rank();
  std::optional<size_t> predict(size_t low, size_t high, double wanted);
  std::optional<double> estimate(size_t count);
  std::unique_ptr<Quantization> attempt(size_t count);

  const Quantization &all;
  const QuantizeOptions &options;
  const double minCosine;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  double best;
  std::unique_ptr<SwitchedModel> switched;
  std::vector<size_t> ranked; ///< indices of layers; that to leave float first comes first
  std::map<size_t, double> estimates;
};

/// Ranks the layers by the error that each alone adds to the outputs that miss the budget, divided
/// by what is lost when it stays float: its shares of the operations and of the layers.
bool MixedQuantizer::rank() {
  const Calibration &calibration = all.calibration;
  const auto &kept = calibration.kept.samples;
  if (!switched->setSamples(kept, std::min(kept.size(), kRankingSamples), diagnostics))
    return false;
  const double allMacs =
      std::accumulate(calibration.layerMacs.begin(), calibration.layerMacs.end(), 0.0);
  std::vector<double> gains;
  for (size_t layer = 0; layer < numLayers(); ++layer) {
    std::vector<bool> isInt8(numLayers(), false);
    isInt8[layer] = true;
    const auto cosines = switched->measure(isInt8, diagnostics);
    if (!cosines)
      return false;
    double error = 0;
    for (size_t i = 0; i < cosines->size(); ++i)
      if (all.report.outputs[i].cosine < minCosine)
        error += 1 - (*cosines)[i];
    const double share = allMacs > 0 ? calibration.layerMacs[layer] / allMacs : 0;
    gains.push_back(error / (share + 1.0 / numLayers()));
  }
  ranked.resize(numLayers());
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  return switched->setSamples(kept, kept.size(), diagnostics);
}

/// Returns the worst cosine that the switches give with the first `count` layers in float.
std::optional<double> MixedQuantizer::estimate(size_t count) {
  if (auto known = estimates.find(count); known != estimates.end())
    return known->second;
  std::vector<bool> isInt8(numLayers(), true);
  for (size_t i = 0; i < count; ++i)
    isInt8[ranked[i]] = false;
  const auto cosines = switched->measure(isInt8, diagnostics);
  if (!cosines)
    return std::nullopt;
  double worst = 1;
  for (double cosine : *cosines)
    worst = std::min(worst, cosine);
  return estimates[count] = worst;
}

/// Returns the least count in [low, high] whose estimate is at least `wanted`, as far as more
/// float layers never reduce it; `high` where there is none below.
std::optional<size_t> MixedQuantizer::predict(size_t low, size_t high, double wanted) {
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto cosine = estimate(middle);
    if (!cosine)
      return std::nullopt;
    if (*cosine >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Quantizes with the first `count` layers in float.
std::unique_ptr<Quantization> MixedQuantizer::attempt(size_t count) {
  const Calibration &calibration = all.calibration;
  QuantizeOptions attempted = options;
  std::vector<std::string> names;
  double floatMacs = 0, allMacs = 0;
  for (size_t i = 0; i < numLayers(); ++i) {
    const LayerEntry &layer = calibration.table.layers[ranked[i]];
    allMacs += calibration.layerMacs[ranked[i]];
    if (i >= count)
      continue;
    floatMacs += calibration.layerMacs[ranked[i]];
    names.push_back(layer.node.empty() ? layer.output : layer.node);
  }
  attempted.config.skipLayers.insert(names.begin(), names.end());
  auto result = quantizeSubset(all, attempted, context, diagnostics);
  if (!result)
    return nullptr;
  result->report.floatLayers = std::move(names);
  result->report.floatMacs = allMacs > 0 ? floatMacs / allMacs : 0;
  best = std::max(best, worstCosine(result->report));
  return result;
}

std::unique_ptr<Quantization> MixedQuantizer::run() {
  switched = SwitchedModel::compile(all, options.name, context, diagnostics);
  if (!switched || !rank())
    return nullptr;
  std::unique_ptr<Quantization> met;
  // The least count that meets the budget is in [low, high], as far as more float never harms. The
  // estimates are off by what is quantized between layers, which every attempt tells anew.
  size_t low = 1, high = numLayers();
  double offset = worstCosine(all.report);
  if (const auto estimated = estimate(0))
    offset -= *estimated;
  for (int attempts = 0; low < high; ++attempts) {
    auto count = predict(low, high, minCosine - offset);
    if (!count)
      return nullptr;
    if (*count == high && met)
      break; // one less would miss, as far as the estimate knows
    // Predictions that do not close the interval give way to halves.
    if (*count == high || attempts > 2)
      *count = low + (high - low) / 2;
    auto result = attempt(*count);
    const auto estimated = result ? estimate(*count) : std::nullopt;
    if (!estimated)
      return nullptr;
    const double cosine = worstCosine(result->report);
    offset = cosine - *estimated;
    if (cosine >= minCosine) {
      met = std::move(result);
      high = *count;
    } else {
      low = *count + 1;
    }
  }
  if (met)
    return met;
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%g; the best was %.6f", minCosine, best);
  diagnostics.error("E10014", "no layer of '" + options.name +
                                  "' can be int8 so that all outputs have the cosine similarity " +
                                  numbers + ": give a smaller one, or more samples");
  return nullptr;
}

} // namespace

std::unique_ptr<Quantization> quantizeToCosine(std::unique_ptr<OnnxModel> model,
                                               const QuantizeOptions &options, double minCosine,
                                               DataSource &data, mlir::MLIRContext &context,
                                               Diagnostics &diagnostics) {
  assert(options.compare && "the budget is one of the comparison");
  auto all = quantizeOnnx(std::move(model), options, data, context, diagnostics);
  if (!all || worstCosine(all->report) >= minCosine)
    return all;
  return MixedQuantizer(*all, options, minCosine, context, diagnostics).run();
}

} // namespace atc::quantize
