//===-- PackImage.h - panels of the windows of floats ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What packWindow does, as vectors. The outputs of a panel are a few pieces of rows, and what a tap
// reads for a piece lies in one row of the image. So addresses are computed per piece, not per
// element.

#ifndef OPENATC_KERNELS_CONV_PACKIMAGE_H
#define OPENATC_KERNELS_CONV_PACKIMAGE_H

#include "kernels/nn/Gemm.h"
#include "kernels/nn/Window.h"

namespace atc::kernels {

template <typename F> class ImagePacker {
public:
  /// Takes outputs [first, first + columns) of the image; columns <= kPanel.
  ImagePacker(const Window &window, int64_t first, int64_t columns)
      : w(window), last(window.rank() - 1), plane(window.in.product()) {
    const int64_t length = w.out[last];
    int64_t at[host::kMaxRank], column = first % length;
    for (int64_t d = last - 1, row = first / length; d >= 0; row /= w.out[d], --d)
      at[d] = row % w.out[d];
    for (int64_t lane = 0; lane < columns; ++pieces, column = 0) {
      Piece &piece = outputs[pieces];
      piece.lane = lane;
      piece.count = minimum(length - column, columns - lane);
      for (int64_t d = 0; d < last; ++d)
        piece.start[d] = at[d] * w.stride[d] - w.before[d];
      piece.start[last] = column * w.stride[last] - w.before[last];
      lane += piece.count;
      for (int64_t d = last - 1; d >= 0 && ++at[d] == w.out[d]; --d)
        at[d] = 0;
    }
  }

  /// Writes channels * taps rows of kPanel elements: row channel * taps + tap holds the element
  /// that each output reads there, 0 where there is none.
  void pack(F *to, const F *x, int64_t channels) {
    const int64_t taps = w.taps();
    int64_t at[host::kMaxRank] = {};
    for (int64_t tap = 0; tap < taps; ++tap) {
      packTap(to + tap * width, x, channels, taps * width, at);
      for (int64_t d = last; d >= 0 && ++at[d] == w.kernel[d]; --d)
        at[d] = 0;
    }
  }

private:
  static constexpr int64_t width = kPanel<F>;
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));

  /// Neighbouring outputs of one row: lanes [lane, lane + count) of the panel.
  struct Piece {
    int64_t lane, count;
    int64_t start[host::kMaxRank]; ///< the first tap of the first output, in the image without pads
  };
  /// Lanes whose elements exist; that of the first one is at `offset` in the plane.
  struct Run {
    int64_t lane, count, offset;
  };

  /// Finds the runs of the tap at this position in the kernel.
  void findRuns(const int64_t *tap) {
    const int64_t stride = w.stride[last], length = w.in[last];
    runs = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      const Piece &piece = outputs[i];
      int64_t row = 0;
      bool exists = true;
      for (int64_t d = 0; d < last; ++d) {
        const int64_t at = piece.start[d] + tap[d] * w.dilation[d];
        exists &= at >= 0 && at < w.in[d];
        row = row * w.in[d] + at;
      }
      const int64_t column = piece.start[last] + tap[last] * w.dilation[last];
      int64_t first = 0, end = piece.count;
      if (column < 0)
        first = stride == 1 ? -column : ceilDiv(-column, stride);
      if (column + (end - 1) * stride >= length)
        end = stride == 1 ? length - column : ceilDiv(length - column, stride);
      if (!exists || first >= end)
        continue;
      const Run run{piece.lane + first, end - first, row * length + column + first * stride};
      // Rows that follow each other without a gap are one run.
      if (Run *before = runs ? &inputs[runs - 1] : nullptr;
          before && stride == 1 && before->lane + before->count == run.lane &&
          before->offset + before->count == run.offset)
        before->count += run.count;
      else
        inputs[runs++] = run;
    }
  }

  /// Writes the row of one tap for each channel; rows are `step` elements apart.
  void packTap(F *to, const F *x, int64_t channels, int64_t step, const int64_t *tap) {
    findRuns(tap);
    const int64_t stride = w.stride[last];
    const Run run = runs ? inputs[0] : Run{};
    const bool isWhole = runs == 1 && run.count == width;
    if (isWhole && stride == 1) {
      for (const F *from = x + run.offset; channels-- > 0; to += step, from += plane)
        __builtin_memcpy(to, from, sizeof(Vec));
      return;
    }
    if (isWhole && stride == 2) {
      for (const F *from = x + run.offset; channels-- > 0; to += step, from += plane)
        copyEven(to, from);
      return;
    }
    // A run of neighbours is one vector, where the lanes beside it read inside of the plane.
    bool isMasked = stride == 1 && runs > 0 && runs <= maxMasked;
    for (int64_t i = 0; isMasked && i < runs; ++i) {
      const int64_t start = inputs[i].offset - inputs[i].lane;
      isMasked = start >= 0 && start + width <= plane;
    }
    if (isMasked)
      return packMasked(to, x, channels, step);
    for (; channels-- > 0; to += step, x += plane) {
      *reinterpret_cast<Loose *>(to) = Vec{};
      for (int64_t i = 0; i < runs; ++i) {
        F *lanes = to + inputs[i].lane;
        const F *from = x + inputs[i].offset;
        for (int64_t j = 0; j < inputs[i].count; ++j)
          lanes[j] = from[j * stride];
      }
    }
  }

  void packMasked(F *to, const F *x, int64_t channels, int64_t step) {
    using Masks = decltype(Vec{} < Vec{});
    Masks masks[maxMasked] = {};
    for (int64_t i = 0; i < runs; ++i)
      for (int64_t j = 0; j < inputs[i].count; ++j)
        masks[i][inputs[i].lane + j] = -1;
    for (; channels-- > 0; to += step, x += plane) {
      Masks bits = {};
      for (int64_t i = 0; i < runs; ++i) {
        const F *from = x + inputs[i].offset - inputs[i].lane;
        bits |= __builtin_bit_cast(Masks, Vec(*reinterpret_cast<const Loose *>(from))) & masks[i];
      }
      *reinterpret_cast<Loose *>(to) = __builtin_bit_cast(Vec, bits);
    }
  }

  /// Copies every second element; nothing past the last of them is read.
  static void copyEven(F *to, const F *from) {
    const Vec low = *reinterpret_cast<const Loose *>(from);
    const Vec high = *reinterpret_cast<const Loose *>(from + width - 1);
    if constexpr (width == 16)
      *reinterpret_cast<Loose *>(to) = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14,
                                                               17, 19, 21, 23, 25, 27, 29, 31);
    else
      *reinterpret_cast<Loose *>(to) =
          __builtin_shufflevector(low, high, 0, 2, 4, 6, 9, 11, 13, 15);
  }

  static constexpr int64_t maxMasked = 4;
  const Window &w;
  const int64_t last, plane;
  int64_t pieces = 0, runs = 0;
  Piece outputs[width];
  Run inputs[width];
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CONV_PACKIMAGE_H
