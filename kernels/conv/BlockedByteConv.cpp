//===-- BlockedByteConv.cpp - convolutions of 8-bit blocks of channels ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of some pixels and up to four blocks of output channels stay in registers, while all
// taps and channels are added. Pads are in a copy of the image, so that a tap is an offset.

#include "kernels/conv/ByteBlocks.h"
#include "kernels/conv/TileConv.h"

namespace atc::kernels {

namespace bytes {
namespace {

/// A convolution of one image and group.
struct ByteTiles : ByteConv {
  /// The blocks of output channels that are computed at once: their weights are side by side.
  static constexpr int64_t kBlocks = 4;
  /// The pixels per task.
  static constexpr int64_t kTask = 96;
  /// The bytes of the weights of one output block and four channels.
  static constexpr int64_t kStep = kBlock * kQuad;

  /// Computes pixels [begin, end) of output blocks [first, first + kBlocks) of a group.
  void run(int64_t at, int64_t group, int64_t first, int64_t begin, int64_t end) const {
    const uint8_t *from = image.data + (at * plan.inBlocks + group * blocks) * image.plane;
    const int8_t *w = weights + (group * outBlocks + first) * words() * kStep;
    const int64_t block = group * outBlocks + first, plane = plan.window.out.product() * kBlock;
    uint8_t *to = result + (at * plan.outBlocks + block) * plane;
#if defined(__x86_64__)
    if (hasWideDot()) {
      switch (minimum(kBlocks, outBlocks - first)) {
      case 1:
        return pixels<12, 1>(to, from, w, block, begin, end);
      case 2:
        return pixels<12, 2>(to, from, w, block, begin, end);
      case 3:
        return pixels<8, 3>(to, from, w, block, begin, end);
      default:
        return pixels<6, 4>(to, from, w, block, begin, end);
      }
    }
#endif
    const int64_t side = minimum(kBlocks, outBlocks - first);
    for (int64_t b = 0; b < side; ++b)
      for (int64_t pixel = begin; pixel < end; pixel += kPlain)
        plainTile(to + b * plane, from, w + b * kStep, side * kStep, (block + b) * kBlock, pixel,
                  minimum(kPlain, end - pixel));
  }

private:
  /// Fills `at` with the windows of `count` pixels; what is left is that of the last one.
  template <int P>
  void findWindows(const uint8_t *(&at)[P], const uint8_t *from, int64_t pixel,
                   int64_t count) const {
    const Window &w = plan.window;
    int64_t column = pixel % w.out[1];
    const uint8_t *window = from + windowAt(pixel);
    const int64_t step = w.stride[1] * plan.lanes;
    const int64_t next = w.stride[0] * image.row - (w.out[1] - 1) * step;
    for (int64_t p = 0; p < P; ++p) {
      at[p] = window;
      if (p + 1 >= count)
        continue;
      const bool isLast = ++column == w.out[1];
      window += isLast ? next : step;
      column = isLast ? 0 : column;
    }
  }

#if defined(__x86_64__)
  template <int P, int B>
  void pixels(uint8_t *to, const uint8_t *from, const int8_t *w, int64_t block, int64_t begin,
              int64_t end) const {
    for (; end - begin >= P; begin += P)
      tile<P, B>(to, from, w, block, begin, P);
    if (end - begin > P / 2)
      tile<P, B>(to, from, w, block, begin, end - begin);
    else if (end - begin > 1)
      tile<P / 2, B>(to, from, w, block, begin, end - begin);
    else if (end > begin)
      tile<1, B>(to, from, w, block, begin, 1);
  }

  template <int P, int B>
  ATC_WIDE_DOT __attribute__((noinline)) void tile(uint8_t *to, const uint8_t *from,
                                                   const int8_t *w, int64_t block, int64_t pixel,
                                                   int64_t count) const {
    const uint8_t *at[P];
    findWindows(at, from, pixel, count);
    __m512i sums[P][B];
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p)
#pragma clang loop unroll(full)
      for (int b = 0; b < B; ++b)
        sums[p][b] = _mm512_setzero_si512();
    for (int64_t tap = 0, taps = plan.window.taps(); tap < taps; ++tap) {
      int64_t offset = offsets[tap], rest = quads;
      for (; rest >= 4; rest -= 4, offset += image.plane, w += 4 * B * kStep) {
        addWord<P, B, 0>(sums, at, offset, w);
        addWord<P, B, 1>(sums, at, offset, w);
        addWord<P, B, 2>(sums, at, offset, w);
        addWord<P, B, 3>(sums, at, offset, w);
      }
      for (; rest > 0; --rest, offset += kQuad, w += B * kStep)
        addWord<P, B, 0>(sums, at, offset, w);
    }
    const int64_t plane = plan.window.out.product() * kBlock;
    to += pixel * kBlock;
    constexpr int kFours = P / 4 * 4;
    const bool isWhole = count >= kFours;
#pragma clang loop unroll(full)
    for (int p = 0; p < kFours; p += 4)
#pragma clang loop unroll(full)
      for (int b = 0; b < B; ++b)
        if (isWhole)
          finish.store4(to + b * plane + p * kBlock, sums[p][b], sums[p + 1][b], sums[p + 2][b],
                        sums[p + 3][b], (block + b) * kBlock);
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p) {
      if (p >= count)
        break;
      if (p < kFours && isWhole)
        continue;
#pragma clang loop unroll(full)
      for (int b = 0; b < B; ++b)
        finish.store(to + b * plane + p * kBlock, sums[p][b], (block + b) * kBlock);
    }
  }

