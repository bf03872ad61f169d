//===-- PackImage.h - panels of the windows of an image -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What packWindow does, for the two spatial dims that nearly all convolutions have. The outputs of
// a panel are a few pieces of rows, and what a tap reads for a piece lies in one row of the image.
// So addresses are computed per piece, not per element, and elements are copied as vectors.

#ifndef OPENATC_KERNELS_CONV_PACKIMAGE_H
#define OPENATC_KERNELS_CONV_PACKIMAGE_H

#include "kernels/nn/Gemm.h"
#include "kernels/nn/Window.h"

namespace atc::kernels {

template <typename F> class ImagePacker {
public:
  /// Takes outputs [first, first + columns) of the image; columns <= kPanel.
  ImagePacker(const Window &window, int64_t first, int64_t columns)
      : w(window), plane(window.in.product()) {
    const int64_t length = w.out[1];
    int64_t row = first / length, column = first % length;
    for (int64_t lane = 0; lane < columns; ++pieces, ++row, column = 0) {
      const int64_t count = minimum(length - column, columns - lane);
      outputs[pieces] = {lane, count, row * w.stride[0] - w.before[0],
                         column * w.stride[1] - w.before[1]};
      lane += count;
    }
  }

  /// Writes channels * taps rows of kPanel elements: row channel * taps + tap holds the element
  /// that each output reads there, 0 where there is none.
  void pack(F *to, const F *x, int64_t channels) {
    const int64_t taps = w.taps();
    for (int64_t i = 0, tap = 0; i < w.kernel[0]; ++i)
      for (int64_t j = 0; j < w.kernel[1]; ++j, ++tap)
        packTap(to + tap * width, x, channels, taps * width, i * w.dilation[0], j * w.dilation[1]);
  }

private:
  static constexpr int64_t width = kPanel<F>;
  typedef F Vec __attribute__((vector_size(64)));
  typedef F Loose __attribute__((vector_size(64), aligned(sizeof(F)), may_alias));

  /// Neighbouring outputs of one row: lanes [lane, lane + count) of the panel.
  struct Piece {
    int64_t lane, count;
    int64_t row, column; ///< of the first tap of the first output, in the image without pads
  };
  /// Lanes whose elements exist; that of the first one is at `offset` in the plane.
  struct Run {
    int64_t lane, count, offset;
  };

  /// Finds the runs of the tap `down` rows and `right` columns behind the first one.
  void findRuns(int64_t down, int64_t right) {
    const int64_t stride = w.stride[1];
    runs = 0;
    for (int64_t i = 0; i < pieces; ++i) {
      const Piece &piece = outputs[i];
      const int64_t row = piece.row + down, column = piece.column + right;
      if (row < 0 || row >= w.in[0])
        continue;
      int64_t first = 0, last = piece.count;
      if (column < 0)
        first = stride == 1 ? -column : ceilDiv(-column, stride);
      if (column + (last - 1) * stride >= w.in[1])
        last = stride == 1 ? w.in[1] - column : ceilDiv(w.in[1] - column, stride);
      if (first >= last)
        continue;
      const Run run{piece.lane + first, last - first, row * w.in[1] + column + first * stride};
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
  void packTap(F *to, const F *x, int64_t channels, int64_t step, int64_t down, int64_t right) {
    findRuns(down, right);
    const int64_t stride = w.stride[1];
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
  const int64_t plane;
  int64_t pieces = 0, runs = 0;
  Piece outputs[width];
  Run inputs[width];
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CONV_PACKIMAGE_H
