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

/// Accumulates the comparison of one tensor over samples.
class ComparisonSums {
public:
  /// Adds the elements of the float model's tensor and of its counterpart.
  void add(llvm::ArrayRef<float> right, llvm::ArrayRef<float> ours);
  /// Returns the comparison of everything that was added.
  TensorComparison result(const std::string &name) const;

private:
  double product = 0, rightSquares = 0, oursSquares = 0, errorSquares = 0, largest = 0;
};

/// The comparison of a model.
struct ErrorReport {
  std::string model;
  size_t samples = 0; ///< that were compared
  std::vector<TensorComparison> tensors, outputs;
  /// The layers that a budget of accuracy leaves float, and their share (0 to 1) of the
  /// multiply-accumulate operations of all layers that can be int8.
  std::vector<std::string> floatLayers;
  double floatMacs = 0;
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

/// Returns one line that states the layers that stay float and their share of the operations.
std::string floatLayersText(const ErrorReport &report);
/// Return the report as a table for people and as JSON.
std::string reportText(const ErrorReport &report);
std::string reportJson(const ErrorReport &report);
/// Returns a self-contained HTML page: bars of all errors and, where the model was calibrated,
/// histograms with their ranges.
std::string reportHtml(const ErrorReport &report, const Calibration *calibration);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_ERRORREPORT_H
