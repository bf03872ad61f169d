//===-- ConvertQdq.h - models that were trained with quantization ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_CONVERTQDQ_H
#define OPENATC_QUANTIZE_ONNX_CONVERTQDQ_H

#include "quantize/Quantize.h"

namespace atc::quantize {

/// Reads the scales of a model with QuantizeLinear and DequantizeLinear, as training with
/// quantization exports it, and writes both forms of it: the deploy form and QDQ with integer
/// weights. Activations have one scale and int8 or uint8 elements; weights have int8 elements, zero
/// points of 0 and a scale per output channel or one. Pairs at other tensors are removed or stay as
/// they are. The report of the result is empty. Returns null after an error, such as a model
/// without such pairs (E10055).
std::unique_ptr<Quantization> convertQdq(const OnnxModel &model, const std::string &name,
                                         Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_CONVERTQDQ_H
