//===-- SlidingWindow.h - the window of a convolution or pool -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_SLIDINGWINDOW_H
#define OPENATC_FRONTENDS_SLIDINGWINDOW_H

#include <algorithm>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace atc {

/// The maximum stride, dilation and pad.
constexpr int64_t maxWindow = int64_t(1) << 24;

/// A window with one value per spatial dim; `pads` are all begins, then all ends.
struct SlidingWindow {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;

  int64_t numDims() const { return kernel.size(); }
  /// Returns the number of pixels that the dilated kernel spans.
  int64_t extent(unsigned dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }

  /// Sets pads of half of `total` on either side; an odd pixel goes to the end or to the beginning.
  void setPads(unsigned dim, int64_t total, bool moreAtEnd) {
    int64_t less = total / 2;
    pads[dim] = moreAtEnd ? less : total - less;
    pads[kernel.size() + dim] = moreAtEnd ? total - less : less;
  }

  /// Sets the pads with which an input of `size` pixels has one output per stride.
  void padSame(unsigned dim, int64_t size, bool moreAtEnd) {
    int64_t outputs = (size + strides[dim] - 1) / strides[dim];
    int64_t needed = (outputs - 1) * strides[dim] + extent(dim);
    setPads(dim, std::max<int64_t>(needed - size, 0), moreAtEnd);
  }
};

} // namespace atc

#endif // OPENATC_FRONTENDS_SLIDINGWINDOW_H
