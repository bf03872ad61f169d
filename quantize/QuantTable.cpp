//===-- QuantTable.cpp - the parameters that calibration computes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/QuantTable.h"

#include "support/JsonText.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

namespace atc::quantize {

int32_t QuantParams::quantize(double value) const {
  // Matches the product in f32: rounds half to even, in the default rounding mode.
  const double scaled = std::nearbyint(value / scale) + zeroPoint;
  return static_cast<int32_t>(std::clamp<double>(scaled, min(), max()));
}

QuantParams coverInterval(Interval range, bool symmetric, bool isSigned) {
  // Padding and relu need an exact zero.
  const double min = std::min(range.min, 0.0), max = std::max(range.max, 0.0);
  QuantParams params;
  params.isSigned = isSigned;
  const int32_t middle = isSigned ? 0 : 128;
  // A smaller scale would be a subnormal f32, with which products lose all precision.
  constexpr double smallest = 1e-30;
  if (symmetric) {
    params.zeroPoint = middle;
    params.scale = static_cast<float>(std::max(-min, max) / 127);
  } else {
    params.scale = static_cast<float>((max - min) / 255);
    if (params.scale > smallest)
      params.zeroPoint = static_cast<int32_t>(std::clamp<double>(
          std::nearbyint(params.min() - min / params.scale), params.min(), params.max()));
  }
  if (!(params.scale > smallest)) {
    params.scale = 1;
    params.zeroPoint = middle;
  }
  // The vendor's form has the reciprocal: of this one it has the same reciprocal.
  params.scale = 1 / (1 / params.scale);
  return params;
}

const TensorEntry *QuantTable::findTensor(const std::string &name) const {
  auto found = std::find_if(tensors.begin(), tensors.end(),
                            [&](const TensorEntry &entry) { return entry.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

const LayerEntry *QuantTable::findLayer(const std::string &output) const {
  auto found = std::find_if(layers.begin(), layers.end(),
                            [&](const LayerEntry &entry) { return entry.output == output; });
  return found == layers.end() ? nullptr : &*found;
}

std::string tableToJson(const QuantTable &table) {
  using Json = nlohmann::ordered_json;
  Json out = {{"version", 1}};
  out["tensors"] = out["layers"] = Json::array();
  for (const TensorEntry &entry : table.tensors)
    out["tensors"].push_back({{"name", entry.name},
                              {"type", entry.params.isSigned ? "int8" : "uint8"},
                              {"scale", entry.params.scale},
                              {"zero_point", entry.params.zeroPoint},
                              {"min", entry.seen.min},
                              {"max", entry.seen.max},
                              {"chosen_min", entry.chosen.min},
                              {"chosen_max", entry.chosen.max}});
  for (const LayerEntry &layer : table.layers)
    out["layers"].push_back({{"node", layer.node},
                             {"type", layer.type},
                             {"input", layer.input},
                             {"output", layer.output},
                             {"weight_scales", layer.weightScales},
                             {"bias_correction", layer.biasCorrection}});
  return jsonText(out, /*indent=*/1);
}

/// Returns a text in protobuf's text form: unprintable bytes become octal escapes.
static std::string escaped(std::string_view text) {
  std::string out;
  forEachStep(text, [&](const rt::TextStep &step, std::string_view bytes) {
    const bool shown = step.valid && rt::isPrintable(step.code);
    for (char c : bytes) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
      if (shown && c != '"' && c != '\\')
        out += c;
      else
        out += shown ? std::string("\\") + c : octal;
    }
  });
  return out;
}

std::string tableToRecord(const QuantTable &table) {
  std::ostringstream os;
  os.precision(9);
  for (const LayerEntry &layer : table.layers) {
    const TensorEntry *input = table.findTensor(layer.input);
    if (!input)
      continue;
    os << "record {\n  key: \"" << escaped(layer.node.empty() ? layer.output : layer.node)
       << "\"\n  value {\n    scale_d: " << input->params.scale
       << "\n    offset_d: " << input->params.zeroPoint - (input->params.isSigned ? 0 : 128)
       << "\n";
    for (float scale : layer.weightScales)
      os << "    scale_w: " << scale << "\n";
    for (size_t i = 0; i < layer.weightScales.size(); ++i)
      os << "    offset_w: 0\n";
    for (size_t i = 0; i < layer.weightScales.size(); ++i)
      os << "    shift_bit: 0\n";
    os << "  }\n}\n";
  }
  return os.str();
}

} // namespace atc::quantize
