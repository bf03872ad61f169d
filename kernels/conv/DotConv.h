//===-- DotConv.h - convolutions of 8-bit tensors by vpdpbusd -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four channels of a pixel become one word, so that a panel of outputs (BytePanels.h) is copied
// from the image like one of 32-bit elements. Where an output reads beside the image it has to read
// the zero point, but copies leave zeros: so words hold the exclusive or of channels and zero
// point, and what is copied is turned back.

#ifndef OPENATC_KERNELS_CONV_DOTCONV_H
#define OPENATC_KERNELS_CONV_DOTCONV_H

#include "kernels/conv/Convolution.h"
#include "kernels/conv/PackImage.h"
#include "kernels/core/ByteDots.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/IntegerProducts.h"

#if defined(__x86_64__)

namespace atc::kernels {

/// A convolution in which each group has several output channels. Only where hasWideDot().
class DotConv {
public:
  explicit DotConv(const ConvPlan &plan)
      : plan(plan), quads(ceilDiv(plan.inChannels, int64_t(4))), plane(plan.window.in.product()),
        order{plan.inChannels, plan.window.taps()}, dots{order.size()},
        images{plan.window.out.product(), ByteDots::kLanes} {}

  /// Arranges data with one zero point, and weights with one or one per output channel, unless they
  /// are in order and `packedSums` are their sums. Returns false where memory could not be
  /// allocated.
  bool read(Context &c, Tensor data, const ZeroPoints &zeroX, Tensor weights,
            const ZeroPoints &zeroW, const int64_t *packedSums) {
    const int64_t count = plan.batch * plan.groups, channels = weights.dim(0);
    if (spaceFor(c, count, quads, plane, 4) < 0 || spaceFor(c, channels, dots.k) < 0)
      return false;
    words = c.scratch<int32_t>(count * quads * plane + 1);
    const auto *elements = reinterpret_cast<const uint8_t *>(weights.bytes());
    uint8_t *space = packedSums ? nullptr : c.scratch<uint8_t>(channels * dots.k + 1);
    rows = packedSums ? elements : space;
    rowSums = c.scratch<uint32_t>(channels);
    rowZeros = c.scratch<int32_t>(channels);
    if (!words || !rows || !rowSums || !rowZeros)
      return false;
    const auto zero = uint8_t(zeroX.at(0));
    signedZero = data.dtype() == I8 ? zero : zero ^ 0x80;
    parallelIf(c, count * quads, 4 * plane, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i % quads * 4;
        const auto *from = reinterpret_cast<const uint8_t *>(data.bytes()) +
                           (i / quads * plan.inChannels + channel) * plane;
        joinChannels(words + i * plane, from, minimum(int64_t(4), plan.inChannels - channel), plane,
                     zero);
      }
    });
    parallelIf(c, channels, dots.k, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const bool isSigned = weights.dtype() == I8;
        rowSums[row] = packedSums ? uint32_t(packedSums[row])
                                  : arrangeRow(space + row * dots.k,
                                               elements + row * order.channels * order.taps,
                                               isSigned ? 0x80 : 0);
        rowZeros[row] = zeroW.at(row) + (isSigned ? 128 : 0);
      }
    });
    return true;
  }

  /// Passes the accumulators to the sink, as ByteConv::run.
  bool run(Context &c, SumSink sink) const {
    const int64_t panels = plan.batch * plan.groups * images.perImage;
    const int64_t m = plan.outChannels, panelSize = dots.k * ByteDots::kLanes;
    // About 2 MiB of panels at a time.
    const int64_t max = minimum(panels, maximum(int64_t(1), (int64_t(1) << 21) / panelSize));
    int8_t *packed = c.scratch<int8_t>(max * panelSize);
    int32_t *sums = packed ? c.scratch<int32_t>(max * ByteDots::kLanes) : nullptr;
    if (!sums)
      return false;
    constexpr int64_t chunk = kSumColumns / ByteDots::kLanes;
    const int64_t rowBlocks = ceilDiv(m, kSumRows);
    for (int64_t begin = 0; begin < panels; begin += max) {
      const int64_t count = minimum(max, panels - begin);
      parallelIf(c, count, panelSize, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          packPanel(packed + i * panelSize, sums + i * ByteDots::kLanes, begin + i);
      });
      parallelIf(c, ceilDiv(count, chunk) * rowBlocks, kSumRows * chunk * panelSize,
                 [&](int64_t first, int64_t last) {
                   for (int64_t task = first; task < last; ++task) {
                     const int64_t start = begin + task / rowBlocks * chunk;
                     images.forEachImage(
                         start, minimum(begin + count, start + chunk),
                         [&](int64_t image, int64_t column, int64_t columns, int64_t panel) {
                           multiply(packed + (panel - begin) * panelSize,
                                    sums + (panel - begin) * ByteDots::kLanes, image,
                                    task % rowBlocks * kSumRows, column, columns, sink);
                         });
                   }
                 });
    }
    return true;
  }

