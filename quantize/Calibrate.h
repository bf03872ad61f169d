//===-- Calibrate.h - finds scales by running data through a model --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_CALIBRATE_H
#define OPENATC_QUANTIZE_CALIBRATE_H

#include "quantize/HostModel.h"
#include "quantize/Plan.h"

namespace atc::quantize {

/// Where samples come from.
class DataSource {
public:
  virtual ~DataSource() = default;
  /// The shape of the first sample of an input; nothing where it is not known.
  virtual std::optional<std::vector<int64_t>> shapeOf(const std::string &input, size_t index) {
    return std::nullopt;
  }
  /// Told once, before the first sample: what samples must fit. Faults become errors.
  virtual void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) = 0;
  /// How many samples there are; 0 where that is not known.
  virtual size_t count() const { return 0; }
  /// Fills one buffer for each input. False at the end, and after an error.
  virtual bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) = 0;
};

/// Called with the samples done and the samples there are (0: not known).
using Progress = std::function<void(size_t done, size_t all)>;

/// Some samples, kept for the comparison of the quantized model.
struct KeptSamples {
  size_t most = 8;
  size_t mostBytes = size_t(256) << 20;
  std::vector<std::vector<::om::Buffer>> samples;
};

struct Calibration {
  QuantTable table;
  /// One for each planned tensor.
  std::vector<Histogram> histograms;
  size_t samples = 0;
  KeptSamples kept;
  /// The float model whose last outputs are the planned tensors.
  std::unique_ptr<HostModel> host;
  size_t firstTensor = 0; ///< index of the first of them
};

/// Sizes must be known: they are those of the samples. False after an error.
bool checkInputs(mlir::ModuleOp module, Diagnostics &diagnostics);

/// Runs the data through the model on this machine's CPU and searches the ranges of
/// the planned tensors. The module gets the planned tensors as results. False after
/// an error.
bool calibrate(mlir::ModuleOp module, const Plan &plan, const QuantConfig &config, DataSource &data,
               const Progress &progress, Calibration &calibration, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_CALIBRATE_H
