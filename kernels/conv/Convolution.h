//===-- Convolution.h - convolutions of any number of dims ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CONV_CONVOLUTION_H
#define OPENATC_KERNELS_CONV_CONVOLUTION_H

#include "kernels/nn/Window.h"

namespace atc::kernels {

/// The sizes of a convolution; data is [batch, channels, spatial dims], dense.
struct ConvPlan {
  Window window;
  int64_t batch = 0, groups = 1, inChannels = 0, outChannels = 0; ///< channels per group
  Dims result;
  /// Computes the sizes from the dims of data and weights and from the attributes. Returns false
  /// and fails the call where they do not fit.
  bool find(Context &c, const Dims &x, const Dims &w);
};

/// Holds the bias, the sum and the activation that a convolution applies to its results while they
/// are in the cache.
template <typename F> struct ConvFinish {
  const F *bias = nullptr; ///< per output channel; null: none
  const F *sum = nullptr;  ///< added elementwise, in the dims of the result; null: none
  /// Computes an activation of `count` elements in place; null: none.
  void (*activation)(const void *argument, F *elements, int64_t count) = nullptr;
  const void *argument = nullptr; ///< of `activation`

  /// Finishes elements [at, at + count) of the result `y`, which belong to output channel
  /// `channel`. `isBiased`: the bias has been added.
  void run(F *y, int64_t at, int64_t count, int64_t channel, bool isBiased) const {
    F *to = y + at;
    const F shift = bias && !isBiased ? bias[channel] : F(0);
    if (sum)
      for (int64_t i = 0; i < count; ++i)
        to[i] += shift + sum[at + i];
    else if (bias && !isBiased)
      for (int64_t i = 0; i < count; ++i)
        to[i] += shift;
    if (activation)
      activation(argument, to, count);
  }
};

/// Computes y = x convolved with w, and what `finish` says. F is float or double. Returns false
/// where memory could not be allocated.
template <typename F>
bool convolve(Context &c, F *y, const F *x, const F *w, const ConvFinish<F> &finish,
              const ConvPlan &plan);

/// Computes a depthwise convolution of two spatial dims and one channel per group; returns false,
/// without a result, for others and for rows that are too long.
template <typename F>
bool convolveDepthwise(Context &c, F *y, const F *x, const F *w, const ConvFinish<F> &finish,
                       const ConvPlan &plan);

/// Packs one panel of the right-hand matrix of the product that computes a convolution: outputs
/// [first, first + columns) of one image and group as channels * taps rows of `width` elements;
/// those beyond `columns` are 0.
template <typename F, int64_t width>
void packWindow(F *to, const F *x, const Window &w, int64_t channels, int64_t first,
                int64_t columns) {
  const int64_t rank = w.rank(), taps = w.taps(), plane = w.in.product();
  int64_t start[width][host::kMaxRank];
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t d = rank - 1, rest = first + j; d >= 0; rest /= w.out[d], --d)
      start[j][d] = rest % w.out[d] * w.stride[d] - w.before[d];
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t offsets[width], begin = 0;
    bool inRow = columns == width, contiguous = true, keep[width] = {};
    for (int64_t j = 0; j < columns; ++j) {
      int64_t offset = 0, step = 1;
      bool inside = true;
      for (int64_t d = rank - 1, rest = tap; d >= 0; rest /= w.kernel[d], --d) {
        const int64_t position = start[j][d] + rest % w.kernel[d] * w.dilation[d];
        inside &= position >= 0 && position < w.in[d];
        offset += position * step;
        step *= w.in[d];
      }
      offsets[j] = inside ? offset : -1;
      keep[j] = inside;
      begin = j == 0 ? offset : begin;
      contiguous &= inside;
      inRow &= offset == begin + j;
    }
    // Outputs of stride 1 read adjacent inputs, some of which may be padding; all addresses are
    // inside the plane.
    inRow &= begin >= 0 && begin + width <= plane;
    for (int64_t channel = 0; channel < channels; ++channel) {
      F *row = to + (channel * taps + tap) * width;
      const F *from = x + channel * plane;
      if (inRow && contiguous) {
        __builtin_memcpy(row, from + begin, width * sizeof(F));
        continue;
      }
      if (inRow) {
        for (int64_t j = 0; j < width; ++j) {
          const F value = from[begin + j];
          row[j] = keep[j] ? value : F(0);
        }
        continue;
      }
      for (int64_t j = 0; j < columns; ++j)
        row[j] = offsets[j] >= 0 ? from[offsets[j]] : F(0);
      for (int64_t j = columns; j < width; ++j)
        row[j] = 0;
    }
  }
}

/// Panels of `width` outputs, numbered over all images and groups.
struct ImagePanels {
  int64_t size, width; ///< outputs per image and group
  int64_t perImage = ceilDiv(size, width);

  /// Calls fn(image, first column, columns, first panel) for the panels of [first, last) that
  /// belong to one image.
  template <typename Fn> void forEachImage(int64_t first, int64_t last, Fn &&fn) const {
    for (int64_t panel = first, here; panel < last; panel += here) {
      const int64_t before = panel % perImage, column = before * width;
      here = minimum(last - panel, perImage - before);
      fn(panel / perImage, column, minimum(here * width, size - column), panel);
    }
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CONV_CONVOLUTION_H
