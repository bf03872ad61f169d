//===-- Histogram.h - the distribution of a tensor's values ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_HISTOGRAM_H
#define OPENATC_QUANTIZE_HISTOGRAM_H

#include "quantize/QuantTable.h"

#include <cstddef>

namespace atc::quantize {

/// Counts the values of a tensor over all samples in one pass. The bins are symmetric around zero;
/// where a later value lies outside, adjacent bins are merged and the interval doubles, so that no
/// count is lost.
class Histogram {
public:
  /// The number of bins on either side of zero.
  static constexpr size_t half = 4096;

  /// Adds values; those that are not finite are only counted. The bins grow with the largest
  /// magnitude.
  void add(const float *values, size_t count);
  /// Counts one value `times` times.
  void add(double value, uint64_t times);
  /// Adds the counts of another histogram.
  void add(const Histogram &other);

  /// Returns whether no value was added.
  bool empty() const { return total == 0; }
  uint64_t count() const { return total; }
  uint64_t notFinite() const { return bad; }
  /// Returns the range of the finite values; 0 and 0 when there are none.
  Interval seen() const { return total ? extremes : Interval(); }

  size_t numBins() const { return counts.size(); }
  /// Return the number of values in a bin and the value at its center.
  uint64_t binCount(size_t bin) const { return counts[bin]; }
  double binWidth() const { return width; }
  double binCenter(size_t bin) const { return (double(bin) - half + 0.5) * width; }
  /// Returns the range of nonempty bins, from the first to behind the last.
  std::pair<size_t, size_t> usedBins() const;

private:
  void reach(double magnitude);
  size_t binOf(double value) const;

  std::vector<uint64_t> counts;
  double width = 0;
  uint64_t total = 0, bad = 0;
  uint64_t zeros = 0; ///< counted before there was any other value
  Interval extremes;
};

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_HISTOGRAM_H
