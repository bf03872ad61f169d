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
/// `positions` and `weights` have room for 2^rank of them.
template <typename F> struct Corners {
  int64_t *positions;
  F *weights;
  int64_t count = 0;

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
      int64_t position = 0;
      double weight = 1;
      for (int64_t d = 0; d < rank; ++d) {
        position = position * dims[d] + steps[corner >> d & 1][d];
        weight *= shares[corner >> d & 1][d];
      }
      positions[count] = position;
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
        sum +=
            weights[i] * Vec(*reinterpret_cast<const Loose *>(data + positions[i] * step + first));
      *reinterpret_cast<Loose *>(to + first) = sum * factor;
    }
    for (; first < number; ++first) {
      F sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += weights[i] * data[positions[i] * step + first];
      to[first] = sum * factor;
    }
  }
};

/// The convolution of one call, which samples a point per tap, channel and window.
template <typename F> class DeformedConv {
public:
  /// `moves` has the offsets and `factors` the mask, or is null: both for `moved` groups of
  /// `channels`.
  DeformedConv(Context &c, const ConvPlan &plan, int64_t channels, int64_t moved, const F *moves,
               const F *factors)
      : c(c), plan(plan), window(plan.window), rank(window.rank()), taps(window.taps()),
        size(window.out.product()), channels(channels), moved(moved), moves(moves),
        factors(factors), k(plan.inChannels * taps) {}

  /// Returns false where the kernel must return. `bias` may be null.
  bool run(F *y, const F *data, const F *weights, const F *bias) {
    const int64_t plane = window.in.product();
    if (!allocate(plane))
      return false;
    for (int64_t i = 0; i < plan.groups * plan.outChannels; ++i)
      transposeRows(turned + i * k, plan.inChannels, weights + i * k, taps, plan.inChannels, taps);
    for (int64_t image = 0; image < plan.batch; ++image) {
      transposeRows(points, channels, data + image * channels * plane, plane, channels, plane);
      parallelIf(c, moved * taps, size * (30 + channels / moved), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task)
          sample(image, task);
      });
      for (int64_t group = 0; group < plan.groups; ++group)
        if (!multiplyGroup(y + (image * plan.groups + group) * plan.outChannels * size, group,
                           bias))
          return false;
    }
    return true;
  }

private:
  bool allocate(int64_t plane) {
    samples = c.scratch<F>(channels * taps * size + 1);
    points = c.scratch<F>(channels * plane + 1);
    turned = c.scratch<F>(plan.groups * plan.outChannels * k + 1);
    // Each task has corners of its own: too many for a thread's stack where there are many dims.
    const int64_t allCorners = spaceFor(c, moved, taps, int64_t(1) << rank);
    if (allCorners < 0)
      return false;
    positions = c.scratch<int64_t>(allCorners);
    shares = c.scratch<F>(allCorners);
    return samples && points && turned && positions && shares;
  }

  /// Samples the points of one tap of one group of offsets, which its channels share.
  void sample(int64_t image, int64_t task) {
    const int64_t corners = int64_t(1) << rank, shared = channels / moved;
    Corners<F> around{positions + task * corners, shares + task * corners};
    const int64_t line = image * moved * taps + task, tap = task % taps;
    const int64_t first = task / taps * shared, last = first + shared;
    // The position of the tap in the window, and the window of a sample.
    int64_t inWindow[host::kMaxRank], at[host::kMaxRank] = {};
    for (int64_t d = rank - 1, t = tap; d >= 0; t /= window.kernel[d--])
      inWindow[d] = t % window.kernel[d] * window.dilation[d] - window.before[d];
    for (int64_t i = 0; i < size; ++i) {
      double point[host::kMaxRank];
      for (int64_t d = 0; d < rank; ++d)
        point[d] = double(at[d] * window.stride[d] + inWindow[d]) +
                   double(moves[(line * rank + d) * size + i]);
      around.find(window.in, point);
      for (int64_t channel = first, next; channel < last; channel = next) {
        const int64_t group = channel / plan.inChannels;
        next = minimum(last, (group + 1) * plan.inChannels);
        around.read(samples + i * channels * taps + group * k + tap * plan.inChannels +
                        channel % plan.inChannels,
                    points + channel, next - channel, channels,
                    factors ? factors[line * size + i] : F(1));
      }
      for (int64_t d = rank - 1; d >= 0 && ++at[d] == window.out[d]; --d)
        at[d] = 0;
    }
  }

  /// Multiplies a group's filter by its samples, to the group's channels at `to`.
  bool multiplyGroup(F *to, int64_t group, const F *bias) {
    const int64_t first = group * plan.outChannels;
    for (int64_t i = 0; bias && i < plan.outChannels * size; ++i)
      to[i] = bias[first + i / size];
    Product<F> p{to, turned + first * k, samples + group * k, plan.outChannels, size, k, size, k, 1,
                 1,  channels * taps,    bias != nullptr};
    return multiply(c, p);
  }

  Context &c;
  const ConvPlan &plan;
  const Window &window;
  const int64_t rank, taps, size; ///< size: the number of windows
  const int64_t channels, moved;
  const F *moves, *factors;
  const int64_t k; ///< elements of a filter
  // The channels of a point are read together, so they are the last dim of all three.
  F *samples = nullptr, *points = nullptr, *turned = nullptr; ///< turned: the filters
  int64_t *positions = nullptr;
  F *shares = nullptr;
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
    return DeformedConv<F>(*this, plan, channels, moved, moves, factors)
        .run(y, data, weights, bias);
  };
  computeFloats(*this, out, count, compute, x, w, b, offset, mask);
}

} // namespace atc::kernels
