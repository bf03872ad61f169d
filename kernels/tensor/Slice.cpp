//===-- Slice.cpp - slices, repetition and rearrangement of tensors -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Strided.h"

namespace atc::kernels {

namespace {
/// Makes output 0 of `shape`; its elements are those of `data` from `offset` on in
/// `steps`. `walk` is the shape that `steps` belong to: the same elements in more
/// dims than `shape` where the kernel splits some.
void copyResult(Context &c, Tensor data, const Dims &shape, const Dims &walk, const Dims &steps,
                int64_t offset = 0) {
  char *out = c.make(0, data.dtype(), shape);
  if (!out)
    return;
  moveElements(c, data.dtype(), out, shape.product(), [&](auto *to, auto read) {
    if (auto *from = read(data))
      copyStrided(c, to, from + offset, walk, steps);
  });
}
} // namespace

ATC_KERNEL(Slice) {
  const Tensor data = in(0), starts = in(1), ends = in(2), axes = in(3), strides = in(4);
  if (!starts.known() || !ends.known() || (axes && !axes.known()) || (strides && !strides.known()))
    return;
  const int64_t rank = data.rank(), count = starts.count();
  if (ends.count() != count || (axes && axes.count() != count) ||
      (strides && strides.count() != count))
    return fail("there are % starts, but not as many ends, axes or steps", count);
  Dims shape = data.dims(), steps = stridesOf(shape);
  int64_t offset = 0;
  uint32_t sliced = 0; ///< a bit per axis
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = normalizeAxis(*this, axes ? integerAt(axes, i) : i, rank);
    if (axis < 0)
      return;
    // The second slice of an axis would overwrite the first one.
    if (sliced >> axis & 1)
      return fail("axis % is sliced twice", axis);
    sliced |= 1u << axis;
    const int64_t size = data.dim(axis), step = strides ? integerAt(strides, i) : 1;
    if (step == 0)
      return fail("step % is 0", i);
    int64_t start = integerAt(starts, i), end = integerAt(ends, i);
    // The largest number of 32 or 64 bits is an end that is left out, backward as well.
    const bool toEnd = end == 0x7fffffff || end == 0x7fffffffffffffff;
    start = start < 0 ? start + size : start;
    end = toEnd && step < 0 ? -1 : end < 0 ? end + size : end;
    int64_t length;
    if (step > 0) {
      start = minimum(maximum(start, int64_t(0)), size);
      end = minimum(maximum(end, int64_t(0)), size);
      length = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
      start = minimum(maximum(start, int64_t(0)), size - 1);
      end = minimum(maximum(end, int64_t(-1)), size - 1);
      // A step of -2^63 has no negative; one beyond the dim selects one element, too.
      const int64_t back = -maximum(step, -size - 1);
      length = start > end ? (start - end - 1) / back + 1 : 0;
    }
    shape[axis] = length;
    offset += length ? start * steps[axis] : 0;
    // With one element the step is not used; it may overflow.
    steps[axis] = length > 1 ? steps[axis] * step : 0;
  }
  copyResult(*this, data, shape, shape, steps, offset);
}

ATC_KERNEL(Expand) {
  const Tensor data = in(0), wanted = in(1);
  if (!wanted.known())
    return;
  const int64_t rank = data.rank(), extra = wanted.count() - rank;
  const Dims strides = stridesOf(data.dims());
  Dims shape, steps;
  if (maximum(wanted.count(), rank) > host::kMaxRank)
    return fail("the shape has % dims", wanted.count());
  for (int64_t i = minimum(extra, int64_t(0)); i < wanted.count(); ++i) {
    const int64_t size = i < 0 ? 1 : integerAt(wanted, i);
    const int64_t own = i < extra ? 1 : data.dim(i - extra);
    if (own != 1 && size != 1 && own != size)
      return fail("a dim of % cannot be expanded to %", own, size);
    shape.push(own == 1 ? size : own);
    steps.push(own == 1 ? 0 : strides[i - extra]);
  }
  copyResult(*this, data, shape, shape, steps);
}

ATC_KERNEL(Tile) {
  const Tensor data = in(0), repeats = in(1);
  if (!repeats.known())
    return;
  const uint32_t rank = data.rank();
  if (repeats.count() != rank)
    return fail("there are % repeats for a tensor of rank %", repeats.count(), rank);
  const Dims strides = stridesOf(data.dims());
  Dims shape;
  // Every dim is walked as repeats x dim. Dims that are not repeated go without
  // the first, so that the rank stays within what Dims hold.
  Dims walk, steps;
  bool fits = true;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t times = integerAt(repeats, i);
    int64_t size = 0;
    if (times < 0 || __builtin_mul_overflow(times, data.dim(i), &size))
      return fail("repeat % is %", i, times);
    shape.push(size);
    if (times != 1)
      fits = walk.push(times) && steps.push(0) && fits;
    fits = walk.push(data.dim(i)) && steps.push(strides[i]) && fits;
  }
  if (!fits)
    return fail("tiles of % dims have no kernel", rank);
  copyResult(*this, data, shape, walk, steps);
}

ATC_KERNEL(DepthToSpace) {
  const Tensor data = in(0);
  const int64_t block = integer("blocksize", 0);
  if (block <= 0 || block > 0x7fff || data.dim(1) % (block * block))
    return fail("% channels do not make blocks of %", data.dim(1), block);
  const int64_t n = data.dim(0), c = data.dim(1) / (block * block), h = data.dim(2),
                w = data.dim(3), plane = h * w;
  // The steps of the block's row, its column, and the channel in the input.
  const bool rowsFirst = is("mode", "DCR", "DCR");
  const int64_t channel = rowsFirst ? plane : plane * block * block;
  const int64_t column = rowsFirst ? plane * c : plane;
  copyResult(*this, data, Dims(n, c, h * block, w * block), Dims(n, c, h, block, w, block),
             Dims(data.dim(1) * plane, channel, w, column * block, 1, column));
}

ATC_KERNEL(SpaceToDepth) {
  const Tensor data = in(0);
  const int64_t block = integer("blocksize", 0);
  if (block <= 0 || block > 0x7fff || data.dim(2) % block || data.dim(3) % block)
    return fail("% x % elements do not make blocks of %", data.dim(2), data.dim(3), block);
  const int64_t n = data.dim(0), c = data.dim(1), h = data.dim(2) / block, w = data.dim(3) / block,
                row = data.dim(3), plane = data.dim(2) * row;
  const Dims shape(n, c * block * block, h, w);
  if (is("mode", "DCR", "CRD"))
    copyResult(*this, data, shape, Dims(n, c, block, block, h, w),
               Dims(c * plane, plane, row, 1, row * block, block));
  else
    copyResult(*this, data, shape, Dims(n, block, block, c, h, w),
               Dims(c * plane, row, 1, plane, row * block, block));
}

} // namespace atc::kernels
