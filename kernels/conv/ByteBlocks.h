//===-- ByteBlocks.h - 8-bit images with channels in blocks of 16 ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of ChannelBlocks.h for bytes: [batch, ceil(channels / 16), height, width, 16]. Four
// channels of a pixel are a word, which vpdpbusd multiplies by the weights of 16 output channels.
// Channels beyond the last one hold any bytes; weights have zeros for them.
//
// Weights are signed and have the zero point 0, images are unsigned (int8 plus 128), so that
//
//   sum (x - zero) w = sum x w - zero (sum of w)
//
// where the second part is one number per output channel, which is in the bias.

#ifndef OPENATC_KERNELS_CONV_BYTEBLOCKS_H
#define OPENATC_KERNELS_CONV_BYTEBLOCKS_H

#include "kernels/core/WideDot.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/IntegerProducts.h"
#include "kernels/nn/Window.h"

namespace atc::kernels::bytes {

/// The channels per block, and per word.
inline constexpr int64_t kBlock = 16, kQuad = 4;

/// The sizes of a convolution of an image in blocks of channels, or in planes.
struct Plan {
  Window window;
  int64_t batch = 0, inBlocks = 0, outBlocks = 0;
  /// The bytes of a pixel of one block: 16, or of few channels that are read from planes.
  int64_t lanes = kBlock;
  Dims result;

  /// Computes the sizes for an image of `x` and weights of `taps` taps. Returns false and fails the
  /// call where they do not fit.
  bool find(Context &c, Tensor x, int64_t taps, int64_t outputBlocks) {
    const List<int64_t> sizes = c.integers("kernel_shape");
    if (sizes.size != 2 || sizes[0] < 1 || sizes[1] < 1 || sizes[0] > taps || sizes[1] > taps ||
        sizes[0] * sizes[1] != taps)
      return c.fail("kernel_shape does not fit weights of % taps", taps), false;
    if (x.rank() != 4 && (x.rank() != 5 || x.dim(4) != kBlock))
      return c.fail("data of rank % is no image", x.rank()), false;
    if (x.rank() == 4 && (x.dim(1) < 1 || x.dim(1) > kBlock))
      return c.fail("planes of % channels", x.dim(1)), false;
    if (!window.read(c, Dims(x.dim(2), x.dim(3)), Dims(sizes[0], sizes[1])) || !window.place(c))
      return false;
    batch = x.dim(0);
    inBlocks = x.rank() == 4 ? 1 : x.dim(1);
    lanes = x.rank() == 4 ? ceilDiv(x.dim(1), kQuad) * kQuad : kBlock;
    outBlocks = outputBlocks;
    result = Dims(batch, outBlocks, window.out[0], window.out[1], kBlock);
    return true;
  }
};

/// An image of unsigned bytes with its pads, which hold the zero point.
struct PaddedImage {
  const uint8_t *data = nullptr; ///< the first pixel of block 0 of image 0
  int64_t row = 0, plane = 0;    ///< bytes

  /// Reads the image of a call, with `extra` columns behind those that windows read. What has no
  /// pads is read in place. Returns false and fails the call where memory could not be allocated.
  bool read(Context &c, Tensor x, int zero, const Plan &plan, int64_t extra) {
    const Window &w = plan.window;
    const int64_t rows = (w.out[0] - 1) * w.stride[0] + w.extent(0);
    const int64_t columns = (w.out[1] - 1) * w.stride[1] + w.extent(1) + extra;
    const int64_t lanes = plan.lanes, planes = plan.batch * plan.inBlocks;
    const bool isSigned = x.dtype() == I8;
    if (!isSigned && x.rank() == 5 && w.before[0] == 0 && w.before[1] == 0 && rows <= w.in[0] &&
        columns <= w.in[1]) {
      data = reinterpret_cast<const uint8_t *>(x.bytes());
      row = w.in[1] * lanes;
      plane = w.in[0] * row;
      return true;
    }
    const int64_t space = spaceFor(c, planes, rows, columns, lanes);
    uint8_t *to = space < 0 ? nullptr : c.scratch<uint8_t>(space + kBlock);
    if (!to)
      return false;
    data = to;
    row = columns * lanes;
    plane = rows * row;
    const Copy copy{w,
                    x,
                    columns,
                    lanes,
                    x.rank() == 4 ? x.dim(1) : 0,
                    uint8_t(isSigned ? 0x80 : 0),
                    uint8_t(zero ^ (isSigned ? 0x80 : 0))};
    parallelIf(c, planes * rows, columns * lanes, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        copy.copyRow(to + i * row, i / rows, i % rows);
    });
    return true;
  }

private:
  struct Copy {
    const Window &w;
    Tensor x;
    int64_t columns, lanes, channels; ///< channels: of planes; 0: the image is in blocks
    uint8_t flip, zero;

