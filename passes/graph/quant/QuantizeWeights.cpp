//===-- QuantizeWeights.cpp - weights and biases as integers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/quant/QuantizeWeights.h"

#include <algorithm>
#include <cmath>

namespace atc::graph {

int64_t WeightView::inner() const {
  int64_t count = 1;
  for (size_t dim = axis + 1; dim < dims.size(); ++dim)
    count *= dims[dim];
  return count;
}

std::vector<float> findWeightScales(const WeightView &weights, llvm::ArrayRef<float> bias,
                                    float inputScale) {
  const int64_t channels = weights.channels(), inner = weights.inner();
  std::vector<float> largest(channels, 0);
  for (int64_t i = 0, n = weights.values.size(); i < n; ++i) {
    float &max = largest[weights.axis < 0 ? 0 : i / inner % channels];
    max = std::max(max, std::fabs(weights.values[i]));
  }
  std::vector<float> scales(channels);
  for (int64_t i = 0; i < channels; ++i)
    scales[i] = largest[i] / 127;
  // Half of what 32 bits hold, so that the products have room too.
  constexpr double maxBias = 1 << 30;
  for (size_t i = 0; i < bias.size(); ++i) {
    float &scale = scales[i % channels];
    scale = std::max(scale, static_cast<float>(std::fabs(bias[i]) / (inputScale * maxBias)));
  }
  // A channel of zeros has no scale; and no scale may be so small that products with it underflow.
  for (float &scale : scales)
    if (!(scale > 1e-30f))
      scale = 1;
  return scales;
}

std::vector<int8_t> quantizeWeights(const WeightView &weights, llvm::ArrayRef<float> scales) {
  const int64_t channels = weights.channels(), inner = weights.inner();
  std::vector<int8_t> result(weights.values.size());
  for (int64_t i = 0, n = result.size(); i < n; ++i) {
    const float scale = scales[weights.axis < 0 ? 0 : i / inner % channels];
    result[i] =
        static_cast<int8_t>(std::clamp(std::nearbyint(weights.values[i] / scale), -127.0f, 127.0f));
  }
  return result;
}

std::vector<int32_t> quantizeBias(llvm::ArrayRef<float> bias, llvm::ArrayRef<float> scales,
                                  float inputScale) {
  std::vector<int32_t> result(bias.size());
  for (size_t i = 0; i < bias.size(); ++i) {
    const double unit = double(inputScale) * scales[i % scales.size()];
    result[i] = static_cast<int32_t>(
        std::clamp(std::nearbyint(bias[i] / unit), -2147483647.0, 2147483647.0));
  }
  return result;
}

std::vector<float> lossOfMeans(const WeightView &weights, llvm::ArrayRef<float> scales,
                               llvm::ArrayRef<double> inputMeans, int64_t groups) {
  return lossOfMeans(weights, quantizeWeights(weights, scales), scales, inputMeans, groups);
}

std::vector<float> lossOfMeans(const WeightView &weights, llvm::ArrayRef<int8_t> integers,
                               llvm::ArrayRef<float> scales, llvm::ArrayRef<double> inputMeans,
                               int64_t groups) {
  const bool isMatrix = weights.axis == 1; // [K, N]
  const int64_t outputs = weights.dims[isMatrix ? 1 : 0], inputs = weights.dims[isMatrix ? 0 : 1];
  const int64_t inner = isMatrix ? 1 : integers.size() / std::max<int64_t>(1, outputs * inputs);
  if (int64_t(inputMeans.size()) != inputs * groups || outputs % groups)
    return {};
  std::vector<double> loss(outputs, 0);
  for (int64_t i = 0, n = integers.size(); i < n; ++i) {
    const int64_t output = isMatrix ? i % outputs : i / (inputs * inner);
    const int64_t input = isMatrix ? i / outputs : i / inner % inputs;
    const int64_t group = output / (outputs / groups);
    const float scale = scales[weights.axis < 0 ? 0 : output];
    loss[output] += inputMeans[group * inputs + input] *
                    (double(weights.values[i]) - double(integers[i]) * scale);
  }
  return {loss.begin(), loss.end()};
}

} // namespace atc::graph
