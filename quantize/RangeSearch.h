//===-- RangeSearch.h - which range of a tensor is worth keeping ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_RANGESEARCH_H
#define OPENATC_QUANTIZE_RANGESEARCH_H

#include "quantize/Histogram.h"

#include <optional>

namespace atc::quantize {

enum class RangeMethod { MinMax, Percentile, Kl, Mse };

/// "minmax", "percentile", "kl", "mse".
const char *methodName(RangeMethod method);
std::optional<RangeMethod> findMethod(const std::string &name);

struct RangeOptions {
  RangeMethod method = RangeMethod::Mse;
  bool symmetric = false, isSigned = true;
  /// The parts of the values that stay below the largest and above the smallest kept
  /// one: of the percentile method, and where the MSE search starts.
  double maxPercentile = 0.999999, minPercentile = 0.999999;
  /// The MSE search tries the range times these factors.
  double searchStart = 0.7, searchEnd = 1.3, searchStep = 0.01;
};

/// The part of the values' range that `options.method` keeps.
Interval searchRange(const Histogram &histogram, const RangeOptions &options);

/// The mean squared error of quantizing what the histogram counted.
double quantizationError(const Histogram &histogram, const QuantParams &params);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_RANGESEARCH_H
