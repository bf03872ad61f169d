//===-- Taps.h - axes whose elements are sums of others -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_ACLNN_TAPS_H
#define ASCEND_ACLNN_TAPS_H

#include "ascend/aclnn/Plan.h"

#include <vector>

namespace atc::ascend {

/// The elements of an axis that each element of its resized form sums, and their weights, which
/// are 1 where there is only one tap.
struct Tap {
  Dims positions;
  std::vector<double> weights;
};

/// Returns a view with another number of elements along an axis.
View resampled(Plan &plan, const View &self, size_t axis, const std::vector<Tap> &taps);

/// Return the taps of an axis of `from` elements that is resized to `to`. A scale of 0 is the
/// quotient of both.
std::vector<Tap> nearestTaps(int64_t from, int64_t to, bool isExact, double scale);
std::vector<Tap> linearTaps(int64_t from, int64_t to, bool alignCorners, double scale);
std::vector<Tap> cubicTaps(int64_t from, int64_t to, bool alignCorners, double scale);
/// With a filter that is stretched where the axis becomes shorter, so that all elements count.
std::vector<Tap> filterTaps(int64_t from, int64_t to, bool alignCorners, double scale,
                            bool isCubic);

} // namespace atc::ascend

#endif
