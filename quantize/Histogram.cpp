//===-- Histogram.cpp - the distribution of a tensor's values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Histogram.h"

#include <algorithm>
#include <cmath>

namespace atc::quantize {

/// Makes the bins reach from -magnitude to magnitude.
void Histogram::reach(double magnitude) {
  if (counts.empty()) {
    counts.assign(2 * half, 0);
    width = magnitude / half;
    counts[half] = zeros;
    return;
  }
  while (magnitude > width * half) {
    std::vector<uint64_t> wider(2 * half, 0);
    for (size_t bin = 0; bin < counts.size(); ++bin)
      wider[half / 2 + bin / 2] += counts[bin];
    counts = std::move(wider);
    width *= 2;
  }
}

size_t Histogram::binOf(double value) const {
  const auto bin = static_cast<int64_t>(std::floor(value / width)) + int64_t(half);
  return std::clamp<int64_t>(bin, 0, 2 * half - 1);
}

void Histogram::add(const float *values, size_t count) {
  Interval range = extremes;
  uint64_t finite = 0;
  for (size_t i = 0; i < count; ++i) {
    const double value = values[i];
    if (!std::isfinite(value)) {
      ++bad;
      continue;
    }
    range.min = total + finite ? std::min(range.min, value) : value;
    range.max = total + finite ? std::max(range.max, value) : value;
    ++finite;
  }
  if (!finite)
    return;
  extremes = range;
  total += finite;
  const double magnitude = std::max(std::fabs(range.min), std::fabs(range.max));
  if (magnitude == 0) {
    zeros += finite;
    return;
  }
  reach(magnitude);
  const float inverse = static_cast<float>(1 / width);
  if (!std::isfinite(inverse)) { // values so small that f32 cannot represent the factor
    for (size_t i = 0; i < count; ++i)
      if (std::isfinite(values[i]))
        ++counts[binOf(values[i])];
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i]))
      continue;
    const auto bin = static_cast<int64_t>(std::floor(values[i] * inverse)) + int64_t(half);
    ++counts[std::clamp<int64_t>(bin, 0, 2 * half - 1)];
  }
}

void Histogram::add(double value, uint64_t times) {
  if (!times)
    return;
  extremes.min = total ? std::min(extremes.min, value) : value;
  extremes.max = total ? std::max(extremes.max, value) : value;
  total += times;
  if (value == 0 && counts.empty()) {
    zeros += times;
    return;
  }
  reach(std::fabs(value));
  counts[binOf(value)] += times;
}

void Histogram::add(const Histogram &other) {
  if (other.empty())
    return;
  const Interval range = other.extremes;
  if (other.counts.empty()) {
    add(0.0, other.zeros);
  } else {
    reach(std::max(std::fabs(range.min), std::fabs(range.max)));
    for (size_t bin = 0; bin < other.counts.size(); ++bin)
      counts[binOf(other.binCenter(bin))] += other.counts[bin];
    extremes.min = total ? std::min(extremes.min, range.min) : range.min;
    extremes.max = total ? std::max(extremes.max, range.max) : range.max;
    total += other.total;
  }
  bad += other.bad;
}

std::pair<size_t, size_t> Histogram::usedBins() const {
  size_t first = 0, last = counts.size();
  while (first < last && !counts[first])
    ++first;
  while (last > first && !counts[last - 1])
    --last;
  return {first, last};
}

} // namespace atc::quantize
