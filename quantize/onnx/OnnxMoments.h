//===-- OnnxMoments.h - the second moments of an ONNX model's inputs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_ONNXMOMENTS_H
#define OPENATC_QUANTIZE_ONNX_ONNXMOMENTS_H

#include "quantize/onnx/OnnxHost.h"
#include "quantize/weights/Moments.h"

namespace atc::quantize {

/// The samples of a model.
struct SampleRequest {
  std::string name; ///< of the model, for messages
  InputShapes inputShapes;
  int64_t batchNum = 0; ///< 0: all samples
  Progress progress;
};

/// Runs samples through a model and collects the moments of convolutions and products with
/// constant weights, in several passes where they would not fit the memory at once. Returns
/// nothing after an error.
std::optional<MomentsByOutput> collectOnnxMoments(OnnxModel &model, const SampleRequest &request,
                                                  DataSource &data, mlir::MLIRContext &context,
                                                  Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_ONNXMOMENTS_H
