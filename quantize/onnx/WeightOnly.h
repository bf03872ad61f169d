//===-- WeightOnly.h - stores weights of products in few bits -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H
#define OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H

#include "quantize/onnx/OnnxModel.h"
#include "quantize/weights/GroupedRounding.h"

namespace atc::quantize {

/// The method that chooses levels: the nearest ones, the nearest ones of weights whose columns are
/// scaled (AWQ), or such that later weights absorb the errors of earlier ones (GPTQ).
enum class WeightMethod { Nearest, Scaled, Absorbed };

/// The storage of quantized weights, and the method that computes it.
struct WeightOnlyOptions {
  GroupForm form; ///< 4 or 8 bits; groups of a power of two from 16 on
  WeightMethod method = WeightMethod::Nearest;
};

/// A layer whose weights are quantized.
struct WeightOnlyLayer {
  std::string name;      ///< of the node
  int64_t rows, columns; ///< k and n
  double cosine;         ///< similarity of the stored to the float weights
  /// The error of the products, relative to them; nothing where no sample reached the layer.
  std::optional<double> error;
};

/// Sets the options from the values of --weight_only ("int4", "int8"), --group_size and --method
/// ("rtn", "awq", "gptq"). Every value that is not valid is an error.
WeightOnlyOptions readWeightOnly(const std::string &type, int64_t groupSize,
                                 const std::string &method, Diagnostics &diagnostics);

/// Rewrites each MatMul and Gemm of f32 with a constant matrix as its second factor to
/// com.microsoft.MatMulNBits: each group of rows of a column has a scale and a zero point. Returns
/// the layers; nodes of other forms stay as they are. Layers without moments are rounded to
/// nearest.
std::vector<WeightOnlyLayer> quantizeWeights(OnnxModel &model, const WeightOnlyOptions &options,
                                             const MomentsByOutput &moments);

/// Returns the layers as JSON text: name, rows, columns, cosine, error.
std::string layersJson(const std::vector<WeightOnlyLayer> &layers);

/// Writes a model as one .onnx file, as a whole or not at all. Returns false after an error.
bool writeModel(const OnnxModel &model, const std::string &path, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_WEIGHTONLY_H