private:
  /// Writes up to four planes as one of words: bytes ^ zero, and zeros for channels that do not
  /// exist.
  ATC_WIDE_DOT static void joinChannels(int32_t *to, const uint8_t *from, int64_t channels,
                                        int64_t plane, uint8_t zero) {
    const __m128i zeros = _mm_set1_epi8(char(zero));
    int64_t i = 0;
    for (; i + 16 <= plane; i += 16) {
      __m128i lines[4] = {};
      for (int64_t l = 0; l < channels; ++l)
        lines[l] = _mm_xor_si128(
            zeros, _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + l * plane + i)));
      ByteDots::storeQuads(to + i, lines);
    }
    for (; i < plane; ++i) {
      uint32_t word = 0;
      for (int64_t l = 0; l < channels; ++l)
        word |= uint32_t(from[l * plane + i] ^ zero) << (8 * l);
      to[i] = int32_t(word);
    }
  }

  /// Writes the weights of an output channel in order and returns their sum.
  uint32_t arrangeRow(uint8_t *to, const uint8_t *from, uint8_t flip) const {
    uint32_t sum = 0;
    for (int64_t channel = 0; channel < quads * QuadOrder::kChannels; ++channel)
      for (int64_t tap = 0; tap < order.taps; ++tap) {
        const uint8_t value =
            channel < order.channels ? from[channel * order.taps + tap] ^ flip : 0;
        to[order.at(channel, tap)] = value;
        sum += value;
      }
    return sum;
  }

  /// Packs a panel and sums its columns.
  ATC_WIDE_DOT void packPanel(int8_t *to, int32_t *sums, int64_t panel) const {
    auto *elements = reinterpret_cast<int32_t *>(to);
    images.forEachImage(
        panel, panel + 1, [&](int64_t image, int64_t column, int64_t columns, int64_t) {
          const int32_t *from = words + image * quads * plane;
          if (plan.window.rank() == 2)
            ImagePacker<int32_t>(plan.window, column, columns).pack(elements, from, quads);
          else
            packWindow<int32_t, ByteDots::kLanes>(elements, from, plan.window, quads, column,
                                                  columns);
        });
    const __m512i zeros = _mm512_set1_epi8(char(signedZero)), ones = _mm512_set1_epi8(1);
    __m512i total = _mm512_setzero_si512();
    for (int64_t w = 0, count = dots.words(); w < count; ++w, to += 4 * ByteDots::kLanes) {
      const __m512i bytes = _mm512_xor_si512(zeros, _mm512_loadu_si512(to));
      total = _mm512_dpbusd_epi32(total, ones, bytes);
      _mm512_storeu_si512(to, bytes);
    }
    _mm512_storeu_si512(sums, total);
  }

  /// Computes up to kSumRows output channels of an image and group from `row` on.
  void multiply(const int8_t *panels, const int32_t *columnSums, int64_t image, int64_t row,
                int64_t column, int64_t columns, SumSink sink) const {
    alignas(64) int32_t sums[kSumRows * kSumColumns];
    const int64_t channel = image % plan.groups * plan.outChannels + row;
    const int64_t height = minimum(kSumRows, plan.outChannels - row);
    dots.multiply(sums, kSumColumns, rows + channel * dots.k, panels, height,
                  ceilDiv(columns, ByteDots::kLanes));
    const auto zeroX = uint32_t(int32_t(int8_t(signedZero)));
    for (int64_t r = 0; r < height; ++r) {
      const auto zero = uint32_t(rowZeros[channel + r]);
      // Channels that do not exist have the zero point of the data, and so count like the others.
      const uint32_t rest = zeroX * (rowSums[channel + r] - uint32_t(dots.k) * zero);
      int32_t *own = sums + r * kSumColumns;
      for (int64_t j = 0; j < columns; ++j)
        own[j] = int32_t(uint32_t(own[j]) - zero * uint32_t(columnSums[j]) - rest);
      sink.store(sink.arg, image, row + r, column, columns, own);
    }
  }

  const ConvPlan &plan;
  const int64_t quads, plane; ///< quads: groups of four channels
  const QuadOrder order;
  const ByteDots dots;
  const ImagePanels images;
  int32_t *words = nullptr;      ///< [batch * groups, quads, plane]
  const uint8_t *rows = nullptr; ///< weights of the output channels
  uint8_t signedZero = 0;
  uint32_t *rowSums = nullptr;
  int32_t *rowZeros = nullptr;
};

} // namespace atc::kernels

#endif // __x86_64__
#endif // OPENATC_KERNELS_CONV_DOTCONV_H
