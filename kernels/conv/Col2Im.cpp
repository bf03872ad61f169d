//===-- Col2Im.cpp - assembles images from columns of windows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
/// The windows of an image that columns are added to: element i of a block meets window w at
/// i * dilation + w * stride - pad, along each dim.
struct Columns {
  Dims image, block, windows, dilation, stride, before;

  Columns(const Dims &image, const Dims &block, const Dims &windows, const List<int64_t> &dilations,
          const List<int64_t> &strides, const List<int64_t> &pads)
      : image(image), block(block), windows(windows) {
    for (uint32_t d = 0; d < image.rank; ++d) {
      dilation.push(dilations.given ? dilations[d] : 1);
      stride.push(strides.given ? strides[d] : 1);
      before.push(pads.given ? pads[d] : 0);
    }
  }

  /// Adds neighbours: rows are short, so that blocks of several vectors would leave most of them to
  /// what comes one by one.
  template <typename N, typename T>
  static void addRow(N *__restrict to, const T *__restrict from, int64_t count) {
    constexpr int64_t lanes = 8;
    int64_t j = 0;
    for (; j + lanes <= count; j += lanes)
#pragma clang loop unroll(full)
      for (int64_t l = 0; l < lanes; ++l)
        to[j + l] = N(to[j + l] + N(from[j + l]));
#pragma clang loop vectorize(disable)
    for (; j < count; ++j)
      to[j] = N(to[j] + N(from[j]));
  }

  /// Adds the columns [block, windows] to an image.
  template <typename N, typename T> void add(N *to, const T *from) const {
    const int64_t last = int64_t(image.rank) - 1, width = windows[last];
    const int64_t rows = windows.product(0, uint32_t(last)), size = block.product();
    for (int64_t b = 0; b < size; ++b) {
      Dims taps = block;
      for (int64_t d = last, rest = b; d >= 0; rest /= block[d], --d)
        taps[d] = rest % block[d] * dilation[d] - before[d];
      // The windows of a row that meet the image: [first, end).
      const int64_t tap = taps[last], step = stride[last];
      const int64_t first = tap < 0 ? minimum(ceilDiv(-tap, step), width) : 0;
      const int64_t end = tap < image[last] ? minimum(ceilDiv(image[last] - tap, step), width) : 0;
      // The row of windows, whose indices count up like digits.
      Dims position = windows;
      for (int64_t d = 0; d < last; ++d)
        position[d] = 0;
      for (int64_t row = 0; row < rows; ++row, from += width) {
        int64_t offset = 0;
        bool inside = true;
        for (int64_t d = 0; d < last; ++d) {
          const int64_t at = taps[d] + position[d] * stride[d];
          inside = inside && at >= 0 && at < image[d];
          offset = (offset + (inside ? at : 0)) * image[d + 1];
        }
        for (int64_t d = last - 1; d >= 0 && ++position[d] == windows[d]; --d)
          position[d] = 0;
        if (!inside)
          continue;
        N *target = to + offset;
        if (step == 1)
          addRow(target + tap + first, from + first, end - first);
        else
          for (int64_t j = first; j < end; ++j)
            target[tap + j * step] = N(target[tap + j * step] + N(from[j]));
      }
    }
  }
};
} // namespace

ATC_KERNEL(Col2Im) {
  const Tensor data = in(0), imageShape = in(1), blockShape = in(2);
  if (!imageShape.known() || !blockShape.known())
    return;
  const int64_t rank = imageShape.count();
  const List<int64_t> dilations = integers("dilations"), pads = integers("pads"),
                      strides = integers("strides");
  if (data.rank() != 3 || rank < 1 || blockShape.count() != rank || rank + 2 > host::kMaxRank)
    return fail("an input of rank %, images of rank % and blocks of rank % do not fit", data.rank(),
                rank, blockShape.count());
  if ((dilations.given && dilations.size != rank) || (strides.given && strides.size != rank) ||
      (pads.given && pads.size != 2 * rank))
    return fail("dilations, strides or pads are not those of images of rank %", rank);
  // Windows along each dim, in the order of the input's last dim.
  Dims image, block, windows;
  int64_t blockSize = 1, windowCount = 1, plane = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = integerAt(imageShape, d), extent = integerAt(blockShape, d);
    const int64_t dilation = dilations.given ? dilations[d] : 1,
                  stride = strides.given ? strides[d] : 1;
    if (size <= 0 || extent <= 0 || dilation <= 0 || stride <= 0)
      return fail("dim % has size %, block %, dilation % and stride %", d, size, extent, dilation,
                  stride);
    int64_t room, padded = size, covered;
    if (__builtin_mul_overflow(dilation, extent - 1, &covered) ||
        (pads.given && (__builtin_add_overflow(padded, pads[d], &padded) ||
                        __builtin_add_overflow(padded, pads[rank + d], &padded))) ||
        __builtin_sub_overflow(padded, covered, &room) || __builtin_sub_overflow(room, 1, &room))
      return fail("the image is too large");
    image.push(size);
    block.push(extent);
    windows.push(room < 0 ? 0 : room / stride + 1);
    if (__builtin_mul_overflow(blockSize, extent, &blockSize) ||
        __builtin_mul_overflow(windowCount, windows[d], &windowCount) ||
        __builtin_mul_overflow(plane, size, &plane))
      return fail("the image is too large");
  }
  if (data.dim(1) % blockSize || data.dim(2) != windowCount)
    return fail("% x % columns do not fit blocks of % elements at % positions", data.dim(1),
                data.dim(2), blockSize, windowCount);
  const int64_t batch = data.dim(0), channels = data.dim(1) / blockSize;
  Dims shape(batch, channels);
  for (int64_t d = 0; d < rank; ++d)
    shape.push(image[d]);
  char *out = make(0, data.dtype(), shape);
  if (!out)
    return;
  if (!dispatchNumbers(data.dtype(), [&](auto type) {
        using T = typename decltype(type)::Type;
        using N = Compute<T>;
        const T *columns = data.as<T>();
        WideResult<T> result(*this, out, shape.product());
        if (!result.data)
          return;
        const Columns plan(image, block, windows, dilations, strides, pads);
        parallelIf(*this, batch * channels, blockSize * windowCount * rank,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t n = begin; n < end; ++n) {
                       N *to = result.data + n * plane;
                       __builtin_memset(to, 0, uint64_t(plane) * sizeof(N));
                       plan.add(to, columns + n * blockSize * windowCount);
                     }
                   });
        result.store(*this);
      }))
    failType(data.dtype());
}

} // namespace atc::kernels
