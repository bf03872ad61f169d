//===-- RoundLayer.cpp - rounds a layer's weights as settings ask ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/RoundLayer.h"

#include "dialects/graph/ops/ConvOps.h"
#include "quantize/weights/NonUniform.h"

using namespace mlir;

namespace atc::quantize {

/// Returns the transposed of a matrix of `rows` rows.
template <typename T> static std::vector<T> transpose(ArrayRef<T> matrix, int64_t rows) {
  const int64_t columns = rows ? matrix.size() / rows : 0;
  std::vector<T> result(matrix.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = matrix[i * columns + j];
  return result;
}

/// Rounds rows, of which as many belong to each group, by the moments of their group.
static std::vector<int8_t> roundGroups(const PlannedLayer &layer, ArrayRef<float> rows,
                                       int64_t count, ArrayRef<float> scales,
                                       const InputFacts &input) {
  std::vector<int8_t> result;
  const int64_t groups = layer.groups, perGroup = count / groups;
  const int64_t length = rows.size() / std::max<int64_t>(1, count);
  // The variance that rounding the input adds to each of its elements.
  const double variance = input.scale * input.scale / 12;
  for (int64_t group = 0; group < groups; ++group) {
    const std::vector<float> matrix =
        input.moments->groups[group].matrix(input.meansAreCorrected, variance);
    const std::vector<int8_t> rounded =
        roundAdaptively(rows.slice(group * perGroup * length, perGroup * length), perGroup,
                        scales.size() == 1 ? scales : scales.slice(group * perGroup, perGroup),
                        matrix, layer.config.adaptive);
    result.insert(result.end(), rounded.begin(), rounded.end());
  }
  return result;
}

bool canRound(const PlannedLayer &layer) {
  if (layer.config.rounding == WeightRounding::Adaptive)
    return LayerMoments::of(layer).has_value();
  return !isa<graph::ConvTransposeOp>(layer.op);
}

std::vector<int8_t> roundLayer(const PlannedLayer &layer, const graph::WeightView &weights,
                               ArrayRef<float> scales, const InputFacts &input) {
  const WeightRounding rounding = layer.config.rounding;
  if (rounding == WeightRounding::Nearest || !canRound(layer) ||
      (rounding == WeightRounding::Adaptive && !input.moments))
    return {};
  const bool isTransposed = isa<graph::MatMulOp>(layer.op); // [K, N]
  const int64_t count = weights.dims[isTransposed ? 1 : 0];
  if (rounding == WeightRounding::NonUniform) {
    const std::vector<int8_t> nearest = graph::quantizeWeights(weights, scales);
    if (!isTransposed)
      return restrictIntegers(nearest, count, scales, layer.config.nonUniformSteps);
    const std::vector<int8_t> rows = transpose<int8_t>(nearest, weights.dims[0]);
    return transpose<int8_t>(restrictIntegers(rows, count, scales, layer.config.nonUniformSteps),
                             count);
  }
  if (!isTransposed)
    return roundGroups(layer, weights.values, count, scales, input);
  const std::vector<float> rows = transpose<float>(weights.values, weights.dims[0]);
  return transpose<int8_t>(roundGroups(layer, rows, count, scales, input), count);
}

} // namespace atc::quantize
