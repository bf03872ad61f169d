//===-- Col2Im.cpp - assembles images from columns of windows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Widen.h"

namespace atc::kernels {

ATC_KERNEL(Col2Im) {
  const Tensor data = in(0), imageShape = in(1), blockShape = in(2);
  if (!imageShape.known() || !blockShape.known())
    return;
  const int64_t rank = imageShape.count();
  const List<int64_t> dilations = integers("dilations"), pads = integers("pads"),
                      strides = integers("strides");
  if (data.rank() != 3 || blockShape.count() != rank || rank + 2 > host::kMaxRank)
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
    return fail("% x % columns do not fit blocks of % elements at % places", data.dim(1),
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
        const Dims steps = stridesOf(image);
        parallelIf(*this, batch * channels, blockSize * windowCount * rank,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t n = begin; n < end; ++n) {
                       N *to = result.data + n * plane;
                       __builtin_memset(to, 0, uint64_t(plane) * sizeof(N));
                       const T *from = columns + n * blockSize * windowCount;
                       for (int64_t b = 0; b < blockSize; ++b)
                         for (int64_t w = 0; w < windowCount; ++w, ++from) {
                           int64_t offset = 0;
                           bool inside = true;
                           for (int64_t d = rank - 1, i = b, j = w; d >= 0; --d) {
                             const int64_t dilation = dilations.given ? dilations[d] : 1;
                             const int64_t stride = strides.given ? strides[d] : 1;
                             const int64_t at = i % block[d] * dilation + j % windows[d] * stride -
                                                (pads.given ? pads[d] : 0);
                             inside = inside && at >= 0 && at < image[d];
                             offset += at * steps[d];
                             i /= block[d];
                             j /= windows[d];
                           }
                           if (inside)
                             to[offset] = N(to[offset] + N(*from));
                         }
                     }
                   });
        result.store(*this);
      }))
    failType(data.dtype());
}

} // namespace atc::kernels
