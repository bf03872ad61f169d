//===-- DepthwiseConv.cpp - convolutions with one channel per group -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accumulators of several adjacent outputs stay in registers while all taps are added; with a
// single vector each multiplication would wait for the previous one. The taps read copies of a few
// rows that include the padding.

#include "kernels/conv/Convolution.h"

#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
template <typename T, T... I> struct Sequence {};

template <typename F, int64_t width> struct PixelLanes {
  typedef F Vec __attribute__((vector_size(width * sizeof(F))));
  typedef F Loose __attribute__((vector_size(width * sizeof(F)), aligned(sizeof(F)), may_alias));

  static Vec load(const F *from) { return *reinterpret_cast<const Loose *>(from); }
  static void store(F *to, Vec vector) { *reinterpret_cast<Loose *>(to) = vector; }

  /// Inputs `stride` apart; nothing past the last of them is read.
  static Vec loadStrided(const F *from, int64_t stride) {
    if (stride == 2)
      return loadEven(from, __make_integer_seq<Sequence, int64_t, width>());
    Vec result;
    for (int64_t j = 0; j < width; ++j)
      result[j] = from[j * stride];
    return result;
  }

private:
  template <int64_t... I> static Vec loadEven(const F *from, Sequence<int64_t, I...>) {
    return __builtin_shufflevector(load(from), load(from + width - 1),
                                   (I < width / 2 ? 2 * I : 2 * I + 1)...);
  }
};

/// Stores the lanes of a row of `columns` elements; `room` elements of the plane are left. What a
/// short row writes past its end, the next row replaces.
template <int64_t width, typename F, typename Vec>
void storeLanes(F *to, const Vec &lanes, int64_t columns, int64_t room) {
  if (columns >= width || room >= width) {
    PixelLanes<F, width>::store(to, lanes);
    return;
  }
  for (int64_t j = 0; j < columns; ++j)
    to[j] = lanes[j];
}

/// A ring of padded rows of the input that are in use at the same time.
template <typename F> struct RowRing {
  static constexpr int64_t kSize = 6144;

  /// Has room for at least `columns` outputs.
  RowRing(const Window &window, int64_t columns)
      : window(window), rows(window.extent(0)), length(lengthOf(window, columns)) {}

  static int64_t lengthOf(const Window &window, int64_t columns) {
    return (maximum(columns, window.out[1]) - 1) * window.stride[1] + window.extent(1);
  }
  static bool fits(const Window &window, int64_t columns) {
    return window.extent(0) <= kSize && lengthOf(window, columns) <= kSize / window.extent(0);
  }

  /// Returns the row for a tap. The row of the first output's first tap is row 0, which need not
  /// exist in the input.
  const F *row(int64_t tap) const { return data + slot(tap * window.dilation[0]); }
  /// The windows of the next outputs, of which the last rows are still there.
  void advance() {
    base = base + step < rows ? base + step : base + step - rows;
    begin += window.stride[0];
  }
  void fill(const F *plane) {
    const int64_t before = window.before[0], end = minimum(begin + rows, window.in[0] + before);
    for (next = maximum(maximum(next, begin), before); next < end; ++next) {
      F *to = data + slot(next - begin);
      const F *from = plane + (next - before) * window.in[1];
      const int64_t left = minimum(maximum(window.before[1], int64_t(0)), length);
      const int64_t skipped = maximum(-window.before[1], int64_t(0));
      const int64_t copied = maximum(minimum(window.in[1] - skipped, length - left), int64_t(0));
      for (int64_t i = 0; i < left; ++i)
        to[i] = 0;
      __builtin_memcpy(to + left, from + skipped, copied * sizeof(F));
      for (int64_t i = left + copied; i < length; ++i)
        to[i] = 0;
    }
  }

  /// Returns the slot of the row `ahead` rows after row `begin`.
  int64_t slot(int64_t ahead) const {
    return (base + ahead < rows ? base + ahead : base + ahead - rows) * length;
  }

  const Window &window;
  const int64_t rows, length;
  const int64_t step = window.stride[0] % rows; ///< of the slots, per row of outputs
  int64_t next = 0, begin = 0, base = 0;        ///< rows; the slot of row `begin`
  alignas(64) F data[kSize];
};