  /// Adds the products of word `Q` from `offset` on.
  template <int P, int B, int Q>
  ATC_WIDE_DOT_PART static void addWord(__m512i (&sums)[P][B], const uint8_t *const (&at)[P],
                                        int64_t offset, const int8_t *w) {
    __m512i row[B];
#pragma clang loop unroll(full)
    for (int b = 0; b < B; ++b)
      row[b] = _mm512_loadu_si512(w + (Q * B + b) * kStep);
#pragma clang loop unroll(full)
    for (int p = 0; p < P; ++p) {
      int32_t word;
      __builtin_memcpy(&word, at[p] + offset + Q * kQuad, sizeof(word));
      const __m512i four = _mm512_set1_epi32(word);
#pragma clang loop unroll(full)
      for (int b = 0; b < B; ++b)
        sums[p][b] = _mm512_dpbusd_epi32(sums[p][b], four, row[b]);
    }
  }
#endif

  // Without vpdpbusd: sums of pairs of 16-bit products, two per output channel.
  static constexpr int64_t kPlain = 3;
  typedef int16_t Shorts __attribute__((vector_size(32)));
  typedef int32_t Sums __attribute__((vector_size(32)));
  typedef int32_t Products __attribute__((vector_size(64)));
  typedef int64_t Words __attribute__((vector_size(32)));
  typedef uint8_t Quad __attribute__((vector_size(4), aligned(1), may_alias));
  typedef int16_t QuadShorts __attribute__((vector_size(8)));
  typedef int8_t Bytes __attribute__((vector_size(16), aligned(1), may_alias));

  /// Computes up to kPlain pixels of an output block, whose weights are `step` bytes apart.
  void plainTile(uint8_t *to, const uint8_t *from, const int8_t *w, int64_t step, int64_t channel,
                 int64_t pixel, int64_t count) const {
    const uint8_t *at[kPlain];
    findWindows(at, from, pixel, count);
    Sums sums[kPlain][4] = {}; // of four channels each
    for (int64_t tap = 0, taps = plan.window.taps(); tap < taps; ++tap)
      for (int64_t quad = 0; quad < quads; ++quad, w += step) {
        const int64_t offset = offsets[tap] + quad / 4 * image.plane + quad % 4 * kQuad;
        Shorts pixels[kPlain];
#pragma clang loop unroll(full)
        for (int64_t p = 0; p < kPlain; ++p) {
          const auto four =
              __builtin_convertvector(*reinterpret_cast<const Quad *>(at[p] + offset), QuadShorts);
          pixels[p] = (Shorts)(Words{} + (int64_t)four);
        }
#pragma clang loop unroll(full)
        for (int q = 0; q < 4; ++q) {
          const Shorts row = __builtin_convertvector(reinterpret_cast<const Bytes *>(w)[q], Shorts);
#pragma clang loop unroll(full)
          for (int64_t p = 0; p < kPlain; ++p) {
            const Products both = __builtin_convertvector(pixels[p], Products) *
                                  __builtin_convertvector(row, Products);
            sums[p][q] += __builtin_shufflevector(both, both, 0, 2, 4, 6, 8, 10, 12, 14) +
                          __builtin_shufflevector(both, both, 1, 3, 5, 7, 9, 11, 13, 15);
          }
        }
      }
    for (int64_t p = 0; p < count; ++p) {
      const Sums low = joinPairs(sums[p][0], sums[p][1]), high = joinPairs(sums[p][2], sums[p][3]);
      finish.store(
          to + (pixel + p) * kBlock,
          __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
          channel);
    }
  }

