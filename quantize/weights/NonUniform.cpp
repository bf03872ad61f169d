//===-- NonUniform.cpp - restricts integers to few values -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The best clusters of numbers on a line are intervals: dynamic programming over the last interval
// finds the best division for each number of them.
//
//===----------------------------------------------------------------------===//

#include "quantize/weights/NonUniform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace atc::quantize {

namespace {

constexpr int kValues = 256, kOffset = 128;

/// The weights' squares of scales by integer, summed from the least integer on: moments 0 to 2.
struct Sums {
  std::array<double, kValues + 1> count{}, first{}, second{};

  /// Returns the integer that stands best for those in [begin, end), as an index.
  int center(int begin, int end) const {
    const double weight = count[end] - count[begin];
    if (!(weight > 0))
      return begin;
    return std::clamp(static_cast<int>(std::lround((first[end] - first[begin]) / weight)), begin,
                      end - 1);
  }
  double cost(int begin, int end) const {
    const double c = center(begin, end);
    return (second[end] - second[begin]) - 2 * c * (first[end] - first[begin]) +
           c * c * (count[end] - count[begin]);
  }
};

} // namespace

std::vector<int8_t> restrictIntegers(llvm::ArrayRef<int8_t> integers, int64_t rows,
                                     llvm::ArrayRef<float> scales, int64_t steps) {
  const int64_t length = rows ? integers.size() / rows : 0;
  std::array<double, kValues> weights{};
  for (size_t i = 0; i < integers.size(); ++i) {
    const double scale = scales.size() == 1 ? scales[0] : scales[i / length];
    weights[integers[i] + kOffset] += scale * scale;
  }
  Sums sums;
  for (int v = 0; v < kValues; ++v) {
    sums.count[v + 1] = sums.count[v] + weights[v];
    sums.first[v + 1] = sums.first[v] + weights[v] * v;
    sums.second[v + 1] = sums.second[v] + weights[v] * v * v;
  }
  // least[k][end]: the cost of the integers below `end` in at most k intervals.
  const int intervals = static_cast<int>(std::min<int64_t>(steps, kValues));
  std::vector<std::array<double, kValues + 1>> min(intervals + 1);
  std::vector<std::array<int, kValues + 1>> begins(intervals + 1);
  min[0].fill(std::numeric_limits<double>::infinity());
  min[0][0] = 0;
  for (int k = 1; k <= intervals; ++k)
    for (int end = 0; end <= kValues; ++end) {
      min[k][end] = min[k - 1][end];
      begins[k][end] = -1; // one interval less is as good
      for (int begin = 0; begin < end; ++begin)
        if (const double cost = min[k - 1][begin] + sums.cost(begin, end); cost < min[k][end]) {
          min[k][end] = cost;
          begins[k][end] = begin;
        }
    }
  std::array<int8_t, kValues> mapped{};
  for (int k = intervals, end = kValues; k > 0 && end > 0; --k) {
    const int begin = begins[k][end];
    if (begin < 0)
      continue;
    for (int v = begin; v < end; ++v)
      mapped[v] = static_cast<int8_t>(sums.center(begin, end) - kOffset);
    end = begin;
  }
  std::vector<int8_t> result;
  for (int8_t integer : integers)
    result.push_back(mapped[integer + kOffset]);
  return result;
}

} // namespace atc::quantize