/// Computes one row of outputs, where all rows of taps exist. `Taps` x `Taps` taps are unrolled: so
/// their weights stay in registers.
template <int64_t width, int64_t Taps, bool IsDense, typename F>
void convolveRow(F *to, int64_t columns, int64_t room, const F *const *rows, const F *w, F bias,
                 int64_t stride, int64_t step) {
  using Row = PixelLanes<F, width>;
  using Vec = typename Row::Vec;
  for (int64_t column = 0; column < columns; column += width) {
    // The last vector overlaps the one before.
    const int64_t at = maximum(minimum(column, columns - width), int64_t(0));
    Vec sum = Vec{} + bias;
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < Taps; ++i)
#pragma clang loop unroll(full)
      for (int64_t j = 0; j < Taps; ++j) {
        const F *from = rows[i] + at * (IsDense ? 1 : stride) + j * step;
        sum += w[i * Taps + j] * (IsDense ? Row::load(from) : Row::loadStrided(from, stride));
      }
    storeLanes<width>(to + at, sum, columns, room - at);
  }
}

template <int64_t width, typename F>
void convolvePlane(F *y, const F *x, const F *w, F bias, const Window &window) {
  using Row = PixelLanes<F, width>;
  using Vec = typename Row::Vec;
  RowRing<F> ring(window, width);
  const int64_t columns = window.out[1], size = window.out.product(), taps = window.kernel[1];
  const int64_t stride = window.stride[1], step = window.dilation[1];
  const bool isUnrolled = taps == 3 && window.kernel[0] == 3 && stride <= 2;
  for (int64_t row = 0; row < window.out[0]; ++row, ring.advance()) {
    int64_t first, last;
    window.tapRange(0, row, 0, window.in[0], first, last);
    ring.fill(x);
    F *to = y + row * columns;
    const int64_t room = size - row * columns;
    if (isUnrolled && first == 0 && last == 3) {
      const F *rows[] = {ring.row(0), ring.row(1), ring.row(2)};
      if (stride == 1)
        convolveRow<width, 3, true>(to, columns, room, rows, w, bias, stride, step);
      else
        convolveRow<width, 3, false>(to, columns, room, rows, w, bias, 2, step);
      continue;
    }
    for (int64_t column = 0; column < columns; column += width) {
      const int64_t at = maximum(minimum(column, columns - width), int64_t(0));
      Vec sum = Vec{} + bias;
      for (int64_t i = first; i < last; ++i) {
        const F *from = ring.row(i) + at * stride;
        const F *weights = w + i * taps;
        for (int64_t j = 0; j < taps; ++j)
          sum += weights[j] * (stride == 1 ? Row::load(from + j * step)
                                           : Row::loadStrided(from + j * step, stride));
      }
      storeLanes<width>(to + at, sum, columns, room - at);
    }
  }
}
} // namespace

template <typename F>
bool convolveDepthwise(Context &c, F *y, const F *x, const F *w, const ConvFinish<F> &finish,
                       const ConvPlan &plan) {
  const Window &window = plan.window;
  const int64_t columns = window.rank() == 2 ? window.out[1] : 0;
  const int64_t width = columns >= 32 ? 32 : columns > 8 ? 16 : 8;
  if (plan.inChannels != 1 || window.rank() != 2 || !RowRing<F>::fits(window, width))
    return false;
  const int64_t plane = window.in.product(), size = window.out.product(), taps = window.taps();
  const int64_t channels = plan.groups * plan.outChannels;
  auto convolve = width == 32   ? convolvePlane<32, F>
                  : width == 16 ? convolvePlane<16, F>
                                : convolvePlane<8, F>;
  parallelIf(c, plan.batch * channels, size * taps, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t channel = task % channels;
      convolve(y + task * size, x + task / plan.outChannels * plane, w + channel * taps,
               finish.bias ? finish.bias[channel] : F(0), window);
      finish.run(y, task * size, size, channel, /*isBiased=*/true);
    }
  });
  return true;
}
template bool convolveDepthwise<float>(Context &, float *, const float *, const float *,
                                       const ConvFinish<float> &, const ConvPlan &);
template bool convolveDepthwise<double>(Context &, double *, const double *, const double *,
                                        const ConvFinish<double> &, const ConvPlan &);

} // namespace atc::kernels
