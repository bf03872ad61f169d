//===-- BytePanels.h - order of the weights of products of bytes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A k x n matrix of bytes is stored in panels of 16 columns, four rows of each column side by
// side: [n / 16, k / 4, 16, 4]. So one register of 64 bytes has what vpdpbusd adds to 16 sums.
// Elements are signed; unsigned ones are stored less 128.
//
// Weights of convolutions are the other factor: they are unsigned, and signed ones are stored plus
// 128.

#ifndef OPENATC_KERNELS_CORE_BYTEPANELS_H
#define OPENATC_KERNELS_CORE_BYTEPANELS_H

#include <stdint.h>

namespace atc::kernels {

/// The order of a k x n matrix that takes as many bytes in panels as without.
struct BytePanels {
  static constexpr int64_t kColumns = 16; ///< of a panel
  static constexpr int64_t kRows = 4;     ///< side by side
  int64_t k, n;

  /// Returns whether the panels are full.
  bool fits() const { return k > 0 && n > 0 && k % kRows == 0 && n % kColumns == 0; }
  /// Returns where the element of a row and a column is stored.
  int64_t at(int64_t row, int64_t column) const {
    return ((column / kColumns * (k / kRows) + row / kRows) * kColumns + column % kColumns) *
               kRows +
           row % kRows;
  }
};

/// The order of the weights of an output channel, [channels, taps]: four channels of a tap side by
/// side. Where channels are no multiple of 4, those behind them are 0, and take bytes of their own.
struct QuadOrder {
  static constexpr int64_t kChannels = 4;
  /// The output channels per group up to which no product computes a convolution: its kernel adds
  /// rows of the image.
  static constexpr int64_t kFewRows = 2;
  int64_t channels, taps;

  /// Returns the number of bytes.
  int64_t size() const { return (channels + kChannels - 1) / kChannels * kChannels * taps; }
  /// Returns whether weights take as many bytes as in their own order.
  bool fits() const { return channels > 0 && taps > 0 && channels % kChannels == 0; }
  /// Returns where the weight of a channel and a tap is stored.
  int64_t at(int64_t channel, int64_t tap) const {
    return (channel / kChannels * taps + tap) * kChannels + channel % kChannels;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_BYTEPANELS_H
