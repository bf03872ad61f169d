//===-- ChannelBlocks.h - tensors with channels in blocks of 16 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout [batch, ceil(channels / 16), height, width, 16] of f32, in which the layout of
// generated code stores images, too. A block of channels is one vector on the widest CPU level, a
// pixel's neighbours are one block away, and no image has to be packed for a convolution. Channels
// beyond the last one hold finite values of no meaning; weights have zeros for them. A convolution
// stores zeros there: a window with an infinity times a weight of 0 is NaN, which the zeros in the
// weights of the next convolution would spread to all channels.

#ifndef OPENATC_KERNELS_CONV_CHANNELBLOCKS_H
#define OPENATC_KERNELS_CONV_CHANNELBLOCKS_H

#include "kernels/core/Lanes.h"
#include "kernels/nn/FusedActivation.h"
#include "kernels/nn/Window.h"

namespace atc::kernels::blocks {

/// The channels per block.
inline constexpr int64_t kBlock = 16;

/// A block of channels of a pixel.
typedef float Vec __attribute__((vector_size(64)));
typedef float Loose __attribute__((vector_size(64), aligned(4), may_alias));

/// Returns the block of channels at `from`. Vectors are passed by reference: by value they would
/// have another form on each CPU level.
inline const Loose &blockAt(const float *from) { return *reinterpret_cast<const Loose *>(from); }
inline Loose &blockAt(float *from) { return *reinterpret_cast<Loose *>(from); }

/// The bias, the sum and the activation of a convolution's results, which are applied while they
/// are in registers, or, for functions other than Clip, in the first cache.
struct Finish {
  const float *bias = nullptr;               ///< per channel, whole blocks; null: none
  const float *sum = nullptr;                ///< in the dims of the result; null: none
  const float *last = nullptr;               ///< as `sum`, but added behind the activation
  const FusedActivation *function = nullptr; ///< an activation other than Clip; null: none
  int64_t partial = -1;                      ///< output block with unused lanes; -1: none
  int64_t lanes = kBlock;                    ///< used lanes of that block
  /// The bounds of a Clip; infinite where the activation is none.
  float low = -__builtin_inff(), high = __builtin_inff();

  /// Takes over an activation, which must outlive this object.
  void activate(const FusedActivation &activation) {
    float from, to;
    if (activation.clips(from, to)) {
      low = from;
      high = to;
    } else if (activation) {
      function = &activation;
    }
  }

  /// Computes the first values of the accumulators of `P` neighbouring pixels of output block
  /// `block`, whose results are at offset `at` of the result on.
  template <int P>
  __attribute__((always_inline)) void begin(Vec (&values)[P], int64_t block, int64_t at) const {
    const Vec first = bias ? Vec(blockAt(bias + block * kBlock)) : Vec{};
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      values[p] = first;
    if (!sum)
      return;
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      values[p] += blockAt(sum + at + p * kBlock);
  }

  /// Stores the results of `P` neighbouring pixels after the Clip. A NaN stays.
  template <int P>
  __attribute__((always_inline)) void end(float *to, const Vec (&values)[P]) const {
    const Vec lower = Vec{} + low, upper = Vec{} + high;
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p) {
      Vec value = values[p];
      value = value < lower ? lower : value;
      blockAt(to + p * kBlock) = value > upper ? upper : value;
    }
  }

  /// Stores zeros in the unused lanes of the results of `pixels` pixels of output block `block`.
  void clear(float *to, int64_t block, int64_t pixels) const {
    if (block != partial)
      return;
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t lane = lanes; lane < kBlock; ++lane)
        to[p * kBlock + lane] = 0;
  }

  /// Requests the first values of `pixels` pixels, which the next tile reads.
  __attribute__((always_inline)) void prefetch(int64_t at, int pixels) const {
    if (!sum)
      return;
#pragma clang loop unroll(full)
    for (int p = 0; p < pixels; ++p)
      __builtin_prefetch(sum + at + p * kBlock);
  }

  /// Finishes the stored results of `pixels` neighbouring pixels of output block `block`.
  void finish(float *to, int64_t block, int64_t at, int64_t pixels) const {
    clear(to, block, pixels);
    apply(to, at, pixels * kBlock);
  }

  /// Applies an activation other than Clip to `count` elements of stored results, whole blocks, and
  /// adds the sum behind the activation; `at` is their offset in the result.
  void apply(float *results, int64_t at, int64_t count) const {
    if (function)
      function->apply(results, count);
    for (int64_t i = 0; last && i < count; i += kBlock)
      blockAt(results + i) += blockAt(last + at + i);
  }
};

/// The images in blocks of channels that a convolution reads as one, joined along their channels:
/// inputs 0, 4, 5, ... of a call. What joins them need not copy them.
struct Images {
  /// The maximum number of images; maxImages of passes/host/blocks/Unblock.h.
  static constexpr int64_t kMax = 8;

  const float *data[kMax];
  int64_t blocks[kMax]; ///< of each image
  int64_t count = 0;
  int64_t plane = 0; ///< elements of a plane of a block

  /// Reads the inputs of a call whose contract has compared their dims. Returns false and fails the
  /// call where they are no images in blocks.
  bool read(Context &c);
  int64_t allBlocks() const {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += blocks[i];
    return sum;
  }
  /// Returns the plane of block `block` of all images, of index `batch`.
  const float *at(int64_t batch, int64_t block) const {
    int64_t i = 0;
    for (; block >= blocks[i]; ++i)
      block -= blocks[i];
    return data[i] + (batch * blocks[i] + block) * plane;
  }
};

/// The sizes of a convolution of an image in blocks of channels.
struct Plan {
  Window window;
  int64_t batch = 0, inBlocks = 0, outBlocks = 0;
  Dims result;

  /// Computes the sizes: `spatial` are the input's height and width; the kernel's are the
  /// attribute kernel_shape, which must have `taps` elements. Returns false and fails the call
  /// where they do not fit.
  bool find(Context &c, int64_t images, const Dims &spatial, int64_t taps, int64_t outputBlocks);

  int64_t inPlane() const { return window.in.product(); }
  int64_t outPlane() const { return window.out.product(); }
};

/// Reads the attributes and the inputs 2 (bias) and 3 (sum) that blocked convolutions share. With
/// the attribute `sum_last` the sum is behind the activation.
/// `isApart`: the sum has other dims, to which the result broadcasts; it is then not in `finish`.
/// Returns false and fails the call where they do not fit.
bool readFinish(Context &c, const Plan &plan, FusedActivation &activation, Finish &finish,
                Dims &shape, bool &isApart);

/// Adds the sum that is apart, and applies the activation, to `conv` or to the sum: `out` has dims
/// `shape`, `conv` those of the plan.
void finishApart(Context &c, float *out, const Dims &shape, float *conv, const Plan &plan,
                 const FusedActivation &activation);

/// Computes a blocked convolution by compute(y, finish), which returns false where memory could not
/// be allocated.
template <typename Compute> void runConvolution(Context &c, const Plan &plan, Compute &&compute) {
  FusedActivation activation;
  Finish finish;
  Dims shape;
  bool isApart;
  if (!readFinish(c, plan, activation, finish, shape, isApart))
    return;
  float *out = c.make<float>(0, F32, shape);
  if (!out || shape.product() == 0)
    return;
  float *conv = shape == plan.result ? out : c.scratch<float>(plan.result.product());
  if (!conv || !compute(conv, finish))
    return;
  if (isApart)
    finishApart(c, out, shape, conv, plan, activation);
}

} // namespace atc::kernels::blocks

#endif // OPENATC_KERNELS_CONV_CHANNELBLOCKS_H
