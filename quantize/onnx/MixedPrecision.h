//===-- MixedPrecision.h - int8 as far as a budget allows -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H
#define OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H

#include "quantize/Quantize.h"

namespace atc::quantize {

/// Quantizes a model so that every output has at least the cosine similarity `minCosine` (0 to 1)
/// to that of the float model on the compared samples. Where all layers in int8 miss it, layers
/// stay float, which the report lists: first those that add most error to the outputs, relative to
/// their share of the operations and of the layers; as few as a search over that order finds. The
/// data is calibrated once. `options.compare` must be true. Returns null after an error, also where
/// no layer can be int8 within the budget (E10014).
std::unique_ptr<Quantization> quantizeToCosine(std::unique_ptr<OnnxModel> model,
                                               const QuantizeOptions &options, double minCosine,
                                               DataSource &data, mlir::MLIRContext &context,
                                               Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ONNX_MIXEDPRECISION_H
