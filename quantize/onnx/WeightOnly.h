//===-- WeightOnly.h - stores weights of products in few bits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H
#define OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H

#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// How weights are stored.
struct WeightOnlyOptions {
  int64_t bits = 4;       ///< 4 or 8
  int64_t groupSize = 32; ///< rows that share a scale and a zero point: a power of two from 16 on
};

/// A layer whose weights are quantized.
struct WeightOnlyLayer {
  std::string name;      ///< of the node
  int64_t rows, columns; ///< k and n
  double cosine;         ///< similarity of the stored to the float weights
};

/// Sets the options from the values of --weight_only ("int4", "int8") and --group_size. Every
/// value that is not valid is an error.
WeightOnlyOptions readWeightOnly(const std::string &type, int64_t groupSize,
                                 Diagnostics &diagnostics);

/// Rewrites each MatMul and Gemm of f32 with a constant matrix as its second factor to
/// com.microsoft.MatMulNBits: each group of `groupSize` rows of a column has a scale and a zero
/// point that span its values, to which weights are rounded. Returns the layers; nodes of other
/// forms stay as they are.
std::vector<WeightOnlyLayer> quantizeWeights(OnnxModel &model, const WeightOnlyOptions &options);

/// Returns the layers as JSON text: name, rows, columns, cosine.
std::string layersJson(const std::vector<WeightOnlyLayer> &layers);

/// Writes a model as one .onnx file, as a whole or not at all. Returns false after an error.
bool writeModel(const OnnxModel &model, const std::string &path, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H
