//===-- MixedPrecision.h - int8 as far as a budget allows -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H
#define OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H

#include "quantize/Quantize.h"

namespace atc::quantize {

/// Opens the samples from the beginning.
using OpenData = llvm::function_ref<std::unique_ptr<DataSource>()>;

/// A quantization and the layers that it leaves float for the sake of accuracy.
struct MixedQuantization {
  std::unique_ptr<Quantization> result;
  std::vector<std::string> floatLayers;
};

/// Quantizes a model so that every output has at least the cosine similarity `minCosine` (0 to 1)
/// to that of the float model on the compared samples. Where all layers in int8 miss it, the
/// layers whose inputs are least similar stay float: as few as a search by halves finds. Each
/// attempt calibrates anew. `options.compare` must be true. Returns null after an error, also
/// where no layer can be int8 within the budget (E10014).
std::unique_ptr<MixedQuantization>
quantizeToCosine(const OnnxModel &model, const QuantizeOptions &options, double minCosine,
                 OpenData open, mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H
