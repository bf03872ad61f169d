//===-- Calibrate.h - finds scales by running data through a model --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_CALIBRATE_H
#define OPENATC_QUANTIZE_CALIBRATE_H

#include "quantize/HostModel.h"
#include "quantize/Plan.h"

namespace atc::quantize {

/// A source of calibration samples.
class DataSource {
public:
  virtual ~DataSource() = default;
  /// Returns the shape of the first sample of an input; nothing where it is not known.
  virtual std::optional<std::vector<int64_t>> shapeOf(const std::string &input, size_t index) {
    return std::nullopt;
  }
  /// Sets the inputs that samples must fit; called once, before the first sample. Reports errors.
  virtual void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) = 0;
  /// Returns the number of samples; 0 where that is not known.
  virtual size_t count() const { return 0; }
  /// Fills one buffer per input. Returns false at the end, and after an error.
  virtual bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) = 0;
};

/// Is called with the number of samples done and their total (0: not known).
using Progress = std::function<void(size_t done, size_t all)>;

/// Samples that are kept for the comparison of the quantized model.
struct KeptSamples {
  size_t max = 8;
  size_t maxBytes = size_t(256) << 20;
  std::vector<std::vector<::om::Buffer>> samples;
};

/// The results of calibration.
struct Calibration {
  QuantTable table;
  /// The histograms of the planned tensors.
  std::vector<Histogram> histograms;
  size_t samples = 0;
  KeptSamples kept;
  /// The float model whose last outputs are the planned tensors.
  std::unique_ptr<HostModel> host;
  size_t firstTensor = 0; ///< index of the first of them
  /// The number of multiply-accumulate operations of each layer of the table.
  std::vector<double> layerMacs;
};

/// Checks that the sizes of inputs are static, as samples need them. Returns false after an error.
bool checkInputs(mlir::ModuleOp module, Diagnostics &diagnostics);

/// Runs the data through the model on this machine's CPU and searches the ranges of the planned
/// tensors. The planned tensors become results of the module. Returns false after an error.
bool calibrate(mlir::ModuleOp module, const Plan &plan, const QuantConfig &config, DataSource &data,
               const Progress &progress, Calibration &calibration, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_CALIBRATE_H
