//===-- DeformConv.cpp - convolutions whose taps are moved ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/conv/Convolution.h"
#include "kernels/core/Math.h"
#include "kernels/core/TransposeSquare.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
/// The elements around a point that have a weight: they exist, and the others may be infinite.
template <typename F> struct Corners {
  int64_t count = 0;
  int64_t places[1 << (host::kMaxRank - 2)];
  F weights[1 << (host::kMaxRank - 2)];

  void find(const Dims &dims, const double *point) {
    const int64_t rank = dims.rank;
    // The offset and the weight of both neighbours along each dim.
    int64_t steps[2][host::kMaxRank];
    double shares[2][host::kMaxRank];
    for (int64_t d = 0; d < rank; ++d) {
      const double low = math::floor(point[d]), rest = point[d] - low;
      const bool hasLow = low >= 0 && low < double(dims[d]),
                 hasHigh = low >= -1 && low < double(dims[d] - 1);
      steps[0][d] = hasLow ? int64_t(low) : 0;
      steps[1][d] = hasHigh ? int64_t(low) + 1 : 0;
      shares[0][d] = hasLow ? 1 - rest : 0;
      shares[1][d] = hasHigh ? rest : 0;
    }
    count = 0;
    for (int64_t corner = 0; corner < int64_t(1) << rank; ++corner) {
      int64_t place = 0;
      double weight = 1;
      for (int64_t d = 0; d < rank; ++d) {
        place = place * dims[d] + steps[corner >> d & 1][d];
        weight *= shares[corner >> d & 1][d];
      }
      places[count] = place;
      weights[count] = F(weight);
      count += weights[count] != 0;
    }
  }

  /// Writes the samples of `number` neighbouring channels, times `factor`; `step` is from one
  /// element to the next.
  void read(F *to, const F *data, int64_t number, int64_t step, F factor) const {
    constexpr int64_t width = 16;
    typedef F Vec __attribute__((vector_size(width * sizeof(F))));
    typedef F Loose __attribute__((vector_size(width * sizeof(F)), aligned(sizeof(F)), may_alias));
    int64_t first = 0;
    for (; first + width <= number; first += width) {
      Vec sum = {};
      for (int64_t i = 0; i < count; ++i)
        sum += weights[i] * Vec(*reinterpret_cast<const Loose *>(data + places[i] * step + first));
      *reinterpret_cast<Loose *>(to + first) = sum * factor;
    }
    for (; first < number; ++first) {
      F sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += weights[i] * data[places[i] * step + first];
      to[first] = sum * factor;
    }
  }
};
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
    // The channels of a point are read together, so they are the last dim of data, samples and
    // weights.
    const int64_t plane = window.in.product(), k = plan.inChannels * taps, depth = channels * taps;
    F *samples = scratch<F>(depth * size + 1), *points = scratch<F>(channels * plane + 1);
    F *turned = scratch<F>(plan.groups * plan.outChannels * k + 1);
    if (!samples || !points || !turned)
      return false;
    for (int64_t i = 0; i < plan.groups * plan.outChannels; ++i)
      transposeRows(turned + i * k, plan.inChannels, weights + i * k, taps, plan.inChannels, taps);
    for (int64_t image = 0; image < plan.batch; ++image) {
      transposeRows(points, channels, data + image * channels * plane, plane, channels, plane);
      // The channels of a group of offsets share their points.
      const int64_t shared = channels / moved;
      parallelIf(*this, moved * taps, size * (30 + shared), [&](int64_t begin, int64_t end) {
        Corners<F> corners;
        for (int64_t task = begin; task < end; ++task) {
          const int64_t line = image * moved * taps + task, tap = task % taps;
          const int64_t first = task / taps * shared, last = first + shared;
          // The place of the tap in the window, and the window of a sample.
          int64_t inWindow[host::kMaxRank], at[host::kMaxRank] = {};
          for (int64_t d = rank - 1, t = tap; d >= 0; t /= window.kernel[d--])
            inWindow[d] = t % window.kernel[d] * window.dilation[d] - window.before[d];
          for (int64_t i = 0; i < size; ++i) {
            double point[host::kMaxRank];
            for (int64_t d = 0; d < rank; ++d)
              point[d] = double(at[d] * window.stride[d] + inWindow[d]) +
                         double(moves[(line * rank + d) * size + i]);
            corners.find(window.in, point);
            for (int64_t c = first, next; c < last; c = next) {
              const int64_t group = c / plan.inChannels;
              next = minimum(last, (group + 1) * plan.inChannels);
              corners.read(
                  samples + i * depth + group * k + tap * plan.inChannels + c % plan.inChannels,
                  points + c, next - c, channels, factors ? factors[line * size + i] : F(1));
            }
            for (int64_t d = rank - 1; d >= 0 && ++at[d] == window.out[d]; --d)
              at[d] = 0;
          }
        }
      });
      for (int64_t group = 0; group < plan.groups; ++group) {
        const int64_t first = group * plan.outChannels;
        F *to = y + (image * plan.groups * plan.outChannels + first) * size;
        for (int64_t i = 0; bias && i < plan.outChannels * size; ++i)
          to[i] = bias[first + i / size];
        Product<F> p{to,
                     turned + first * k,
                     samples + group * k,
                     plan.outChannels,
                     size,
                     k,
                     size,
                     k,
                     1,
                     1,
                     depth,
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
