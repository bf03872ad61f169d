//===-- QuantTable.h - the parameters that calibration computes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_QUANTTABLE_H
#define OPENATC_QUANTIZE_QUANTTABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace atc::quantize {

/// The parameters that map one tensor to 8-bit integers: q = clamp(round_half_even(x / scale) +
/// zeroPoint).
struct QuantParams {
  float scale = 1;
  int32_t zeroPoint = 0;
  bool isSigned = true;

  /// Return the range of the integers.
  int32_t min() const { return isSigned ? -128 : 0; }
  int32_t max() const { return isSigned ? 127 : 255; }
  /// Convert between a real value and its integer; `quantize` rounds half to even and saturates.
  int32_t quantize(double value) const;
  double dequantize(int32_t value) const { return (double(value) - zeroPoint) * scale; }
};

/// An interval of real values.
struct Interval {
  double min = 0, max = 0;
};

/// Returns the parameters that cover `range` and represent 0 exactly. Symmetric ones have the
/// middle of the integer range as zero point.
QuantParams coverInterval(Interval range, bool symmetric, bool isSigned);

/// The parameters of an activation.
struct TensorEntry {
  std::string name;
  QuantParams params;
  Interval seen;   ///< minimum and maximum of the calibration data
  Interval chosen; ///< the part of it that the range search kept
};

/// The parameters of an operator with weights.
struct LayerEntry {
  std::string node, type, input, output;
  /// The scales per output channel; a single one where the channels cannot be distinguished.
  std::vector<float> weightScales;
  /// The correction that is added to the float bias so that the channels' means are preserved; may
  /// be empty.
  std::vector<float> biasCorrection;
  /// The weights' integers in the layout of the graph's filter where these are not the nearest;
  /// else empty.
  std::vector<int8_t> integers = {};
};

/// The parameters of a model.
struct QuantTable {
  std::vector<TensorEntry> tensors;
  std::vector<LayerEntry> layers;

  /// Returns the entry of a tensor, which the table owns; null when it has none.
  const TensorEntry *findTensor(const std::string &name) const;
  /// Returns the layer that computes the tensor `output`; null where there is none.
  const LayerEntry *findLayer(const std::string &output) const;
};

/// Return the table as JSON, and as the text of a scale record (`record { key: ... }`).
std::string tableToJson(const QuantTable &table);
std::string tableToRecord(const QuantTable &table);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_QUANTTABLE_H
