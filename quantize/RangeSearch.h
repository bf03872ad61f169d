//===-- RangeSearch.h - searches the range of a tensor --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_RANGESEARCH_H
#define OPENATC_QUANTIZE_RANGESEARCH_H

#include "quantize/Histogram.h"

#include <optional>

namespace atc::quantize {

/// The methods of the search.
enum class RangeMethod { MinMax, Percentile, Kl, Mse };

/// Converts between a method and its name: "minmax", "percentile", "kl", "mse".
const char *methodName(RangeMethod method);
std::optional<RangeMethod> findMethod(const std::string &name);

/// The options of the search.
struct RangeOptions {
  RangeMethod method = RangeMethod::Mse;
  bool symmetric = false, isSigned = true;
  /// The shares of the values that are below the kept maximum and above the kept minimum: for the
  /// percentile method, and as the start of the MSE search.
  double maxPercentile = 0.999999, minPercentile = 0.999999;
  /// The factors by which the MSE search scales the range.
  double searchStart = 0.7, searchEnd = 1.3, searchStep = 0.01;
};

/// Returns the part of the values' range that `options.method` keeps.
Interval searchRange(const Histogram &histogram, const RangeOptions &options);

/// Returns the mean squared error of quantizing the values that the histogram counted.
double quantizationError(const Histogram &histogram, const QuantParams &params);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_RANGESEARCH_H