    void copyRow(uint8_t *to, int64_t plane, int64_t y) const {
      const int64_t line = y - w.before[0];
      // Columns [first, last) of the copy are in the image.
      const int64_t first = minimum(maximum(w.before[1], int64_t(0)), columns);
      const int64_t last = maximum(first, minimum(columns, w.in[1] + w.before[1]));
      if (line < 0 || line >= w.in[0] || first == last)
        return fill(to, columns * lanes);
      fill(to, first * lanes);
      fill(to + last * lanes, (columns - last) * lanes);
      const auto *image = reinterpret_cast<const uint8_t *>(x.bytes());
      const int64_t count = last - first, column = first - w.before[1];
      to += first * lanes;
      if (channels)
        return joinPlanes(
            to, image + plane * channels * w.in[0] * w.in[1] + line * w.in[1] + column, count);
      const uint8_t *from = image + ((plane * w.in[0] + line) * w.in[1] + column) * lanes;
      if (!flip)
        return copyBytes(to, from, count * lanes);
      for (int64_t i = 0; i < count * lanes; ++i)
        to[i] = from[i] ^ 0x80;
    }

    void fill(uint8_t *to, int64_t count) const {
      __builtin_memset(to, zero, uint64_t(maximum(count, int64_t(0))));
    }

    /// Writes pixels of few channels, which have planes of their own, as words of four.
    void joinPlanes(uint8_t *to, const uint8_t *from, int64_t count) const {
      const int64_t plane = w.in[0] * w.in[1], step = lanes / kQuad;
      const uint32_t flips = flip * 0x01010101u;
      for (int64_t quad = 0; quad < step; ++quad, from += kQuad * plane) {
        auto *words = reinterpret_cast<LooseWord *>(to) + quad;
        const int64_t rest = channels - quad * kQuad;
        // A channel that does not exist is one that does: its weights are 0.
        const uint8_t *b = from + (rest > 1 ? plane : 0), *c = from + (rest > 2 ? 2 * plane : 0),
                      *d = from + (rest > 3 ? 3 * plane : 0);
        if (step == 1)
          for (int64_t i = 0; i < count; ++i)
            words[i] =
                (from[i] | uint32_t(b[i]) << 8 | uint32_t(c[i]) << 16 | uint32_t(d[i]) << 24) ^
                flips;
        else
          for (int64_t i = 0; i < count; ++i)
            words[i * step] =
                (from[i] | uint32_t(b[i]) << 8 | uint32_t(c[i]) << 16 | uint32_t(d[i]) << 24) ^
                flips;
      }
    }
    typedef uint32_t LooseWord __attribute__((aligned(1), may_alias));
  };
};

/// The numbers that turn sums into bytes: biases and factors per output channel, the zero point of
/// the result.
struct Requantizer {
  const int32_t *bias = nullptr;
  const float *factors = nullptr;
  float low = 0, high = 0; ///< of a rounded product
  int32_t zero = 0;
  bool isSigned = false; ///< the result

