//===-- QLinearConv.cpp - convolutions of 8-bit tensors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works like Conv.cpp, with 16-bit integers (elements minus their zero point) and 32-bit
// accumulators.

#include "kernels/conv/ByteDepthwise.h"
#include "kernels/conv/Convolution.h"
#include "kernels/conv/DotConv.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/IntegerProducts.h"

namespace atc::kernels {

namespace {
/// Converts the rows of a panel to rows of pairs, in place.
void pairRows(int16_t *panel, int64_t k) {
  constexpr int64_t width = kPairPanel;
  int16_t rows[2 * width];
  for (int64_t i = 0; i < k; i += 2) {
    int16_t *to = panel + i * width;
    __builtin_memcpy(rows, to, sizeof(rows));
    for (int64_t j = 0; j < width; ++j) {
      to[2 * j] = rows[j];
      to[2 * j + 1] = rows[width + j];
    }
  }
}

struct ByteConv {
  ConvPlan plan;
  const int16_t *x = nullptr, *w = nullptr; ///< w has one row per output channel

  /// Passes the accumulators of outputs [column, column + n) of channel `row` of image and group
  /// `batch` to the sink. Data and weights may have zero points. Fails the call for other types.
  void compute(Context &c, Tensor data, Tensor zero, Tensor weights, Tensor zeros, SumSink sink) {
    ZeroPoints zeroX, zeroW;
    if (!isByte(data) || !isByte(weights) || !zeroX.read(zero) || !zeroW.read(zeros))
      return c.fail("data and weights have element types % and %, expected 8 bits", data.dtype(),
                    weights.dtype());
    const int64_t channels = weights.dim(0);
    if ((zeroX.data && zeroX.count != 1) ||
        (zeroW.data && zeroW.count != 1 && zeroW.count != channels))
      return c.fail("% and % zero points for % channels", zeroX.count, zeroW.count, channels);
    const List<int64_t> sums = c.integers("packed");
    const QuadOrder order{plan.inChannels, plan.window.taps()};
    if (sums.given && (!order.fits() || sums.size != channels))
      return c.fail("% channels of % weights are packed, with % sums", channels, order.channels,
                    sums.size);
    const int64_t *packedSums = sums.given ? sums.data : nullptr;
#if defined(__x86_64__)
    if (hasWideDot() && plan.outChannels > QuadOrder::kFewRows &&
        plan.inChannels * plan.window.taps() > 0) {
      DotConv conv(plan);
      if (conv.read(c, data, zeroX, weights, zeroW, packedSums))
        conv.run(c, sink);
      return;
    }
#endif
    if (const ByteDepthwise depthwise(plan, zeroX, zeroW); !packedSums && depthwise.fits()) {
      depthwise.run(c, data.bytes(), data.dtype() == I8, weights.bytes(), weights.dtype() == I8,
                    sink);
      return;
    }
    if (read(c, data, zeroX, weights, zeroW, packedSums != nullptr))
      plan.outChannels <= QuadOrder::kFewRows ? addRows(c, sink) : multiply(c, sink);
  }

private:
  /// Centers data and weights. Returns false where memory could not be allocated.
  bool read(Context &c, Tensor data, const ZeroPoints &zeroX, Tensor weights,
            const ZeroPoints &zeroW, bool packed) {
    const int64_t channels = weights.dim(0);
    const int64_t k = plan.inChannels * plan.window.taps(), depth = evenDepth(k);
    const int64_t count = data.count();
    int16_t *wide = c.scratch<int16_t>(count + 1);
    int16_t *rows = wide ? c.scratch<int16_t>(channels * depth + 1) : nullptr;
    if (!rows)
      return false;
    forParts(c, count, [&](int64_t begin, int64_t end) {
      centerBytes(wide + begin, data.bytes() + begin, data.dtype() == I8, zeroX.at(0), end - begin);
    });
    const ByteMatrix matrix{weights.bytes(), weights.dtype() == I8, k, 1};
    const QuadOrder order{plan.inChannels, plan.window.taps()};
    parallelIf(c, channels, depth, [&](int64_t begin, int64_t end) {
      if (!packed)
        return centerRows(rows, matrix, zeroW, k, begin, end);
      const auto *from = reinterpret_cast<const uint8_t *>(weights.bytes());
      for (int64_t row = begin; row < end; ++row)
        for (int64_t channel = 0; channel < order.channels; ++channel)
          for (int64_t tap = 0; tap < order.taps; ++tap)
            rows[row * depth + channel * order.taps + tap] =
                int16_t(int(from[row * k + order.at(channel, tap)]) -
                        (zeroW.at(row) + (matrix.isSigned ? 128 : 0)));
    });
    x = wide;
    w = rows;
    return true;
  }

