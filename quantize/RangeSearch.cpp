//===-- RangeSearch.cpp - searches the range of a tensor ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/RangeSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace atc::quantize {

namespace {

struct Name {
  const char *name;
  RangeMethod method;
};
constexpr Name names[] = {{"minmax", RangeMethod::MinMax},
                          {"percentile", RangeMethod::Percentile},
                          {"kl", RangeMethod::Kl},
                          {"mse", RangeMethod::Mse}};

Interval percentileRange(const Histogram &histogram, const RangeOptions &options) {
  const Interval seen = histogram.seen();
  const auto [first, last] = histogram.usedBins();
  if (first == last)
    return seen;
  const double total = histogram.count();
  // The number of values that may be clamped at either end.
  auto max = [&](double percentile) { return total - std::ceil(total * percentile); };
  Interval kept = seen;
  double cut = 0;
  for (size_t bin = last; bin-- > first;) {
    cut += histogram.binCount(bin);
    if (cut > max(options.maxPercentile)) {
      kept.max = std::min(seen.max, histogram.binCenter(bin) + histogram.binWidth() / 2);
      break;
    }
  }
  cut = 0;
  for (size_t bin = first; bin < last; ++bin) {
    cut += histogram.binCount(bin);
    if (cut > max(options.minPercentile)) {
      kept.min = std::max(seen.min, histogram.binCenter(bin) - histogram.binWidth() / 2);
      break;
    }
  }
  return kept;
}

Interval mseRange(const Histogram &histogram, const RangeOptions &options) {
  const Interval start = percentileRange(histogram, options);
  Interval best = start;
  double min = std::numeric_limits<double>::infinity();
  const int steps =
      std::max(0, static_cast<int>(
                      std::lround((options.searchEnd - options.searchStart) / options.searchStep)));
  for (int i = 0; i <= steps; ++i) {
    const double factor = options.searchStart + i * options.searchStep;
    const Interval range = {start.min * factor, start.max * factor};
    const double error =
        quantizationError(histogram, coverInterval(range, options.symmetric, options.isSigned));
    if (error < min) {
      min = error;
      best = range;
    }
  }
  return best;
}

/// Returns the divergence of the quantized values from the values themselves; clamped values count
/// at the ends of the range.
double divergence(const Histogram &histogram, const QuantParams &params) {
  const auto [first, last] = histogram.usedBins();
  const double lowest = params.dequantize(params.min()) - params.scale / 2,
               highest = params.dequantize(params.max()) + params.scale / 2;
  // Zeros (of a relu, of padding) are exact whatever the scale is: they would only
  // speak for narrow levels.
  auto countOf = [&](size_t bin) -> double {
    return bin == Histogram::half || bin + 1 == Histogram::half ? 0 : histogram.binCount(bin);
  };
  double inside = 0, below = 0, above = 0;
  for (size_t bin = first; bin < last; ++bin) {
    const double x = histogram.binCenter(bin);
    (x < lowest ? below : x > highest ? above : inside) += countOf(bin);
  }
  if (inside == 0)
    return std::numeric_limits<double>::infinity();
  const double total = inside + below + above;
  // Handles one level at a time: its nonempty bins. Quantization makes its values
  // indistinguishable, so that each of these bins then has the mean count.
  std::vector<double> level;
  double sum = 0, result = 0;
  auto finish = [&](bool isLast) {
    const double mean = level.empty() ? 0 : sum / level.size();
    for (size_t i = 0; i < level.size(); ++i) {
      double count = level[i];
      if (i == 0)
        count += std::exchange(below, 0);
      if (isLast && i + 1 == level.size())
        count += above;
      const double p = count / total, q = mean / inside;
      result += p * std::log(p / q);
    }
    level.clear();
    sum = 0;
  };
  int32_t current = std::numeric_limits<int32_t>::min();
  for (size_t bin = first; bin < last; ++bin) {
    const double x = histogram.binCenter(bin), count = countOf(bin);
    if (count == 0 || x < lowest || x > highest)
      continue;
    if (const int32_t q = params.quantize(x); q != current) {
      finish(/*isLast=*/false);
      current = q;
    }
    level.push_back(count);
    sum += count;
  }
  finish(/*isLast=*/true);
  return result;
}

Interval klRange(const Histogram &histogram, const RangeOptions &options) {
  const Interval seen = histogram.seen();
  const double magnitude = std::max(std::fabs(seen.min), std::fabs(seen.max));
  constexpr int steps = 128;
  Interval best = seen;
  double min = std::numeric_limits<double>::infinity();
  for (int i = steps / 8; i <= steps; ++i) {
    const double bound = magnitude * i / steps;
    const Interval range = {std::max(seen.min, -bound), std::min(seen.max, bound)};
    const double loss =
        divergence(histogram, coverInterval(range, options.symmetric, options.isSigned));
    // Prefers the larger of equally good ranges, so that nothing is clamped needlessly.
    if (loss <= min) {
      min = loss;
      best = range;
    }
  }
  return best;
}

} // namespace

const char *methodName(RangeMethod method) {
  for (const Name &entry : names)
    if (entry.method == method)
      return entry.name;
  return "";
}

std::optional<RangeMethod> findMethod(const std::string &name) {
  for (const Name &entry : names)
    if (name == entry.name)
      return entry.method;
  return std::nullopt;
}

double quantizationError(const Histogram &histogram, const QuantParams &params) {
  if (histogram.empty() || !histogram.numBins())
    return 0;
  double sum = 0;
  const auto [first, last] = histogram.usedBins();
  for (size_t bin = first; bin < last; ++bin)
    if (const uint64_t count = histogram.binCount(bin)) {
      const double x = histogram.binCenter(bin);
      const double error = params.dequantize(params.quantize(x)) - x;
      sum += count * error * error;
    }
  return sum / histogram.count();
}

Interval searchRange(const Histogram &histogram, const RangeOptions &options) {
  if (histogram.empty() || !histogram.numBins())
    return histogram.seen();
  switch (options.method) {
  case RangeMethod::MinMax:
    return histogram.seen();
  case RangeMethod::Percentile:
    return percentileRange(histogram, options);
  case RangeMethod::Kl:
    return klRange(histogram, options);
  case RangeMethod::Mse:
    return mseRange(histogram, options);
  }
  return histogram.seen();
}

} // namespace atc::quantize