  /// Reads inputs 2 (biases), 3 (factors) and 5 (zero point).
  void read(Context &c) {
    bias = c.in(2).as<int32_t>();
    factors = c.in(3).as<float>();
    const Tensor zeroY = c.in(5);
    isSigned = zeroY.dtype() == I8;
    zero = int32_t(integerAt(zeroY, 0));
    low = float((isSigned ? -128 : 0) - zero);
    high = float((isSigned ? 127 : 255) - zero);
  }

#if defined(__x86_64__)
  /// Stores the sums of 16 output channels from `channel` on of four pixels, as store() does each.
  ATC_WIDE_DOT_PART void store4(uint8_t *to, __m512i a, __m512i b, __m512i c, __m512i d,
                                int64_t channel) const {
    const __m512i biases = _mm512_loadu_si512(bias + channel),
                  zeros = _mm512_set1_epi16(int16_t(zero));
    const __m512 scales = _mm512_loadu_ps(factors + channel), max = _mm512_set1_ps(high);
    __m512i sums[] = {a, b, c, d};
#pragma clang loop unroll(full)
    for (__m512i &each : sums)
      // A NaN stays, and becomes the least integer, as does all that is less.
      each = _mm512_cvtps_epi32(_mm512_min_ps(
          max, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(each, biases)), scales)));
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(sums[0], sums[1]), zeros);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(sums[2], sums[3]), zeros);
    const __m512i bytes = isSigned ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    // Each quarter of the register has four channels of each pixel.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, bytes));
  }

  /// Stores the sums of 16 output channels from `channel` on.
  ATC_WIDE_DOT_PART void store(uint8_t *to, __m512i sums, int64_t channel) const {
    const __m512 value = _mm512_mul_ps(
        _mm512_cvtepi32_ps(_mm512_add_epi32(sums, _mm512_loadu_si512(bias + channel))),
        _mm512_loadu_ps(factors + channel));
    // A NaN becomes the minimum. What is rounded behind the bounds, which are whole numbers, is
    // what is rounded in front of them.
    const __m512 bounded =
        _mm512_min_ps(_mm512_max_ps(value, _mm512_set1_ps(low)), _mm512_set1_ps(high));
    const __m512i rounded = _mm512_add_epi32(_mm512_cvtps_epi32(bounded), _mm512_set1_epi32(zero));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm512_cvtepi32_epi8(rounded));
  }
#endif

  typedef int32_t Sums __attribute__((vector_size(64)));
  typedef float Floats __attribute__((vector_size(64)));

  /// Stores the sums of 16 output channels, without vpdpbusd.
  __attribute__((always_inline)) void store(uint8_t *to, const Sums &sums, int64_t channel) const {
    typedef int32_t LooseSums __attribute__((vector_size(64), aligned(4), may_alias));
    typedef float LooseFloats __attribute__((vector_size(64), aligned(4), may_alias));
    typedef uint8_t LooseBytes __attribute__((vector_size(16), aligned(1), may_alias));
    typedef uint8_t Bytes __attribute__((vector_size(16)));
    const Sums biased = sums + *reinterpret_cast<const LooseSums *>(bias + channel);
    Floats value = __builtin_convertvector(biased, Floats) *
                   *reinterpret_cast<const LooseFloats *>(factors + channel);
    value = value >= low ? value : Floats{} + low;
    value = value > high ? Floats{} + high : value;
    const Sums rounded = __builtin_convertvector(__builtin_elementwise_rint(value), Sums) + zero;
    *reinterpret_cast<LooseBytes *>(to) = __builtin_convertvector(rounded, Bytes);
  }
};

/// What a convolution of blocks reads and writes, in whatever registers its sums are.
struct ByteConv {
  const Plan &plan;
  const PaddedImage &image;
  const Requantizer &finish;
  const int8_t *weights;
  const int64_t *offsets; ///< of the taps in the image
  uint8_t *result;
  int64_t blocks, quads; ///< input blocks per group; words of a pixel that have weights
  int64_t outBlocks;     ///< per group

  /// Returns the words of a window.
  int64_t words() const { return plan.window.taps() * quads; }
  /// Returns the offset of the window of a pixel.
  int64_t windowAt(int64_t pixel) const {
    const Window &w = plan.window;
    return pixel / w.out[1] * w.stride[0] * image.row + pixel % w.out[1] * w.stride[1] * plan.lanes;
  }
};

} // namespace atc::kernels::bytes

#endif // OPENATC_KERNELS_CONV_BYTEBLOCKS_H
