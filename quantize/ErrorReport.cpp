//===-- ErrorReport.cpp - how far the quantized model is from float -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/ErrorReport.h"

#include "support/JsonText.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace atc::quantize {

void ComparisonSums::add(llvm::ArrayRef<float> right, llvm::ArrayRef<float> ours) {
  for (size_t i = 0, n = std::min(right.size(), ours.size()); i < n; ++i) {
    const double x = right[i], y = ours[i], difference = x - y;
    product += x * y;
    rightSquares += x * x;
    oursSquares += y * y;
    errorSquares += difference * difference;
    // NaN counts as the worst error.
    largest = std::isfinite(difference) ? std::max(largest, std::fabs(difference))
                                        : std::numeric_limits<double>::infinity();
  }
}

TensorComparison ComparisonSums::result(const std::string &name) const {
  TensorComparison comparison{name, 1, std::numeric_limits<double>::infinity(), largest};
  const double lengths = std::sqrt(rightSquares) * std::sqrt(oursSquares);
  if (lengths > 0)
    comparison.cosine = product / lengths;
  else
    comparison.cosine = rightSquares == oursSquares ? 1 : 0;
  if (!std::isfinite(comparison.cosine))
    comparison.cosine = 0;
  if (!(errorSquares == 0))
    comparison.sqnr = rightSquares > 0 && std::isfinite(errorSquares)
                          ? 10 * std::log10(rightSquares / errorSquares)
                          : -std::numeric_limits<double>::infinity();
  return comparison;
}

bool compareModels(HostModel &right, HostModel &ours, size_t numOutputs,
                   const std::vector<ComparedTensor> &tensors, NextSample next, ErrorReport &report,
                   Diagnostics &diagnostics) {
  std::vector<ComparisonSums> ofTensors(tensors.size()), ofOutputs(numOutputs);
  while (const std::vector<::om::Buffer> *sample = next()) {
    if (!right.run(*sample, diagnostics) || !ours.run(*sample, diagnostics))
      return false;
    ++report.samples;
    for (size_t i = 0; i < tensors.size(); ++i)
      ofTensors[i].add(right.floats(tensors[i].right), ours.floats(tensors[i].ours));
    for (size_t i = 0; i < numOutputs; ++i)
      ofOutputs[i].add(right.floats(i), ours.floats(i));
  }
  if (diagnostics.hasErrors())
    return false;
  for (size_t i = 0; i < tensors.size(); ++i)
    report.tensors.push_back(ofTensors[i].result(tensors[i].name));
  // Outputs that are not floats (the index of a maximum) have no cosine.
  for (size_t i = 0; i < numOutputs; ++i)
    if (right.outputs()[i].dtype == OM_F32)
      report.outputs.push_back(ofOutputs[i].result(right.outputs()[i].name));
  return true;
}

std::string floatLayersText(const ErrorReport &report) {
  char line[128];
  std::snprintf(line, sizeof line,
                "%zu layer%s (%.1f %% of the multiply-accumulates) stay%s float:",
                report.floatLayers.size(), report.floatLayers.size() == 1 ? "" : "s",
                report.floatMacs * 100, report.floatLayers.size() == 1 ? "s" : "");
  std::string text = line;
  for (const std::string &name : report.floatLayers)
    text += " " + printable(name);
  return text;
}

std::string reportText(const ErrorReport &report) {
  auto shown = [](const TensorComparison &each) { return shortened(printable(each.name), 28, 32); };
  size_t width = 6;
  for (const auto *list : {&report.tensors, &report.outputs})
    for (const TensorComparison &each : *list)
      width = std::max(width, columnsOf(shown(each)));
  std::string text;
  char line[256];
  auto table = [&](const char *title, const std::vector<TensorComparison> &list) {
    std::snprintf(line, sizeof line, "  %10s  %9s  %11s\n", "cosine", "SQNR dB", "max error");
    text += padded(title, width) + line;
    for (const TensorComparison &each : list) {
      std::snprintf(line, sizeof line, "  %10.6f  %9.2f  %11.4g\n", each.cosine, each.sqnr,
                    each.maxError);
      text += padded(shown(each), width) + line;
    }
  };
  std::snprintf(line, sizeof line, "float against quantized, %zu sample%s\n", report.samples,
                report.samples == 1 ? "" : "s");
  text += line;
  table("tensor", report.tensors);
  table("output", report.outputs);
  if (!report.floatLayers.empty())
    text += floatLayersText(report) + "\n";
  return text;
}

std::string reportJson(const ErrorReport &report) {
  using Json = nlohmann::ordered_json;
  // JSON has no infinity.
  auto number = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(value > 0 ? "inf" : "-inf");
  };
  auto list = [&](const std::vector<TensorComparison> &from) {
    Json items = Json::array();
    for (const TensorComparison &each : from)
      items.push_back({{"tensor", each.name},
                       {"cosine", each.cosine},
                       {"sqnr_db", number(each.sqnr)},
                       {"max_error", number(each.maxError)}});
    return items;
  };
  Json json = {{"model", report.model}, {"samples", report.samples}};
  if (!report.floatLayers.empty()) {
    json["float_layers"] = report.floatLayers;
    json["float_macs"] = report.floatMacs;
  }
  json["outputs"] = list(report.outputs);
  json["tensors"] = list(report.tensors);
  return jsonText(json);
}

} // namespace atc::quantize
