//===-- BlockedByteDepthwise.cpp - depthwise convolutions of 8-bit blocks -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four neighbours of a row are 64 bytes of a block. With rows and columns of these exchanged, one
// vpdpbusd adds four taps of 16 channels.

#include "kernels/conv/ByteBlocks.h"

namespace atc::kernels {

namespace bytes {
namespace {

struct ByteDepthwiseRows {
  const Plan &plan;
  const PaddedImage &image;
  const Requantizer &finish;
  const int8_t *weights;
  uint8_t *result;
  int64_t quads; ///< of taps in a row of the window

  /// Computes rows [begin, end) of outputs, numbered over all images and blocks.
  void run(int64_t begin, int64_t end) const {
    const Window &w = plan.window;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t plane = task / w.out[0], block = plane % plan.outBlocks;
      const uint8_t *from =
          image.data + plane * image.plane + task % w.out[0] * w.stride[0] * image.row;
      const int8_t *own = weights + block * w.kernel[0] * quads * kBlock * kQuad;
      uint8_t *to = result + task * w.out[1] * kBlock;
#if defined(__x86_64__)
      if (hasWideDot()) {
        w.dilation[1] == 1 ? wideRow<true>(to, from, own, block * kBlock)
                           : wideRow<false>(to, from, own, block * kBlock);
        continue;
      }
#endif
      plainRow(to, from, own, block * kBlock);
    }
  }

private:
#if defined(__x86_64__)
  template <bool Dense>
  void wideRow(uint8_t *to, const uint8_t *from, const int8_t *w, int64_t channel) const {
    int64_t pixel = 0;
    for (const int64_t count = plan.window.out[1]; pixel < count;)
      if (count - pixel >= 8) {
        tile<8, Dense>(to, from, w, channel, pixel);
        pixel += 8;
      } else if (count - pixel >= 4) {
        tile<4, Dense>(to, from, w, channel, pixel);
        pixel += 4;
      } else {
        tile<1, Dense>(to, from, w, channel, pixel++);
      }
  }

  /// Computes `P` neighbouring pixels.
  template <int P, bool Dense>
  ATC_WIDE_DOT __attribute__((noinline)) void
  tile(uint8_t *to, const uint8_t *from, const int8_t *w, int64_t channel, int64_t pixel) const {
    const Window &window = plan.window;
    const int64_t step = window.stride[1] * kBlock, tapStep = window.dilation[1] * kBlock;
    // Word i of each pixel, then bytes i of each word.
    const __m512i words = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i positions =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i sums[P];
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
      sums[p] = _mm512_setzero_si512();
    from += pixel * step;
    for (int64_t i = 0; i < window.kernel[0]; ++i, from += window.dilation[0] * image.row)
      for (int64_t q = 0; q < quads; ++q, w += kBlock * kQuad) {
        const __m512i row = _mm512_loadu_si512(w);
        const uint8_t *at = from + q * kQuad * tapStep;
#pragma clang loop unroll(full)
        for (int p = 0; p < P; ++p) {
          const __m512i taps =
              Dense ? _mm512_loadu_si512(at + p * step) : fourTaps(at + p * step, tapStep);
          const __m512i joined =
              _mm512_shuffle_epi8(_mm512_permutexvar_epi32(words, taps), positions);
          sums[p] = _mm512_dpbusd_epi32(sums[p], joined, row);
        }
      }
    constexpr int kFours = P / 4 * 4;
    to += pixel * kBlock;
#pragma clang loop unroll(full)
    for (int p = 0; p < kFours; p += 4)
      finish.store4(to + p * kBlock, sums[p], sums[p + 1], sums[p + 2], sums[p + 3], channel);
#pragma clang loop unroll(full)
    for (int p = kFours; p < P; ++p)
      finish.store(to + p * kBlock, sums[p], channel);
  }

