//===-- Histogram.h - where the numbers of a tensor lie -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_HISTOGRAM_H
#define OPENATC_QUANTIZE_HISTOGRAM_H

#include "quantize/QuantTable.h"

#include <cstddef>

namespace atc::quantize {

/// Counts the values of a tensor over all samples in one pass. The bins lie around
/// zero; where a later value lies outside, neighbouring bins are joined and the
/// interval doubles, so that nothing counted before is lost.
class Histogram {
public:
  /// Bins on either side of zero.
  static constexpr size_t half = 4096;

  void add(const float *values, size_t count);
  /// Counts `times` the same value.
  void add(double value, uint64_t times);
  /// Takes over what another one has counted.
  void add(const Histogram &other);

  bool empty() const { return total == 0; }
  uint64_t count() const { return total; }
  uint64_t notFinite() const { return bad; }
  /// Of the finite values; 0 and 0 when there are none.
  Interval seen() const { return total ? extremes : Interval(); }

  size_t numBins() const { return counts.size(); }
  uint64_t binCount(size_t bin) const { return counts[bin]; }
  double binWidth() const { return width; }
  double binCenter(size_t bin) const { return (double(bin) - half + 0.5) * width; }
  /// The bins that hold anything, from the first to behind the last.
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