  bool multiply(Context &c, SumSink sink) const {
    constexpr int64_t width = kPairPanel;
    const Window &window = plan.window;
    const int64_t plane = window.in.product(), size = window.out.product();
    const int64_t k = plan.inChannels * window.taps(), depth = evenDepth(k), m = plan.outChannels;
    // The panels of all images and groups are numbered consecutively, about 8 MiB at a time.
    const ImagePanels images{size, width};
    const int64_t panels = plan.batch * plan.groups * images.perImage;
    const int64_t panelSize = maximum(depth, int64_t(2)) * width;
    const int64_t max = minimum(panels, maximum(int64_t(1), (int64_t(1) << 22) / panelSize));
    int16_t *packed = c.scratch<int16_t>(max * panelSize);
    if (!packed)
      return false;
    constexpr int64_t chunk = kSumColumns / width;
    // Few panels: more tasks by fewer rows each.
    const int64_t rowStep =
        panels >= 16 * chunk ? maximum(kSumRows, ceilDiv(m, kSumRows) * kSumRows) : kSumRows;
    const int64_t rowBlocks = ceilDiv(m, rowStep);
    for (int64_t begin = 0; begin < panels; begin += max) {
      const int64_t count = minimum(max, panels - begin);
      parallelIf(c, count, panelSize, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          int16_t *to = packed + i * panelSize;
          images.forEachImage(begin + i, begin + i + 1,
                              [&](int64_t image, int64_t column, int64_t columns, int64_t) {
                                packWindow<int16_t, width>(to, x + image * plan.inChannels * plane,
                                                           window, plan.inChannels, column,
                                                           columns);
                              });
          for (int64_t j = k * width; j < depth * width; ++j)
            to[j] = 0;
          pairRows(to, depth);
        }
      });
      parallelIf(
          c, ceilDiv(count, chunk) * rowBlocks, rowStep * chunk * panelSize,
          [&](int64_t first, int64_t last) {
            alignas(64) int32_t sums[kSumRows * kSumColumns];
            if (depth == 0)
              __builtin_memset(sums, 0, sizeof(sums));
            for (int64_t task = first; task < last; ++task) {
              const int64_t rowEnd = minimum(m, (task % rowBlocks + 1) * rowStep);
              const int64_t start = begin + task / rowBlocks * chunk;
              const int64_t stop = minimum(begin + count, start + chunk);
              images.forEachImage(
                  start, stop, [&](int64_t image, int64_t column, int64_t columns, int64_t panel) {
                    for (int64_t row = task % rowBlocks * rowStep; row < rowEnd; row += kSumRows) {
                      const int64_t rows = minimum(kSumRows, rowEnd - row);
                      multiplyPairs(sums, kSumColumns, w + (image % plan.groups * m + row) * depth,
                                    packed + (panel - begin) * panelSize, rows, columns, depth);
                      for (int64_t r = 0; r < rows; ++r)
                        sink.store(sink.arg, image, row + r, column, columns,
                                   sums + r * kSumColumns);
                    }
                  });
            }
          });
    }
    return true;
  }

