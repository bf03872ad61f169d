//===-- ByteDepthwise.h - depthwise convolutions of 8-bit tensors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plane is copied with its pads as 16-bit integers less the zero point. Columns whose index has
// the same rest by the stride are neighbours there, so that every tap of 16 outputs is one vector.

#ifndef OPENATC_KERNELS_CONV_BYTEDEPTHWISE_H
#define OPENATC_KERNELS_CONV_BYTEDEPTHWISE_H

#include "kernels/conv/Convolution.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/IntegerProducts.h"

namespace atc::kernels {

/// A convolution of images, or of lines, with one input channel per group.
class ByteDepthwise {
public:
  ByteDepthwise(const ConvPlan &plan, const ZeroPoints &zeroX, const ZeroPoints &zeroW)
      : plan(plan), zeroX(zeroX.at(0)), zeroW(zeroW) {
    const Window &w = plan.window;
    const int64_t rank = w.rank();
    if (rank > 2)
      return;
    if (rank == 2)
      rows = {w.in[0], w.out[0], w.kernel[0], w.stride[0], w.dilation[0], w.before[0]};
    columns = {w.in[rank - 1],     w.out[rank - 1],      w.kernel[rank - 1],
               w.stride[rank - 1], w.dilation[rank - 1], w.before[rank - 1]};
    // The columns that the last vector of a row reads.
    phaseSize = ceilDiv(columns.out, kLanes) * kLanes +
                (columns.kernel - 1) * columns.dilation / columns.stride + 1;
    rowSize = phaseSize * columns.stride;
    height = (rows.out - 1) * rows.stride + (rows.kernel - 1) * rows.dilation + 1;
    if (__builtin_mul_overflow(height, rowSize, &planeSize))
      planeSize = kMaxElements + 1;
  }

  /// Returns whether the convolution has this form, and planes of a moderate size.
  bool fits() const {
    const Window &w = plan.window;
    // A small file must not ask for much memory by pads and gaps.
    const int64_t max = minimum(kMaxElements, 32 * (w.in.product() + w.out.product()) + 4096);
    return w.rank() <= 2 && plan.inChannels == 1 && w.taps() <= kTaps && w.out.product() > 0 &&
           w.in.product() > 0 && planeSize <= max;
  }

  /// Passes the accumulators of each channel of the result to the sink. Returns false where memory
  /// could not be allocated.
  bool run(Context &c, const void *x, bool signedX, const void *weights, bool signedW,
           SumSink sink) const {
    const Window &w = plan.window;
    const int64_t size = w.out.product(), count = plan.batch * plan.groups * plan.outChannels;
    const int64_t parts = minimum(count, int64_t(16)), sumsSize = size + kLanes;
    int16_t *planes = c.scratch<int16_t>(parts * planeSize);
    int32_t *all = planes ? c.scratch<int32_t>(parts * sumsSize) : nullptr;
    if (!all)
      return false;
    parallelIf(c, parts, ceilDiv(count, parts) * size * w.taps(), [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        int16_t *plane = planes + part * planeSize;
        int32_t *sums = all + part * sumsSize;
        int64_t copied = -1;
        for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
          const int64_t image = i / plan.outChannels; // of a group
          if (image != copied)
            signedX ? copy(plane, static_cast<const int8_t *>(x) + image * w.in.product())
                    : copy(plane, static_cast<const uint8_t *>(x) + image * w.in.product());
          copied = image;
          const int64_t channel = i % (plan.groups * plan.outChannels);
          int32_t factors[kTaps];
          for (int64_t t = 0; t < w.taps(); ++t) {
            const int64_t at = channel * w.taps() + t;
            factors[t] = (signedW ? int(static_cast<const int8_t *>(weights)[at])
                                  : int(static_cast<const uint8_t *>(weights)[at])) -
                         zeroW.at(channel);
          }
          convolve(sums, plane, factors);
          sink.store(sink.arg, image, i % plan.outChannels, 0, size, sums);
        }
      }
    });
    return true;
  }

