//===-- Balance.h - balances channels that share a scale ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_BALANCE_H
#define OPENATC_QUANTIZE_BALANCE_H

#include "quantize/Calibrate.h"
#include "quantize/onnx/OnnxModel.h"

namespace atc::quantize {

/// The magnitudes of the elements of each channel.
struct ChannelSizes {
  std::vector<double> largest, squares;
  double count = 0;

  /// Adds the elements of a tensor [N, C, ...].
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims);
};

/// The weights [M, C / groups, ...] that read a tensor.
struct ReadingWeights {
  llvm::ArrayRef<float> values;
  int64_t outputs = 0, inputs = 0; ///< M, C / groups
  int64_t groups = 1;
};

/// Returns divisors of the channels, by which the weights are multiplied, that minimize the error
/// of one scale for the tensor and one per row of weights. Empty where that reduces the noise by
/// less than a factor of `atLeast`.
std::vector<float> findFactors(const ChannelSizes &sizes, llvm::ArrayRef<ReadingWeights> readers,
                               double atLeast);

/// Returns the divisors that a strength gives: channels are divided by the powers of their largest
/// magnitudes with `strength` as exponent, over those of their weights' with the rest.
std::vector<float> factorsOfStrength(const ChannelSizes &sizes,
                                     llvm::ArrayRef<ReadingWeights> readers, double strength);

/// The balancing of a tensor that only convolutions read.
struct Balance {
  std::string tensor;
  std::vector<std::string> readers; ///< by the tensors that they compute
  /// The convolution whose weights absorb the divisors, through at most a relu; empty: a
  /// multiplication is needed.
  std::string producer;
  std::vector<float> factors;
};

/// Computes balances from some samples that run through the module, whose results it changes.
/// Warns of layers for which the settings ask for one that is not possible. Returns false after an
/// error.
bool findBalances(mlir::ModuleOp module, const Plan &plan, const QuantConfig &config,
                  DataSource &data, std::vector<Balance> &balances, Diagnostics &diagnostics);

/// Applies balances to the model's weights.
void applyBalances(OnnxModel &model, llvm::ArrayRef<Balance> balances);

/// Replays the first samples of another source.
class ReplayedSource : public DataSource {
public:
  explicit ReplayedSource(DataSource &source) : source(source) {}
  std::optional<std::vector<int64_t>> shapeOf(const std::string &input, size_t index) override {
    return source.shapeOf(input, index);
  }
  void begin(const std::vector<::om::Tensor> &inputs, Diagnostics &diagnostics) override;
  size_t count() const override { return source.count(); }
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &diagnostics) override;

private:
  DataSource &source;
  std::vector<std::vector<::om::Buffer>> kept;
  size_t at = 0;
  bool hasBegun = false, isReplaying = false;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_BALANCE_H
