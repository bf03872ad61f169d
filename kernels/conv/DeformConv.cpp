//===-- DeformConv.cpp - convolutions whose taps are moved ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/conv/Convolution.h"
#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
/// The value at a point between elements; zero beyond the data.
template <typename F> F sampleAt(const F *plane, const Dims &dims, const double *point) {
  const int64_t rank = dims.rank;
  F sum = 0;
  for (int64_t corner = 0; corner < int64_t(1) << rank; ++corner) {
    int64_t offset = 0;
    double weight = 1;
    for (int64_t d = 0; d < rank && weight != 0; ++d) {
      const double whole = math::floor(point[d]), rest = point[d] - whole;
      const bool high = corner >> d & 1;
      const double at = whole + (high ? 1 : 0);
      weight = at >= 0 && at < double(dims[d]) ? weight * (high ? rest : 1 - rest) : 0;
      offset = offset * dims[d] + (weight != 0 ? int64_t(at) : 0);
    }
    if (weight != 0)
      sum += F(weight) * plane[offset];
  }
  return sum;
}
} // namespace

ATC_KERNEL(DeformConv) {
  const Tensor x = in(0), w = in(1), offset = in(2), b = in(3), mask = in(4);
  ConvPlan plan;
  if (!plan.find(*this, x.dims(), w.dims()))
    return;
  const Window &window = plan.window;
  const int64_t rank = window.rank(), taps = window.taps(), size = window.out.product();
  const int64_t moved = integer("offset_group", 1), channels = x.dim(1);
  auto fits = [&](Tensor t, int64_t each) {
    if (moved < 1 || channels % moved || t.rank() != x.rank() || t.dim(0) != plan.batch ||
        t.dim(1) != moved * taps * each)
      return false;
    for (int64_t d = 0; d < rank; ++d)
      if (t.dim(d + 2) != window.out[d])
        return false;
    return true;
  };
  if (!fits(offset, rank) || (mask && !fits(mask, 1)) || (b && b.count() != w.dim(0)))
    return fail("offsets, mask or bias do not fit % groups of offsets, % taps, % windows", moved,
                taps, size);
  char *out = make(0, x.dtype(), plan.result);
  const int64_t count = plan.result.product();
  if (!out || count == 0 || spaceFor(*this, channels, taps, size) < 0)
    return;
  auto compute = [&]<typename F>(F *y, const F *data, const F *weights, const F *bias,
                                 const F *moves, const F *factors) {
    const int64_t plane = window.in.product(), k = plan.inChannels * taps;
    F *samples = scratch<F>(maximum(channels * taps * size, int64_t(1)));
    if (!samples)
      return false;
    for (int64_t image = 0; image < plan.batch; ++image) {
      parallelIf(*this, channels * taps, size * 30, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t channel = row / taps, tap = row % taps;
          const int64_t group = channel / (channels / moved);
          const int64_t line = (image * moved + group) * taps + tap;
          for (int64_t i = 0; i < size; ++i) {
            double point[host::kMaxRank];
            for (int64_t d = rank - 1, at = i, t = tap; d >= 0; --d) {
              point[d] = double(at % window.out[d] * window.stride[d] - window.before[d] +
                                t % window.kernel[d] * window.dilation[d]) +
                         double(moves[(line * rank + d) * size + i]);
              at /= window.out[d];
              t /= window.kernel[d];
            }
            const F value = sampleAt(data + (image * channels + channel) * plane, window.in, point);
            samples[row * size + i] = factors ? value * factors[line * size + i] : value;
          }
        }
      });
      for (int64_t group = 0; group < plan.groups; ++group) {
        const int64_t first = group * plan.outChannels;
        F *to = y + (image * plan.groups * plan.outChannels + first) * size;
        for (int64_t i = 0; bias && i < plan.outChannels * size; ++i)
          to[i] = bias[first + i / size];
        Product<F> p{to,
                     weights + first * k,
                     samples + group * k * size,
                     plan.outChannels,
                     size,
                     k,
                     size,
                     k,
                     1,
                     size,
                     1,
                     bias != nullptr};
        if (!multiply(*this, p))
          return false;
      }
    }
    return true;
  };
  computeFloats(*this, out, count, compute, x, w, b, offset, mask);
}

} // namespace atc::kernels
