//===-- Conv.cpp - convolutions of any number of dims ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes a matrix product: column p of the right-hand matrix holds the inputs that output p
// reads. Only some panels of it exist at a time. Convolutions of few channels (depthwise ones) add
// scaled rows instead.

#include "kernels/nn/Convolution.h"

#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

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
                   const F *from =
                       x + ((task / channels * plan.groups + group) * plan.inChannels + i) * plane;
                   const F *weights = w + (channel * plan.inChannels + i) * taps;
                   window.forEachRow(0, window.rows(),
                                     [&](int64_t tap, int64_t out, int64_t in, int64_t n) {
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
    if (!convolveDepthwise(c, y, x, w, bias, plan))
      convolveRows(c, y, x, w, bias, plan);
    return true;
  }
  // The panels of all images and groups are numbered consecutively, about 8 MiB at a time.
  const ImagePanels images{size, width};
  const int64_t panels = plan.batch * plan.groups * images.perImage;
  const int64_t most = minimum(panels, maximum(int64_t(1), (int64_t(1) << 21) / (k * width)));
  F *packed = c.scratch<F>(most * k * width);
  if (!packed)
    return false;
  // A task packs its own weights, which must be amortized over many panels. Where there are few
  // panels, tasks differ by their rows.
  const int64_t chunk = minimum(most, int64_t(16));
  const int64_t rowStep = minimum(m, int64_t(ceilDiv(most, chunk) >= 8 ? 192 : 48));
  const int64_t rowBlocks = ceilDiv(m, rowStep);
  for (int64_t begin = 0; begin < panels; begin += most) {
    const int64_t count = minimum(most, panels - begin);
    parallelIf(c, count, k * width, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        images.forEachImage(
            begin + i, begin + i + 1, [&](int64_t image, int64_t column, int64_t columns, int64_t) {
              packWindow<F, width>(packed + i * k * width, x + image * plan.inChannels * plane,
                                   window, plan.inChannels, column, columns);
            });
      }
    });
    const int64_t chunks = ceilDiv(count, chunk);
    parallelIf(
        c, chunks * rowBlocks, rowStep * chunk * width * k, [&](int64_t first, int64_t last) {
          for (int64_t task = first; task < last; ++task) {
            const int64_t row = task % rowBlocks * rowStep, rows = minimum(rowStep, m - row);
            const int64_t start = begin + task / rowBlocks * chunk;
            const int64_t stop = minimum(begin + count, start + chunk);
            images.forEachImage(start, stop,
                                [&](int64_t image, int64_t column, int64_t columns, int64_t panel) {
                                  const int64_t channel = image % plan.groups * m + row;
                                  F *to = y + (image * m + row) * size + column;
                                  if (bias)
                                    for (int64_t r = 0; r < rows; ++r)
                                      for (int64_t j = 0; j < columns; ++j)
                                        to[r * size + j] = bias[channel + r];
                                  multiplyPacked(to, size, w + channel * k, k, 1,
                                                 packed + (panel - begin) * k * width, rows,
                                                 columns, k, bias != nullptr);
                                });
          }
        });
  }
  return true;
}
template bool convolve<float>(Context &, float *, const float *, const float *, const float *,
                              const ConvPlan &);
template bool convolve<double>(Context &, double *, const double *, const double *, const double *,
                               const ConvPlan &);

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

} // namespace atc::kernels
