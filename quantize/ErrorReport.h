//===-- ErrorReport.h - compares the quantized model with float -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_ERRORREPORT_H
#define OPENATC_QUANTIZE_ERRORREPORT_H

#include "quantize/Calibrate.h"

namespace atc::quantize {

/// The comparison of a tensor of the quantized model with that of the float model.
struct TensorComparison {
  std::string name;
  double cosine = 1; ///< cosine similarity of both
  double sqnr = 0;   ///< signal to noise in dB; infinite where both are equal
  double maxError = 0;
};

/// The comparison of a model.
struct ErrorReport {
  std::string model;
  size_t samples = 0; ///< that were compared
  std::vector<TensorComparison> tensors, outputs;
};

/// Returns the next sample, or null at the end and after an error.
using NextSample = llvm::function_ref<const std::vector<::om::Buffer> *()>;
/// Returns a function that iterates over a list of samples.
inline auto samplesOf(const std::vector<std::vector<::om::Buffer>> &samples) {
  return [&samples, at = size_t(0)]() mutable {
    return at < samples.size() ? &samples[at++] : nullptr;
  };
}

/// The outputs of the two models that represent one tensor.
struct ComparedTensor {
  std::string name;
  size_t right, ours;
};

/// Runs both models over the samples. The first `numOutputs` outputs of each are the model's own.
/// Returns false after an error.
bool compareModels(HostModel &right, HostModel &ours, size_t numOutputs,
                   const std::vector<ComparedTensor> &tensors, NextSample next, ErrorReport &report,
                   Diagnostics &diagnostics);

/// Return the report as a table for people and as JSON.
std::string reportText(const ErrorReport &report);
std::string reportJson(const ErrorReport &report);
/// Returns a self-contained HTML page: bars of all errors and, where the model was calibrated,
/// histograms with their ranges.
std::string reportHtml(const ErrorReport &report, const Calibration *calibration);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ERRORREPORT_H
