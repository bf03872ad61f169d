//===-- QuantizeWeights.h - quantizes weights and biases ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_GRAPH_QUANT_QUANTIZEWEIGHTS_H
#define OPENATC_PASSES_GRAPH_QUANT_QUANTIZEWEIGHTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace atc::graph {

/// A row-major tensor of weights with one scale per index of dim `axis`; with axis -1 it has one
/// scale.
struct WeightView {
  llvm::ArrayRef<float> values;
  llvm::ArrayRef<int64_t> dims;
  int64_t axis = 0;

  /// Returns the number of scales.
  int64_t channels() const { return axis < 0 ? 1 : dims[axis]; }
  /// Returns the number of elements per index of the axis in its inner dims.
  int64_t inner() const;
  int64_t channelOf(int64_t index) const { return axis < 0 ? 0 : index / inner() % channels(); }
};

/// Returns symmetric scales that map the largest weight to 127. They are larger where the bias over
/// inputScale * scale would not fit 32 bits; `bias` is empty or its size is a multiple of the
/// channels.
std::vector<float> findWeightScales(const WeightView &weights, llvm::ArrayRef<float> bias,
                                    float inputScale);

/// Returns round(weight / scale), saturated to [-127, 127].
std::vector<int8_t> quantizeWeights(const WeightView &weights, llvm::ArrayRef<float> scales);

/// Returns round(bias / (inputScale * scale)).
std::vector<int32_t> quantizeBias(llvm::ArrayRef<float> bias, llvm::ArrayRef<float> scales,
                                  float inputScale);

/// Returns the error of the mean of every output channel that rounding the weights causes, given
/// the means of the input channels. `weights` are [M, C / groups, ...] with the channels in dim 0,
/// or [K, N] with the channels in dim 1.
std::vector<float> lossOfMeans(const WeightView &weights, llvm::ArrayRef<float> scales,
                               llvm::ArrayRef<double> inputMeans, int64_t groups);

/// Returns the same error for weights that were rounded to `integers`.
std::vector<float> lossOfMeans(const WeightView &weights, llvm::ArrayRef<int8_t> integers,
                               llvm::ArrayRef<float> scales, llvm::ArrayRef<double> inputMeans,
                               int64_t groups);

} // namespace atc::graph

#endif // OPENATC_PASSES_GRAPH_QUANT_QUANTIZEWEIGHTS_H
