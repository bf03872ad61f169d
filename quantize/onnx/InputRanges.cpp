//===-- InputRanges.cpp - whether samples fit a quantized model -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/InputRanges.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace atc::quantize {

namespace {

struct StoredRange {
  double low, high;
};

/// Returns what a node that quantizes can store; nothing for one whose parameters are not
/// single known numbers of 8 bits.
std::optional<StoredRange> storedRange(OnnxModel &model, const onnx::NodeProto &node) {
  if (node.op_type() == "AscendQuant") {
    const onnx::AttributeProto *factor = findAttribute(node, "scale"),
                               *offset = findAttribute(node, "offset");
    if (!factor || !(factor->f() > 0))
      return std::nullopt;
    const double shift = offset ? offset->f() : 0;
    return StoredRange{(-128 - shift) / factor->f(), (127 - shift) / factor->f()};
  }
  if (node.op_type() != "QuantizeLinear" || node.input_size() < 2)
    return std::nullopt;
  const onnx::TensorProto *scales = model.findConstant(node.input(1));
  const std::optional<std::vector<float>> scale = scales ? readFloats(*scales) : std::nullopt;
  if (!scale || scale->size() != 1 || !((*scale)[0] > 0))
    return std::nullopt;
  const onnx::TensorProto *zeros =
      node.input_size() > 2 && !node.input(2).empty() ? model.findConstant(node.input(2)) : nullptr;
  const bool isSigned = zeros && zeros->data_type() == onnx::TensorProto::INT8;
  if (zeros && !isSigned && zeros->data_type() != onnx::TensorProto::UINT8)
    return std::nullopt;
  double zero = 0;
  if (zeros && zeros->raw_data().size() == 1)
    zero = isSigned ? double(int8_t(zeros->raw_data()[0])) : double(uint8_t(zeros->raw_data()[0]));
  else if (zeros && zeros->int32_data_size() == 1)
    zero = zeros->int32_data(0);
  const double min = isSigned ? -128 : 0;
  return StoredRange{(min - zero) * (*scale)[0], (min + 255 - zero) * (*scale)[0]};
}

std::string text(double number) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.4g", number);
  return digits;
}

} // namespace

InputRanges::InputRanges(OnnxModel &quantized, const std::vector<::om::Tensor> &inputs)
    : tensors(inputs) {
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (input.dtype != OM_F32)
      continue;
    for (const onnx::NodeProto *node : quantized.findUsers(input.name))
      if (std::optional<StoredRange> stored = storedRange(quantized, *node)) {
        ranges.push_back({index, input.name, stored->low, stored->high});
        break;
      }
  }
}

void InputRanges::observe(const std::vector<::om::Buffer> &sample) {
  for (Range &range : ranges) {
    const ::om::Buffer &buffer = sample[range.input];
    for (float value : llvm::ArrayRef(buffer.data<float>(), tensors[range.input].elements)) {
      if (!std::isfinite(value))
        continue;
      range.min = range.elements ? std::min(range.min, double(value)) : value;
      range.max = range.elements ? std::max(range.max, double(value)) : value;
      ++range.elements;
    }
  }
}

void InputRanges::warn(Diagnostics &diagnostics) const {
  for (const Range &range : ranges) {
    const double width = range.high - range.low;
    const bool leaves = range.max - range.high > width / 2 || range.low - range.min > width / 2;
    const bool isTiny = range.max - range.min < width / 16;
    if (!range.elements || !(leaves || isTiny))
      continue;
    diagnostics.warning("W10015", "the samples of input '" + range.name + "' hold values of " +
                                      text(range.min) + " to " + text(range.max) +
                                      ", but the quantized model stores " + text(range.low) +
                                      " to " + text(range.high) +
                                      ": prepare them as those that it was calibrated with "
                                      "(--mean_chn, --var_reci_chn, --std_chn)");
  }
}

} // namespace atc::quantize
