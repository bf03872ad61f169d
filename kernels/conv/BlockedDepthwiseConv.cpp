//===-- BlockedDepthwiseConv.cpp - depthwise convolutions in channel blocks ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vector is a block of channels of one pixel, so that each tap is one multiplication of vectors.
// Several neighbouring pixels stay in registers; windows of 3 columns share the inputs that they
// have in common. Pixels whose windows reach beyond the image on the left or right are computed
// one by one.

#include "kernels/conv/ChannelBlocks.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
using namespace blocks;

/// Describes a row of outputs of a block of channels. Steps count elements.
struct DepthwiseRow {
  float *y;
  const float *x; ///< the row that the first tap reads; it need not exist
  const float *w;
  const Finish *finish;
  int64_t at, block;                ///< offset of y in the result; the block of channels
  int64_t rowStep, tapStep, stride; ///< between taps, and between pixels
  int64_t begin, end;               ///< rows of taps that exist
  int64_t width;                    ///< taps per row

  /// Computes `P` pixels from pixel `first` on, with the taps [firstTap, lastTap) of each row.
  /// `Taps`: their constant number, which begins with tap 0; 0: any number. `Stride`: the constant
  /// number of pixels between windows; 0: any.
  template <int P, int Taps, int Stride>
  __attribute__((always_inline)) void compute(int64_t first, int64_t firstTap,
                                              int64_t lastTap) const {
    const int64_t step = Stride ? Stride * kBlock : stride;
    const int64_t tap = Taps ? kBlock : tapStep;
    Vec sums[P];
    finish->begin(sums, block, at + first * kBlock);
    for (int64_t i = begin; i < end; ++i) {
      const float *from = x + i * rowStep + first * step;
      const float *weights = w + i * width * kBlock;
      auto multiply = [&](int64_t j) {
        const Vec weight = blockAt(weights + j * kBlock);
#pragma clang loop unroll(full)
        for (int p = 0; p < P; ++p)
          sums[p] += weight * blockAt(from + p * step + j * tap);
      };
      if constexpr (Taps > 0) {
#pragma clang loop unroll(full)
        for (int64_t j = 0; j < Taps; ++j)
          multiply(j);
      } else {
        for (int64_t j = firstTap; j < lastTap; ++j)
          multiply(j);
      }
    }
    finish->end(y + first * kBlock, sums);
  }

  /// Computes pixels [first, last), whose windows are inside of the row.
  template <int Taps, int Stride>
  __attribute__((noinline)) void inside(int64_t first, int64_t last) const {
    if (hasWideRegisters())
      for (; last - first >= 8; first += 8)
        compute<8, Taps, Stride>(first, 0, width);
    for (; last - first >= 4; first += 4)
      compute<4, Taps, Stride>(first, 0, width);
    for (; first < last; ++first)
      compute<1, Taps, Stride>(first, 0, width);
  }
};

/// Computes rows [begin, end) of outputs, numbered over all images and blocks.
void computeRows(float *y, const float *x, const float *w, const Finish &finish, const Plan &plan,
                 int64_t begin, int64_t end) {
  const Window &window = plan.window;
  const int64_t rows = window.out[0], columns = window.out[1], stride = window.stride[1];
  // The columns whose windows are inside of a row.
  const int64_t left =
      minimum(columns, window.before[1] > 0 ? ceilDiv(window.before[1], stride) : 0);
  const int64_t room = window.in[1] + window.before[1] - window.extent(1);
  const int64_t right = maximum(left, room < 0 ? 0 : minimum(columns, room / stride + 1));
  const int64_t taps = window.dilation[1] == 1 ? window.kernel[1] : 0; // neighbours; 0: others
  DepthwiseRow row;
  row.finish = &finish;
  row.stride = stride * kBlock;
  row.tapStep = window.dilation[1] * kBlock;
  row.rowStep = window.dilation[0] * window.in[1] * kBlock;
  row.width = window.kernel[1];
  for (int64_t task = begin; task < end; ++task) {
    const int64_t plane = task / rows, out = task % rows;
    row.block = plane % plan.outBlocks;
    row.w = w + row.block * window.taps() * kBlock;
    window.tapRange(0, out, 0, window.in[0], row.begin, row.end);
    row.x = x + (plane * plan.inPlane() +
                 (out * window.stride[0] - window.before[0]) * window.in[1] - window.before[1]) *
                    kBlock;
    row.at = task * columns * kBlock;
    row.y = y + row.at;
    auto border = [&](int64_t first, int64_t last) {
      for (; first < last; ++first) {
        int64_t firstTap, lastTap;
        window.tapRange(1, first, 0, window.in[1], firstTap, lastTap);
        row.compute<1, 0, 0>(first, firstTap, lastTap);
      }
    };
    border(0, left);
    if (taps == 3 && stride == 1)
      row.inside<3, 1>(left, right);
    else if (taps == 3 && stride == 2)
      row.inside<3, 2>(left, right);
    else if (taps == 5 && stride == 1)
      row.inside<5, 1>(left, right);
    else if (taps == 5 && stride == 2)
      row.inside<5, 2>(left, right);
    else
      row.inside<0, 0>(left, right);
    border(right, columns);
    finish.apply(row.y, row.at, columns * kBlock);
  }
}
} // namespace

/// Computes Conv and FusedConv of an image in blocks of channels, each of which is a group of its
/// own. Weights are [blocks, taps, 16].
ATC_KERNEL(BlockedDepthwiseConv) {
  const Tensor x = in(0), w = in(1);
  Plan plan;
  if (!plan.find(*this, x.dim(0), Dims(x.dim(2), x.dim(3)), w.dim(1), w.dim(0)))
    return;
  plan.inBlocks = plan.outBlocks;
  runConvolution(*this, plan, [&](float *y, const Finish &finish) {
    parallelIf(*this, plan.batch * plan.outBlocks * plan.window.out[0],
               plan.window.out[1] * plan.window.taps() * kBlock, [&](int64_t begin, int64_t end) {
                 computeRows(y, x.as<float>(), w.as<float>(), finish, plan, begin, end);
               });
    return true;
  });
}

} // namespace atc::kernels