  /// Convolutions of few channels (depthwise ones) add scaled rows.
  bool addRows(Context &c, SumSink sink) const {
    const Window &window = plan.window;
    const int64_t plane = window.in.product(), size = window.out.product(), taps = window.taps();
    const int64_t channels = plan.groups * plan.outChannels, last = window.rank() - 1;
    const int64_t stride = window.stride[last], depth = evenDepth(plan.inChannels * taps);
    int32_t *all = c.scratch<int32_t>(plan.batch * channels * size);
    if (!all)
      return false;
    parallelIf(c, plan.batch * channels, size * taps * plan.inChannels,
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t channel = task % channels, image = task / plan.outChannels;
                   int32_t *sums = all + task * size;
                   __builtin_memset(sums, 0, uint64_t(size) * sizeof(int32_t));
                   for (int64_t i = 0; i < plan.inChannels; ++i) {
                     const int16_t *from = x + (image * plan.inChannels + i) * plane;
                     const int16_t *weights = w + channel * depth + i * taps;
                     window.forEachRow(0, window.rows(),
                                       [&](int64_t tap, int64_t out, int64_t in, int64_t n) {
                                         const int32_t weight = weights[tap];
                                         int32_t *to = sums + out;
                                         const int16_t *row = from + in;
                                         if (stride == 1)
                                           for (int64_t j = 0; j < n; ++j)
                                             to[j] += weight * int32_t(row[j]);
                                         else if (stride == 2)
                                           for (int64_t j = 0; j < n; ++j)
                                             to[j] += weight * int32_t(row[2 * j]);
                                         else
                                           for (int64_t j = 0; j < n; ++j)
                                             to[j] += weight * int32_t(row[j * stride]);
                                       });
                   }
                   sink.store(sink.arg, image, task % plan.outChannels, 0, size, sums);
                 }
               });
    return true;
  }
};
} // namespace

ATC_KERNEL(ConvInteger) {
  const Tensor x = in(0), w = in(1);
  ByteConv conv;
  if (!conv.plan.find(*this, x.dims(), w.dims()))
    return;
  int32_t *out = make<int32_t>(0, I32, conv.plan.result);
  if (!out || conv.plan.result.product() == 0)
    return;
  const int64_t size = conv.plan.window.out.product(), m = conv.plan.outChannels;
  auto store = [=](int64_t image, int64_t row, int64_t column, int64_t n, const int32_t *sums) {
    copyBytes(out + (image * m + row) * size + column, sums, n * int64_t(sizeof(int32_t)));
  };
  conv.compute(*this, x, in(2), w, in(3), sinkOf(store));
}

ATC_KERNEL(QLinearConv) {
  const Tensor x = in(0), scaleX = in(1), w = in(3), scaleW = in(4), scaleY = in(6), zeroY = in(7);
  const Tensor b = in(8);
  ByteConv conv;
  const ConvPlan &plan = conv.plan;
  if (!conv.plan.find(*this, x.dims(), w.dims()))
    return;
  const int64_t channels = w.dim(0), scales = scaleW.count();
  if ((b && b.count() != channels) || (scales != 1 && scales != channels) || scaleX.count() != 1 ||
      scaleY.count() != 1 || zeroY.count() != 1)
    return fail("% biases or % scales for % channels", b ? b.count() : 0, scales, channels);
  char *out = make(0, zeroY.dtype(), plan.result);
  if (!out || plan.result.product() == 0)
    return;
  if (!isByte(zeroY) || (b && b.dtype() != I32))
    return failType(b ? b.dtype() : zeroY.dtype());
  float *factors = scratch<float>(channels);
  if (!factors)
    return;
  for (int64_t i = 0; i < channels; ++i)
    factors[i] =
        float(numberAt(scaleX, 0) * numberAt(scaleW, scales == 1 ? 0 : i) / numberAt(scaleY, 0));
  const int32_t *bias = b ? b.as<int32_t>() : nullptr;
  const bool isSigned = zeroY.dtype() == I8;
  const int zero = int(integerAt(zeroY, 0));
  const int64_t size = plan.window.out.product(), m = plan.outChannels, groups = plan.groups;
  auto store = [=](int64_t image, int64_t row, int64_t column, int64_t n, const int32_t *sums) {
    const int64_t channel = image % groups * m + row;
    char *to = out + (image * m + row) * size + column;
    // Adds the bias in chunks that stay in the cache.
    int32_t biased[kSumColumns];
    for (int64_t j = 0; j < n; j += kSumColumns) {
      const int64_t part = minimum(kSumColumns, n - j);
      for (int64_t i = 0; bias && i < part; ++i)
        biased[i] = int32_t(uint32_t(sums[j + i]) + uint32_t(bias[channel]));
      requantize(to + j, isSigned, bias ? biased : sums + j, part, factors[channel], zero);
    }
  };
  conv.compute(*this, x, in(2), w, in(5), sinkOf(store));
}

} // namespace atc::kernels
