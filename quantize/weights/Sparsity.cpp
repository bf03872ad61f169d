//===-- Sparsity.cpp - zeros in a fixed pattern ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/Sparsity.h"

#include "quantize/weights/LinearAlgebra.h"
#include "quantize/weights/Moments.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace atc::quantize {

/// Returns for four scores whether each is among the two smallest; of equal ones the later goes.
static std::array<bool, 4> smallestTwo(const std::array<double, 4> &scores) {
  std::array<int, 4> order{3, 2, 1, 0};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] < scores[b]; });
  std::array<bool, 4> result{};
  result[order[0]] = result[order[1]] = true;
  return result;
}

std::vector<float> keepTwoOfFour(llvm::ArrayRef<float> weights, int64_t rows, int64_t channels,
                                 int64_t taps) {
  std::vector<float> result(weights.begin(), weights.end());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first + 4 <= channels; first += 4)
      for (int64_t tap = 0; tap < taps; ++tap) {
        float *at = result.data() + (row * channels + first) * taps + tap;
        std::array<double, 4> scores{};
        for (int i = 0; i < 4; ++i)
          scores[i] = std::fabs(at[i * taps]);
        const std::array<bool, 4> goes = smallestTwo(scores);
        for (int i = 0; i < 4; ++i)
          if (goes[i])
            at[i * taps] = 0;
      }
  return result;
}

std::vector<float> keepTwoOfFour(llvm::ArrayRef<float> weights, int64_t rows, int64_t channels,
                                 int64_t taps, llvm::ArrayRef<float> matrix) {
  std::vector<float> plain = keepTwoOfFour(weights, rows, channels, taps);
  const int64_t length = channels * taps;
  // Four channels of one tap follow each other in this order.
  std::vector<int64_t> order;
  for (int64_t first = 0; first < channels; first += 4)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = first; c < std::min(first + 4, channels); ++c)
        order.push_back(c * taps + tap);
  std::vector<float> ordered(matrix.size());
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j)
      ordered[i * length + j] = matrix[order[i] * length + order[j]];
  SquareMatrix upper = dampedMatrix(ordered, length, 0.01);
  if (!factorizeInverse(upper))
    return plain;
  const int64_t sparse = channels / 4 * 4 * taps; // whole fours come first
  std::vector<float> result(weights.size());
  std::vector<double> rest(length);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < length; ++i)
      rest[i] = weights[row * length + order[i]];
    for (int64_t first = 0; first < sparse; first += 4) {
      std::array<double, 4> scores{};
      for (int i = 0; i < 4; ++i)
        scores[i] = std::pow(rest[first + i] / upper.row(first + i)[first + i], 2);
      const std::array<bool, 4> goes = smallestTwo(scores);
      for (int i = 0; i < 4; ++i) {
        if (!goes[i])
          continue;
        const double *factors = upper.row(first + i);
        const double error = rest[first + i] / factors[first + i];
        for (int64_t j = first + i + 1; j < length; ++j)
          rest[j] -= error * factors[j];
        rest[first + i] = 0;
      }
    }
    for (int64_t i = 0; i < length; ++i)
      result[row * length + order[i]] = static_cast<float>(rest[i]);
  }
  auto errorOf = [&](const std::vector<float> &values) {
    std::vector<float> difference(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      difference[i] = values[i] - weights[i];
    return squaredError(difference, rows, matrix);
  };
  return errorOf(result) < errorOf(plain) ? result : plain;
}

} // namespace atc::quantize
