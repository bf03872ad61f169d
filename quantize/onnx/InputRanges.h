//===-- InputRanges.h - whether samples fit a quantized model -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_INPUTRANGES_H
#define OPENATC_QUANTIZE_ONNX_INPUTRANGES_H

#include "openatc/om.hpp"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// Compares what samples hold with the ranges in which a quantized model stores its inputs.
/// Samples that were prepared in another way than those of the calibration (other means, pixels
/// of 0 to 255 instead of 0 to 1) make every tensor bad, for a reason that no tensor names.
class InputRanges {
public:
  /// `inputs` are those of the compiled model, in the order of the samples' buffers.
  InputRanges(OnnxModel &quantized, const std::vector<::om::Tensor> &inputs);

  /// Takes one sample into account.
  void observe(const std::vector<::om::Buffer> &sample);

  /// Adds a warning, W10015, for each input whose values leave its range by more than half
  /// of it, or fill less than a sixteenth of it.
  void warn(Diagnostics &diagnostics) const;

private:
  struct Range {
    size_t input;
    std::string name;
    double low, high;        ///< that the model stores
    double min = 0, max = 0; ///< of the samples
    uint64_t elements = 0;   ///< that were finite
  };
  std::vector<Range> ranges;
  std::vector<::om::Tensor> tensors;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_INPUTRANGES_H
