//===-- Conv.cpp - convolutions of any number of dims ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As a product of matrices: column p of the right one holds the inputs that output
// p looks at. Only some panels of it exist at a time. Convolutions of few channels
// (depthwise ones) add scaled rows instead.

#include "kernels/Convolution.h"

#include "kernels/Gemm.h"
#include "kernels/Quantize.h"
#include "kernels/Math.h"
#include "kernels/Widen.h"

namespace atc::kernels {

bool ConvPlan::find(Context &c, const Dims &x, const Dims &w) {
  if (x.rank < 3 || w.rank != x.rank)
    return c.fail("data of rank %, weights of rank %", x.rank, w.rank), false;
  groups = c.integer("group", 1);
  if (groups < 1 || w[0] < 1 || w[0] % groups || x[1] != w[1] * groups)
    return c.fail("% channels, weights for % x % in % groups", x[1], w[0], w[1], groups), false;
  batch = x[0];
  inChannels = w[1];
  outChannels = w[0] / groups;
  const List<int64_t> sizes = c.integers("kernel_shape");
  for (int64_t d = 0; d < sizes.size; ++d)
    if (sizes.size != int64_t(w.rank) - 2 || sizes[d] != w[d + 2])
      return c.fail("kernel_shape does not fit the weights"), false;
  if (!window.read(c, Dims(x.at + 2, x.rank - 2), Dims(w.at + 2, w.rank - 2)) || !window.place(c))
    return false;
  result = Dims(x[0], w[0]);
  for (int64_t d = 0; d < window.rank(); ++d)
    result.push(window.out[d]);
  return true;
}

namespace {
/// One panel of the right matrix: outputs [first, first + columns) of one image and group.
template <typename F>
void packWindow(F *to, const F *x, const Window &w, int64_t channels, int64_t first,
                int64_t columns) {
  constexpr int64_t width = kPanel<F>;
  const int64_t rank = w.rank(), taps = w.taps(), plane = w.in.product();
  int64_t start[width][host::kMaxRank];
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t d = rank - 1, rest = first + j; d >= 0; rest /= w.out[d], --d)
      start[j][d] = rest % w.out[d] * w.stride[d] - w.before[d];
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t offsets[width];
    bool contiguous = columns == width;
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
      contiguous &= inside && offset == offsets[0] + j;
    }
    for (int64_t channel = 0; channel < channels; ++channel) {
      F *row = to + (channel * taps + tap) * width;
      const F *from = x + channel * plane;
      if (contiguous) {
        __builtin_memcpy(row, from + offsets[0], width * sizeof(F));
        continue;
      }
      for (int64_t j = 0; j < columns; ++j)
        row[j] = offsets[j] >= 0 ? from[offsets[j]] : F(0);
      for (int64_t j = columns; j < width; ++j)
        row[j] = 0;
    }
  }
}

template <typename F>
void convolveRows(Context &c, F *y, const F *x, const F *w, const F *bias, const ConvPlan &plan) {
  const Window &window = plan.window;
  const int64_t plane = window.in.product(), size = window.out.product(), taps = window.taps();
  const int64_t channels = plan.groups * plan.outChannels, last = window.rank() - 1;
  const int64_t stride = window.stride[last];
  parallelIf(c, plan.batch * channels, size * taps * plan.inChannels,
             [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t channel = task % channels, group = channel / plan.outChannels;
      F *to = y + task * size;
      for (int64_t i = 0; i < size; ++i)
        to[i] = bias ? bias[channel] : F(0);
      for (int64_t i = 0; i < plan.inChannels; ++i) {
        const F *from = x + ((task / channels * plan.groups + group) * plan.inChannels + i) * plane;
        const F *weights = w + (channel * plan.inChannels + i) * taps;
        window.forEachRow(0, window.rows(), [&](int64_t tap, int64_t out, int64_t in, int64_t n) {
          const F weight = weights[tap];
          if (stride == 1)
            for (int64_t j = 0; j < n; ++j)
              to[out + j] += weight * from[in + j];
          else
            for (int64_t j = 0; j < n; ++j)
              to[out + j] += weight * from[in + j * stride];
        });
      }
    }
  });
}
} // namespace

