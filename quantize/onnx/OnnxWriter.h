//===-- OnnxWriter.h - writes quantized ONNX models -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXWRITER_H
#define OPENATC_QUANTIZE_ONNX_ONNXWRITER_H

#include "quantize/QuantTable.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// A model in which every tensor of the table goes through QuantizeLinear and DequantizeLinear,
/// with int8 weights and int32 biases: any ONNX runtime can run it, and runtimes that match the
/// pattern compute in integers.
struct QdqModel {
  explicit QdqModel(const OnnxModel &model) : model(model) {}
  OnnxModel model;
  /// The name under which the dequantized values of each tensor of the table are read.
  std::vector<std::string> dequantized;
};
/// Returns the model in QDQ form.
QdqModel writeQdq(const OnnxModel &model, const QuantTable &table);

/// Returns the model with the operators of the vendor's tools: AscendQuant in front of every layer,
/// int8 weights and an int32 bias in it, AscendDequant behind it. Other readers of a tensor of the
/// table read it through AscendAntiQuant.
OnnxModel writeDeploy(const OnnxModel &model, const QuantTable &table);

/// Returns the second input of AscendDequant: bits 0-31 the scale as f32, 32-39 a shift, 40-47 the
/// weights' offset.
uint64_t packDequantScale(float scale, uint8_t shift = 0, int8_t offset = 0);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXWRITER_H