  ATC_WIDE_DOT_PART static __m512i fourTaps(const uint8_t *at, int64_t step) {
    const auto load =
        [&](int64_t i) __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))) {
          return _mm_loadu_si128(reinterpret_cast<const __m128i *>(at + i * step));
        };
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load(0)), load(1), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load(2)), load(3), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
#endif

  // Without vpdpbusd: products of bytes fit 16 bits.
  typedef int32_t Sums __attribute__((vector_size(64)));
  typedef int16_t Shorts __attribute__((vector_size(32)));
  typedef uint8_t Bytes __attribute__((vector_size(16), aligned(1), may_alias));

  void plainRow(uint8_t *to, const uint8_t *from, const int8_t *w, int64_t channel) const {
    const Window &window = plan.window;
    // The weights of some taps as vectors, which all pixels use.
    constexpr int64_t kTaps = 32, kPixels = 64;
    const int64_t taps = window.taps();
    Shorts factors[kTaps];
    int64_t offsets[kTaps];
    for (int64_t begin = 0; begin < window.out[1]; begin += kPixels) {
      const int64_t count = minimum(kPixels, window.out[1] - begin);
      Sums sums[kPixels];
      for (int64_t p = 0; p < count; ++p)
        sums[p] = Sums{};
      for (int64_t first = 0; first < taps; first += kTaps) {
        const int64_t part = minimum(kTaps, taps - first);
        for (int64_t t = 0; t < part; ++t) {
          const int64_t i = (first + t) / window.kernel[1], j = (first + t) % window.kernel[1];
          offsets[t] = i * window.dilation[0] * image.row + j * window.dilation[1] * kBlock;
          const int8_t *own = w + (i * quads + j / kQuad) * kBlock * kQuad + j % kQuad;
          int16_t lanes[kBlock];
          for (int64_t l = 0; l < kBlock; ++l)
            lanes[l] = own[l * kQuad];
          __builtin_memcpy(&factors[t], lanes, sizeof(lanes));
        }
        for (int64_t p = 0; p < count; ++p) {
          const uint8_t *at = from + (begin + p) * window.stride[1] * kBlock;
          Sums sum = sums[p];
          for (int64_t t = 0; t < part; ++t) {
            const Shorts pixel =
                __builtin_convertvector(*reinterpret_cast<const Bytes *>(at + offsets[t]), Shorts);
            sum += __builtin_convertvector(pixel * factors[t], Sums);
          }
          sums[p] = sum;
        }
      }
      for (int64_t p = 0; p < count; ++p)
        finish.store(to + (begin + p) * kBlock, sums[p], channel);
    }
  }
};
} // namespace
} // namespace bytes

/// Computes QLinearConv of an image in blocks of channels, each of which is a group of its own; the
/// inputs are those of BlockedQLinearConv. Weights are [blocks, rows of the window, words of four
/// taps of a row, 16, 4].
ATC_KERNEL(BlockedQLinearDepthwiseConv) {
  const Tensor x = in(0), w = in(1);
  const List<int64_t> sizes = integers("kernel_shape");
  bytes::Plan plan;
  // A row of taps ends in its last word: the product below is at most the bytes of the weights.
  if (sizes.size != 2 || sizes[0] != w.dim(1) || sizes[1] < 1 ||
      ceilDiv(sizes[1], bytes::kQuad) != w.dim(2) ||
      !plan.find(*this, x, sizes[0] * sizes[1], w.dim(0)))
    return fail("kernel_shape does not fit weights of % rows", w.dim(1));
  if (x.rank() != 5)
    return fail("data of rank %", x.rank());
  char *y = make(0, in(5).dtype(), plan.result);
  if (!y || plan.result.product() == 0)
    return;
  bytes::PaddedImage image;
  bytes::Requantizer finish;
  finish.read(*this);
  const Window &window = plan.window;
  // The taps of the last word that have no weights.
  const int64_t extra = (w.dim(2) * bytes::kQuad - sizes[1]) * window.dilation[1];
  if (!image.read(*this, x, int(integerAt(in(4), 0)), plan, extra))
    return;
  const bytes::ByteDepthwiseRows rows{
      plan, image, finish, w.as<int8_t>(), reinterpret_cast<uint8_t *>(y), w.dim(2)};
  parallelIf(*this, plan.batch * plan.outBlocks * window.out[0],
             window.out[1] * window.taps() * bytes::kBlock,
             [&](int64_t begin, int64_t end) { rows.run(begin, end); });
}

} // namespace atc::kernels