template <typename F>
bool convolve(Context &c, F *y, const F *x, const F *w, const F *bias, const ConvPlan &plan) {
  constexpr int64_t width = kPanel<F>;
  const Window &window = plan.window;
  const int64_t plane = window.in.product(), size = window.out.product();
  const int64_t k = plan.inChannels * window.taps(), m = plan.outChannels;
  if (plan.batch * plan.groups * m * size == 0)
    return true;
  if (m <= 2 || k == 0) {
    convolveRows(c, y, x, w, bias, plan);
    return true;
  }
  // Panels of all images and groups in a row, about 8 MiB of them at a time.
  const int64_t perImage = ceilDiv(size, width), panels = plan.batch * plan.groups * perImage;
  const int64_t most = minimum(panels, maximum(int64_t(1), (int64_t(1) << 21) / (k * width)));
  F *packed = c.scratch<F>(most * k * width);
  if (!packed)
    return false;
  // As many panels to a task as fill the second cache, but enough tasks.
  const int64_t chunk = maximum(int64_t(1), minimum(most / 8, (int64_t(1) << 16) / (k * width)));
  const int64_t rowStep = m <= 192 ? m : 192, rowBlocks = ceilDiv(m, rowStep);
  for (int64_t begin = 0; begin < panels; begin += most) {
    const int64_t count = minimum(most, panels - begin);
    parallelIf(c, count, k * width, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t image = (begin + i) / perImage, column = (begin + i) % perImage * width;
        packWindow(packed + i * k * width, x + image * plan.inChannels * plane, window,
                   plan.inChannels, column, minimum(width, size - column));
      }
    });
    const int64_t chunks = ceilDiv(count, chunk);
    parallelIf(c, chunks * rowBlocks, rowStep * chunk * width * k,
               [&](int64_t first, int64_t last) {
      for (int64_t task = first; task < last; ++task) {
        const int64_t row = task % rowBlocks * rowStep, rows = minimum(rowStep, m - row);
        int64_t panel = task / rowBlocks * chunk;
        const int64_t stop = minimum(count, panel + chunk);
        while (panel < stop) {
          // The panels of this task that belong to one image and group.
          const int64_t image = (begin + panel) / perImage;
          const int64_t column = (begin + panel) % perImage * width;
          const int64_t here = minimum(stop - panel, perImage - (begin + panel) % perImage);
          const int64_t columns = minimum(here * width, size - column);
          const int64_t channel = image % plan.groups * m + row;
          F *to = y + (image * m + row) * size + column;
          if (bias)
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t j = 0; j < columns; ++j)
                to[r * size + j] = bias[channel + r];
          multiplyPacked(to, size, w + channel * k, k, 1, packed + panel * k * width, rows,
                         columns, k, bias != nullptr);
          panel += here;
        }
      }
    });
  }
  return true;
}
template bool convolve<float>(Context &, float *, const float *, const float *, const float *,
                              const ConvPlan &);
template bool convolve<double>(Context &, double *, const double *, const double *,
                               const double *, const ConvPlan &);

ATC_KERNEL(Conv) {
  const Tensor x = in(0), w = in(1), b = in(2);
  ConvPlan plan;
  if (!plan.find(*this, x.dims(), w.dims()))
    return;
  if (b && b.count() != w.dim(0))
    return fail("% biases for % channels", b.count(), w.dim(0));
  char *out = make(0, x.dtype(), plan.result);
  if (!out)
    return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(*this, out, plan.result.product());
    const F *data = widen<T>(*this, x), *weights = widen<T>(*this, w);
    const F *bias = b ? widen<T>(*this, b) : nullptr;
    if (y.data && data && weights && (!b || bias) &&
        convolve(*this, y.data, data, weights, bias, plan))
      y.store(*this);
  });
  if (!done)
    failType(x.dtype());
}

ATC_KERNEL(ConvInteger) {
  const Tensor x = in(0), w = in(1);
  ConvPlan plan;
  if (!plan.find(*this, x.dims(), w.dims()))
    return;
  int32_t *out = make<int32_t>(0, I32, plan.result);
  const int64_t count = plan.result.product();
  if (!out || count == 0)
    return;
  double *y = scratch<double>(count);
  const double *data = centered(*this, x, in(2), 1, 1, x.count());
  const double *weights =
      data ? centered(*this, w, in(3), w.count() / w.dim(0), w.dim(0), w.count()) : nullptr;
  if (!y || !weights || !convolve<double>(*this, y, data, weights, nullptr, plan))
    return;
  for (int64_t i = 0; i < count; ++i)
    out[i] = int32_t(int64_t(y[i]));
}

ATC_KERNEL(QLinearConv) {
  const Tensor x = in(0), scaleX = in(1), w = in(3), scaleW = in(4), scaleY = in(6), zeroY = in(7);
  const Tensor b = in(8);
  ConvPlan plan;
  if (!plan.find(*this, x.dims(), w.dims()))
    return;
  const int64_t channels = w.dim(0), scales = scaleW.count();
  if ((b && b.count() != channels) || (scales != 1 && scales != channels))
    return fail("% biases or % scales for % channels", b ? b.count() : 0, scales, channels);
  char *out = make(0, zeroY.dtype(), plan.result);
  const int64_t count = plan.result.product();
  if (!out || count == 0)
    return;
  double *y = scratch<double>(count);
  const double *bias = b ? numbersOf<double>(*this, b) : nullptr;
  const double *data = centered(*this, x, in(2), 1, 1, x.count());
  const double *weights =
      data ? centered(*this, w, in(5), w.count() / channels, channels, w.count()) : nullptr;
  if (!y || !weights || (b && !bias) || !convolve(*this, y, data, weights, bias, plan))
    return;
  const int64_t size = plan.window.out.product();
  const double zero = numberAt(zeroY, 0);
  const float scaleIn = float(numberAt(scaleX, 0)), scaleOut = float(numberAt(scaleY, 0));
  for (int64_t i = 0; i < count / size; ++i) {
    const int64_t channel = i % channels;
    const float scale =
        scaleIn * float(numberAt(scaleW, scales == 1 ? 0 : channel)) / scaleOut;
    for (int64_t j = 0; j < size; ++j)
      y[i * size + j] = math::rint(y[i * size + j] * double(scale)) + zero;
  }
  storeRounded(out, zeroY.dtype(), 0, y, count);
}

} // namespace atc::kernels