private:
  static constexpr int64_t kLanes = 16, kTaps = 96, kMaxElements = int64_t(1) << 24;
  /// Vectors of sums that are computed at once.
  static constexpr int64_t kVectors = 4;
  typedef int32_t Sums __attribute__((vector_size(64)));
  typedef int32_t LooseSums __attribute__((vector_size(64), aligned(4), may_alias));
  typedef int16_t LooseShorts __attribute__((vector_size(32), aligned(2), may_alias));

  /// The parameters of one of the two spatial dims; data with one spatial dim have one row.
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0;
  };

  template <typename T> void copy(int16_t *to, const T *from) const {
    __builtin_memset(to, 0, uint64_t(planeSize) * sizeof(int16_t));
    const int64_t step = columns.stride, zero = zeroX, before = columns.before;
    // Column x of the image is column x + before of the row.
    const int64_t last = minimum(columns.in, rowSize - before);
    const int64_t first = maximum(rows.before, int64_t(0));
    const int64_t end = minimum(height, rows.in + rows.before);
    if (step == 2 && before >= 0) {
      for (int64_t y = first; y < end; ++y)
        copyHalves(to + y * rowSize, from + (y - rows.before) * columns.in, last);
      return;
    }
    for (int64_t phase = 0; phase < step; ++phase) {
      // The first column of the phase that is in the image.
      int64_t start = phase - before;
      if (start < 0)
        start += ceilDiv(-start, step) * step;
      for (int64_t y = first; y < end; ++y) {
        const T *line = from + (y - rows.before) * columns.in;
        int16_t *lane = to + y * rowSize + phase * phaseSize + (start + before) / step;
        if (step == 1)
          for (int64_t x = start; x < last; ++x)
            lane[x - start] = int16_t(line[x] - zero);
        else
          for (int64_t x = start; x < last; x += step)
            *lane++ = int16_t(line[x] - zero);
      }
    }
  }

  /// Copies a row of columns [0, last) to two phases.
  template <typename T> void copyHalves(int16_t *to, const T *line, int64_t last) const {
    typedef T Bytes __attribute__((vector_size(32)));
    typedef T Loose __attribute__((vector_size(32), aligned(1), may_alias));
    typedef int16_t Shorts __attribute__((vector_size(32)));
    const int64_t before = columns.before, odd = before & 1;
    const auto zero = int16_t(zeroX);
    // The destinations of the even and the odd columns of the image.
    int16_t *evens = to + odd * phaseSize + before / 2;
    int16_t *odds = to + (1 - odd) * phaseSize + (before + 1) / 2;
    int64_t x = 0;
    for (; x + 32 <= last; x += 32) {
      const Bytes bytes = *reinterpret_cast<const Loose *>(line + x);
      const auto even = __builtin_shufflevector(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
                                                22, 24, 26, 28, 30);
      const auto rest = __builtin_shufflevector(bytes, bytes, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                                23, 25, 27, 29, 31);
      *reinterpret_cast<LooseShorts *>(evens + x / 2) =
          __builtin_convertvector(even, Shorts) - zero;
      *reinterpret_cast<LooseShorts *>(odds + x / 2) = __builtin_convertvector(rest, Shorts) - zero;
    }
    for (; x < last; ++x)
      (x & 1 ? odds : evens)[x / 2] = int16_t(line[x] - zero);
  }

  /// Computes the sums of a channel; those of the last row are followed by others.
  void convolve(int32_t *to, const int16_t *plane, const int32_t *factors) const {
    int64_t offsets[kTaps], taps = 0;
    for (int64_t i = 0; i < rows.kernel; ++i)
      for (int64_t j = 0; j < columns.kernel; ++j) {
        const int64_t column = j * columns.dilation;
        offsets[taps++] = i * rows.dilation * rowSize + column % columns.stride * phaseSize +
                          column / columns.stride;
      }
    const int64_t perRow = ceilDiv(columns.out, kLanes), count = rows.out * perRow;
    for (int64_t first = 0; first < count; first += kVectors) {
      const int64_t vectors = minimum(kVectors, count - first);
      const int16_t *from[kVectors];
      int32_t *own[kVectors];
      for (int64_t v = 0; v < kVectors; ++v) {
        // Where fewer are left, the last one is computed again.
        const int64_t at = first + minimum(v, vectors - 1);
        const int64_t y = at / perRow, x = at % perRow * kLanes;
        from[v] = plane + y * rows.stride * rowSize + x;
        own[v] = to + y * columns.out + x;
      }
      Sums sums[kVectors] = {};
      for (int64_t t = 0; t < taps; ++t)
#pragma clang loop unroll(full)
        for (int64_t v = 0; v < kVectors; ++v)
          sums[v] += __builtin_convertvector(
                         *reinterpret_cast<const LooseShorts *>(from[v] + offsets[t]), Sums) *
                     factors[t];
      // Elements behind the end of a row are written again, by the next one.
#pragma clang loop unroll(full)
      for (int64_t v = 0; v < kVectors; ++v)
        *reinterpret_cast<LooseSums *>(own[v]) = sums[v];
    }
  }

  const ConvPlan &plan;
  const int zeroX;
  const ZeroPoints &zeroW;
  Axis rows, columns;
  /// The sizes of a padded plane in elements; a phase has the columns of one rest by the stride.
  int64_t phaseSize = 0, rowSize = 0, height = 0, planeSize = 0;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CONV_BYTEDEPTHWISE_H
