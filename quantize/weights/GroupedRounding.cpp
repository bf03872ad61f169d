//===-- GroupedRounding.cpp - rounds weights to few levels by groups ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/weights/GroupedRounding.h"

#include "quantize/weights/LinearAlgebra.h"

#include <algorithm>
#include <cmath>

namespace atc::quantize {

namespace {

/// The levels of one group.
struct Grid {
  float scale, levels;
  int zero;

  int level(float value) const {
    return static_cast<int>(
        std::clamp(std::nearbyint(value / scale) + static_cast<float>(zero), 0.0f, levels));
  }
  float value(int level) const { return static_cast<float>(level - zero) * scale; }
};

Grid coverGroup(const float *begin, const float *end, int64_t bits) {
  // 0 stays 0: zero points are levels, too.
  float low = 0, high = 0;
  for (const float *at = begin; at != end; ++at) {
    low = std::min(low, *at);
    high = std::max(high, *at);
  }
  const auto levels = static_cast<float>((1 << bits) - 1);
  const float scale = high > low ? (high - low) / levels : 1;
  return {scale, levels, static_cast<int>(std::clamp(std::nearbyint(-low / scale), 0.0f, levels))};
}

GroupedRows makeRows(llvm::ArrayRef<float> weights, int64_t rows, const GroupForm &form) {
  GroupedRows result;
  result.rows = rows;
  result.length = rows ? weights.size() / rows : 0;
  result.form = form;
  result.levels.resize(weights.size());
  result.scales.resize(rows * result.groups());
  result.zeros.resize(rows * result.groups());
  return result;
}

double errorOf(llvm::ArrayRef<float> weights, const GroupedRows &rounded,
               llvm::ArrayRef<float> matrix) {
  std::vector<float> difference(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    difference[i] = rounded.value(static_cast<int64_t>(i)) - weights[i];
  return squaredError(difference, rounded.rows, matrix);
}

} // namespace

float GroupedRows::value(int64_t index) const {
  const int64_t group = index / length * groups() + index % length / form.groupSize;
  return static_cast<float>(levels[index] - zeros[group]) * scales[group];
}

GroupedRows roundToNearest(llvm::ArrayRef<float> weights, int64_t rows, const GroupForm &form) {
  GroupedRows result = makeRows(weights, rows, form);
  const int64_t length = result.length, groups = result.groups();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = row * length + g * form.groupSize;
      const int64_t last = std::min(first + form.groupSize, (row + 1) * length);
      const Grid grid = coverGroup(&weights[first], &weights[0] + last, form.bits);
      result.scales[row * groups + g] = grid.scale;
      result.zeros[row * groups + g] = static_cast<uint8_t>(grid.zero);
      for (int64_t i = first; i < last; ++i)
        result.levels[i] = static_cast<uint8_t>(grid.level(weights[i]));
    }
  return result;
}

GroupedRows roundByMoments(llvm::ArrayRef<float> weights, int64_t rows, const GroupForm &form,
                           llvm::ArrayRef<float> matrix) {
  GroupedRows nearest = roundToNearest(weights, rows, form);
  const int64_t length = nearest.length, groups = nearest.groups();
  SquareMatrix upper = dampedMatrix(matrix, length, 0.01);
  if (!factorizeInverse(upper))
    return nearest;
  GroupedRows result = makeRows(weights, rows, form);
  // Some rows at a time: a row of the factor serves all of them, and they stay in the cache.
  constexpr int64_t kRows = 16;
  std::vector<double> rest(kRows * length);
  std::vector<float> group(form.groupSize);
  std::vector<Grid> grids(kRows);
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    std::copy_n(weights.begin() + first * length, count * length, rest.begin());
    for (int64_t k = 0; k < length; ++k) {
      const double *factors = upper.row(k);
      for (int64_t r = 0; r < count; ++r) {
        double *row = rest.data() + r * length;
        if (k % form.groupSize == 0) {
          const int64_t size = std::min(form.groupSize, length - k);
          std::copy_n(row + k, size, group.begin());
          grids[r] = coverGroup(group.data(), group.data() + size, form.bits);
          const int64_t at = (first + r) * groups + k / form.groupSize;
          result.scales[at] = grids[r].scale;
          result.zeros[at] = static_cast<uint8_t>(grids[r].zero);
        }
        const int level = grids[r].level(static_cast<float>(row[k]));
        result.levels[(first + r) * length + k] = static_cast<uint8_t>(level);
        const double error = (row[k] - grids[r].value(level)) / factors[k];
        for (int64_t j = k + 1; j < length; ++j)
          row[j] -= error * factors[j];
      }
    }
  }
  return errorOf(weights, result, matrix) < errorOf(weights, nearest, matrix) ? result : nearest;
}

double relativeError(llvm::ArrayRef<float> weights, const GroupedRows &rounded,
                     llvm::ArrayRef<float> matrix) {
  const double all = squaredError(weights, rounded.rows, matrix);
  return all > 0 ? std::sqrt(std::max(0.0, errorOf(weights, rounded, matrix)) / all) : 0;
}

} // namespace atc::quantize
