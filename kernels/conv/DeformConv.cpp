//===-- DeformConv.cpp - convolutions whose taps are moved ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/conv/Convolution.h"
#include "kernels/core/Math.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
/// Where a block of samples between elements comes from: the elements around each point and their
/// weights, corner by corner. Elements beyond the data have weight 0 and no place.
template <typename F> struct Samples {
  static constexpr int64_t kEntries = 1024;
  int64_t places[kEntries];
  F weights[kEntries];

  /// Returns the most samples of a block. The rank is that of the data, at most kMaxRank - 2.
  static int64_t blockOf(int64_t rank) { return kEntries >> rank; }

  /// Sets sample i of `block` to a point.
  void set(int64_t i, int64_t block, const Dims &dims, const double *point) {
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
    for (int64_t corner = 0; corner < int64_t(1) << rank; ++corner) {
      int64_t place = 0;
      double weight = 1;
      for (int64_t d = 0; d < rank; ++d) {
        place = place * dims[d] + steps[corner >> d & 1][d];
        weight *= shares[corner >> d & 1][d];
      }
      places[corner * block + i] = weight != 0 ? place : 0;
      weights[corner * block + i] = F(weight);
    }
  }

  /// Writes the first `count` samples of a plane, times `factors` where there are any.
  void read(F *to, const F *plane, int64_t count, int64_t block, int64_t rank,
            const F *factors) const {
    // An element without weight may be infinite, or not exist. Processors gather no faster than
    // they load.
#pragma clang loop vectorize(disable)
    for (int64_t i = 0; i < count; ++i) {
      F sum = 0;
      for (int64_t corner = 0; corner < int64_t(1) << rank; ++corner)
        if (const F weight = weights[corner * block + i]; weight != 0)
          sum += weight * plane[places[corner * block + i]];
      to[i] = sum;
    }
    for (int64_t i = 0; factors && i < count; ++i)
      to[i] *= factors[i];
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
    const int64_t plane = window.in.product(), k = plan.inChannels * taps;
    F *samples = scratch<F>(maximum(channels * taps * size, int64_t(1)));
    if (!samples)
      return false;
    for (int64_t image = 0; image < plan.batch; ++image) {
      // The channels of a group of offsets share their points.
      const int64_t shared = channels / moved, block = Samples<F>::blockOf(rank);
      parallelIf(*this, moved * taps, size * (30 + shared), [&](int64_t begin, int64_t end) {
        Samples<F> points;
        for (int64_t task = begin; task < end; ++task) {
          const int64_t line = image * moved * taps + task, tap = task % taps;
          // The place of the tap in the window, and the window of a sample.
          int64_t inWindow[host::kMaxRank], at[host::kMaxRank] = {};
          for (int64_t d = rank - 1, t = tap; d >= 0; t /= window.kernel[d--])
            inWindow[d] = t % window.kernel[d] * window.dilation[d] - window.before[d];
          for (int64_t first = 0; first < size; first += block) {
            const int64_t these = minimum(block, size - first);
            for (int64_t i = 0; i < these; ++i) {
              double point[host::kMaxRank];
              for (int64_t d = 0; d < rank; ++d)
                point[d] = double(at[d] * window.stride[d] + inWindow[d]) +
                           double(moves[(line * rank + d) * size + first + i]);
              points.set(i, block, window.in, point);
              for (int64_t d = rank - 1; d >= 0 && ++at[d] == window.out[d]; --d)
                at[d] = 0;
            }
            for (int64_t channel = task / taps * shared; channel < (task / taps + 1) * shared;
                 ++channel)
              points.read(samples + (channel * taps + tap) * size + first,
                          data + (image * channels + channel) * plane, these, block, rank,
                          factors ? factors + line * size + first : nullptr);
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
