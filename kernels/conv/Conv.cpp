//===-- Conv.cpp - convolutions of any number of dims ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes a matrix product: column p of the right-hand matrix holds the inputs that output p
// reads. Only some panels of it exist at a time. Convolutions of few channels (depthwise ones) add
// scaled rows instead.

#include "kernels/conv/Convolution.h"

#include "kernels/conv/PackImage.h"
#include "kernels/core/GeneratedCode.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

bool ConvPlan::find(Context &c, const Dims &x, const Dims &w) {
  if (x.rank < 3 || w.rank != x.rank)
    return c.fail("data of rank %, weights of rank %", x.rank, w.rank), false;
  groups = c.integer("group", 1);
  // TensorFlow states no groups: they follow from the channels of data and weights.
  if (c.integer("groups_by_channels", 0) && w[1] > 0)
    groups = x[1] / w[1];
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
void convolveRows(Context &c, F *y, const F *x, const F *w, const ConvFinish<F> &finish,
                  const ConvPlan &plan) {
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
                   to[i] = finish.bias ? finish.bias[channel] : F(0);
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
                 finish.run(y, task * size, size, channel, /*isBiased=*/true);
               }
             });
}

/// The panels of all images and groups, numbered consecutively, and how they are divided.
template <typename F> struct PanelBlocks {
  static constexpr int64_t width = kPanel<F>;
  const ConvPlan &plan;
  const int64_t plane = plan.window.in.product(), size = plan.window.out.product();
  const int64_t k = plan.inChannels * plan.window.taps(), m = plan.outChannels;
  const ImagePanels images{size, width};
  const int64_t panels = plan.batch * plan.groups * images.perImage;
  /// The panels of a task share rows of weights; all that exist at a time share a cache.
  const int64_t chunk = minimum(maximum(panels, int64_t(1)), int64_t(16));
  const int64_t block =
      minimum(panels, maximum(2 * chunk, (int64_t(1) << 19) / maximum(k * width, int64_t(1))));
  const int64_t rowStep = minimum(m, int64_t(ceilDiv(block, chunk) >= 8 ? 192 : 48));
  const int64_t rowBlocks = ceilDiv(m, rowStep);

  /// Packs panels [first, last); panel `base` is the first one in `packed`.
  void pack(F *packed, const F *x, int64_t base, int64_t first, int64_t last) const {
    for (int64_t i = first; i < last; ++i)
      images.forEachImage(i, i + 1, [&](int64_t image, int64_t column, int64_t columns, int64_t) {
        F *to = packed + (i - base) * k * width;
        const F *from = x + image * plan.inChannels * plane;
        ImagePacker<F>(plan.window, column, columns).pack(to, from, plan.inChannels);
      });
  }

  /// Computes rows [row, row + rows) of panels [first, last).
  void compute(F *y, const F *packed, const F *w, const ConvFinish<F> &finish, int64_t base,
               int64_t first, int64_t last, int64_t row) const {
    const int64_t rows = minimum(rowStep, m - row);
    images.forEachImage(
        first, last, [&](int64_t image, int64_t column, int64_t columns, int64_t panel) {
          const int64_t channel = image % plan.groups * m + row;
          const int64_t at = (image * m + row) * size + column;
          multiplyPacked(y + at, size, w + channel * k, k, 1, packed + (panel - base) * k * width,
                         rows, columns, k, /*add=*/false);
          for (int64_t r = 0; r < rows; ++r)
            finish.run(y, at + r * size, columns, channel + r, /*isBiased=*/false);
        });
  }
};
} // namespace

template <typename F>
bool convolve(Context &c, F *y, const F *x, const F *w, const ConvFinish<F> &finish,
              const ConvPlan &plan) {
  const PanelBlocks<F> blocks{plan};
  if (plan.batch * plan.groups * blocks.m * blocks.size == 0)
    return true;
  if (blocks.m <= 2 || blocks.k == 0) {
    if (!convolveDepthwise(c, y, x, w, finish, plan))
      convolveRows(c, y, x, w, finish, plan);
    return true;
  }
  const int64_t step = blocks.k * blocks.width, chunk = blocks.chunk;
  F *packed = c.scratch<F>(blocks.block * step);
  if (!packed)
    return false;
  for (int64_t begin = 0; begin < blocks.panels; begin += blocks.block) {
    const int64_t count = minimum(blocks.block, blocks.panels - begin);
    parallelIf(c, count, step, [&](int64_t first, int64_t last) {
      blocks.pack(packed, x, begin, begin + first, begin + last);
    });
    parallelIf(c, ceilDiv(count, chunk) * blocks.rowBlocks, blocks.rowStep * chunk * step,
               [&](int64_t first, int64_t last) {
                 for (int64_t task = first; task < last; ++task) {
                   const int64_t start = begin + task / blocks.rowBlocks * chunk;
                   blocks.compute(y, packed, w, finish, begin, start,
                                  minimum(begin + count, start + chunk),
                                  task % blocks.rowBlocks * blocks.rowStep);
                 }
               });
  }
  return true;
}
template bool convolve<float>(Context &, float *, const float *, const float *,
                              const ConvFinish<float> &, const ConvPlan &);
template bool convolve<double>(Context &, double *, const double *, const double *,
                               const ConvFinish<double> &, const ConvPlan &);

ATC_KERNEL_OF_CODE(Conv) {
  const Tensor x = in(0), w = in(1), b = in(2);
  ConvPlan plan;
  if (!plan.find(*this, x.dims(), w.dims()))
    return;
  if (b && b.count() != w.dim(0))
    return fail("% biases for % channels", b.count(), w.dim(0));
  const double products = double(plan.result.product()) * double(plan.inChannels);
  if (hasFittingCode(*this) && products * double(plan.window.taps()) <= double(kMaxConvProducts))
    return runGenerated(*this, [](Context &c) {
      ConvPlan plan;
      if (plan.find(c, c.in(0).dims(), c.in(1).dims()))
        c.makeBytes(0, c.in(0).dtype(), plan.result);
    });
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
        convolve(*this, y.data, data, weights, ConvFinish<F>{bias}, plan))
      y.store(*this);
  });
  if (!done)
    failType(x.dtype());
}

} // namespace atc::kernels
