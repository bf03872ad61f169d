//===-- QuantTable.h - the numbers that calibration finds -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_QUANTTABLE_H
#define OPENATC_QUANTIZE_QUANTTABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::quantize {

/// How the numbers of one tensor become 8-bit integers:
/// q = clamp(round_half_even(x / scale) + zeroPoint).
struct QuantParams {
  float scale = 1;
  int32_t zeroPoint = 0;
  bool isSigned = true;

  int32_t least() const { return isSigned ? -128 : 0; }
  int32_t most() const { return isSigned ? 127 : 255; }
  int32_t quantize(double value) const;
  double dequantize(int32_t value) const { return (double(value) - zeroPoint) * scale; }
};

/// An interval of real numbers.
struct Interval {
  double min = 0, max = 0;
};

/// The parameters that cover `range` and represent 0 exactly. Symmetric ones have
/// the middle of the integers as zero point.
QuantParams coverInterval(Interval range, bool symmetric, bool isSigned);

/// An activation.
struct TensorEntry {
  std::string name;
  QuantParams params;
  Interval seen;   ///< smallest and largest value of the calibration data
  Interval chosen; ///< what the range search kept of it
};

/// An operator with weights.
struct LayerEntry {
  std::string node, type, input, output;
  /// One for each output channel; one for all where the channels cannot be told apart.
  std::vector<float> weightScales;
  /// What is added to the float bias so that the channels' means stay; may be empty.
  std::vector<float> biasCorrection;
};

struct QuantTable {
  std::vector<TensorEntry> tensors;
  std::vector<LayerEntry> layers;

  const TensorEntry *findTensor(const std::string &name) const;
  /// By the name of the tensor that the layer makes.
  const LayerEntry *findLayer(const std::string &output) const;
};

/// The table as JSON, and as the text of a scale record (`record { key: ... }`).
std::string tableToJson(const QuantTable &table);
std::string tableToRecord(const QuantTable &table);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_QUANTTABLE_H