  __attribute__((always_inline)) static Sums joinPairs(const Sums &a, const Sums &b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  }
};

#if defined(__x86_64__)
/// Computes a convolution in tile registers. Returns false where it failed.
bool convolve(Context &c, const TileConv &tiles, int64_t groups) {
  // Tasks share working space by contiguous ranges, of which there are enough for all threads.
  constexpr int64_t maxRanges = 32;
  const int64_t parts = tiles.parts(), tasks = tiles.plan.batch * groups * parts;
  const int64_t ranges = minimum(tasks, maxRanges), space = tiles.space(c);
  const int64_t size = space < 0 ? -1 : spaceFor(c, ranges, space);
  uint8_t *windows = size < 0 ? nullptr : c.scratch<uint8_t>(size);
  if (!windows)
    return false;
  // Tiles multiply eight times as fast as other code.
  const double cost = double(TileConv::kTask * tiles.words()) * double(tiles.outBlocks) / 8 *
                      (double(tasks) / double(ranges));
  parallelIf(c, ranges, int64_t(minimum(cost, 1e18)), [&](int64_t begin, int64_t end) {
    for (int64_t task = tasks * begin / ranges, last = tasks * end / ranges; task < last; ++task)
      tiles.run(windows + begin * space, task / parts / groups, task / parts % groups,
                task % parts);
    TileConv::release();
  });
  return true;
}
#endif
} // namespace
} // namespace bytes

/// Computes QLinearConv of an image in blocks of channels, or of fewer than 16 in planes: data,
/// weights, biases, factors, the zero points of data and result. Weights are [output blocks / 4,
/// taps, words, output blocks of these 4, 16, 4], written as [output blocks, taps, words, 16, 4].
ATC_KERNEL(BlockedQLinearConv) {
  const Tensor x = in(0), w = in(1);
  bytes::Plan plan;
  if (!plan.find(*this, x, w.dim(1), w.dim(0)))
    return;
  const int64_t groups = integer("group", 1), quads = w.dim(2);
  if (groups < 1 || plan.outBlocks % groups || plan.inBlocks % groups)
    return fail("% groups of % and % blocks", groups, plan.inBlocks, plan.outBlocks);
  const int64_t blocks = plan.inBlocks / groups;
  if (ceilDiv(quads * bytes::kQuad, plan.lanes) != blocks || quads < 1)
    return fail("weights of % channels for % blocks", quads * bytes::kQuad, blocks);
  // The last quad of planes may be incomplete; data and weights must have the same number of
  // channels.
  if (x.rank() == 4 && x.dim(1) != integer("channels", x.dim(1)))
    return fail("data of % channels, not %", x.dim(1), integer("channels", 0));
  char *y = make(0, in(5).dtype(), plan.result);
  if (!y || plan.result.product() == 0)
    return;
  bytes::PaddedImage image;
  bytes::Requantizer finish;
  finish.read(*this);
  int64_t *offsets = scratch<int64_t>(plan.window.taps());
  if (!offsets || !image.read(*this, x, int(integerAt(in(4), 0)), plan, 0))
    return;
  const Window &window = plan.window;
  for (int64_t tap = 0; tap < window.taps(); ++tap)
    offsets[tap] = tap / window.kernel[1] * window.dilation[0] * image.row +
                   tap % window.kernel[1] * window.dilation[1] * plan.lanes;
  const bytes::ByteConv conv{plan,           image,   finish,
                             w.as<int8_t>(), offsets, reinterpret_cast<uint8_t *>(y),
                             blocks,         quads,   plan.outBlocks / groups};
#if defined(__x86_64__)
  const bytes::TileConv inTiles{conv};
  if (hasTileRegisters() && inTiles.serves()) {
    bytes::convolve(*this, inTiles, groups);
    return;
  }
#endif
  const bytes::ByteTiles tiles{conv};
  const int64_t pixels = window.out.product(), parts = ceilDiv(pixels, bytes::ByteTiles::kTask);
  const int64_t sides = ceilDiv(tiles.outBlocks, bytes::ByteTiles::kBlocks);
  parallelIf(*this, plan.batch * groups * sides * parts,
             bytes::ByteTiles::kTask * tiles.words() * bytes::ByteTiles::kBlocks,
             [&](int64_t begin, int64_t end) {
               for (int64_t task = begin; task < end; ++task) {
                 const int64_t part = task % parts, side = task / parts % sides;
                 const int64_t group = task / parts / sides;
                 tiles.run(group / groups, group % groups, side * bytes::ByteTiles::kBlocks,
                           part * bytes::ByteTiles::kTask,
                           minimum(pixels, (part + 1) * bytes::ByteTiles::kTask));
               }
             });
}

} // namespace atc::kernels
