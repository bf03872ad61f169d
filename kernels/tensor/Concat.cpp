//===-- Concat.cpp - tensors joined and split along an axis ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
/// Copies the block [at, at + size) along an axis between a whole tensor, whose dim there is
/// `whole`, and a part of it. `inner`: elements behind the axis.
template <bool toWhole, typename T>
void copyPart(Context &c, T *to, const T *from, int64_t outer, int64_t whole, int64_t at,
              int64_t size, int64_t inner) {
  const int64_t run = size * inner;
  // A few elements per row: a call that copies them would take longer than they do.
  constexpr int64_t kFew = 8;
  if (run <= kFew)
    return parallelIf(c, outer, run, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t k = 0; k < run; ++k) {
          const int64_t inWhole = (i * whole + at) * inner + k, inPart = i * run + k;
          to[toWhole ? inWhole : inPart] = from[toWhole ? inPart : inWhole];
        }
    });
  // Long runs are divided among threads.
  constexpr int64_t piece = 1 << 14;
  const int64_t pieces = maximum(ceilDiv(run, piece), int64_t(1));
  parallelIf(c, outer * pieces, minimum(run, piece), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / pieces, first = task % pieces * piece;
      const int64_t inWhole = (i * whole + at) * inner + first, inPart = i * run + first;
      copyBytes(to + (toWhole ? inWhole : inPart), from + (toWhole ? inPart : inWhole),
                minimum(piece, run - first) * int64_t(sizeof(T)));
    }
  });
}

/// `item(i)` of `count` tensors along `axis`, which is a new one where `stacked`.
template <typename Item>
void join(Context &c, int64_t count, Item item, int64_t axis, bool stacked) {
  if (count == 0)
    return c.fail("there is nothing to join");
  const Tensor first = item(0);
  const int64_t rank = int64_t(first.rank()) + stacked;
  axis = normalizeAxis(c, axis, rank);
  if (axis < 0)
    return;
  Dims shape;
  for (int64_t d = 0; d < rank; ++d)
    if (!shape.push(stacked && d == axis ? count : first.dim(d - (stacked && d > axis))))
      return c.fail("the result would have % dims", rank);
  if (!stacked)
    shape[axis] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor part = item(i);
    if (part.rank() != first.rank() || part.dtype() != first.dtype())
      return c.fail("tensor % has rank % and element type %, the first has % and %", i, part.rank(),
                    part.dtype(), first.rank(), first.dtype());
    for (uint32_t d = 0; d < part.rank(); ++d)
      if ((stacked || d != axis) && part.dim(d) != first.dim(d))
        return c.fail("dim % of tensor % is %, of the first %", d, i, part.dim(d), first.dim(d));
    if (!stacked && __builtin_add_overflow(shape[axis], part.dim(axis), &shape[axis]))
      return c.fail("dim % of the result is too large", axis);
  }
  char *out = c.make(0, first.dtype(), shape);
  if (!out)
    return;
  const int64_t outer = shape.product(0, uint32_t(axis)),
                inner = shape.product(uint32_t(axis) + 1, shape.rank);
  moveElements(c, first.dtype(), out, shape.product(), [&](auto *to, auto read) {
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
      const Tensor part = item(i);
      const int64_t size = stacked ? 1 : part.dim(axis);
      auto *from = read(part);
      if (!from)
        return;
      copyPart<true>(c, to, from, outer, shape[axis], at, size, inner);
      at += size;
    }
  });
}

/// Copies the block [at, at + size) along `axis` of `data` to `out`.
void extract(Context &c, Tensor data, void *out, int64_t axis, int64_t at, int64_t size) {
  const Dims dims = data.dims();
  const int64_t outer = dims.product(0, uint32_t(axis)),
                inner = dims.product(uint32_t(axis) + 1, dims.rank);
  moveElements(c, data.dtype(), out, outer * size * inner, [&](auto *to, auto read) {
    if (auto *from = read(data))
      copyPart<false>(c, to, from, outer, dims[axis], at, size, inner);
  });
}
} // namespace

ATC_KERNEL(Concat) {
  join(*this, inputs(), [&](int64_t i) { return in(uint32_t(i)); }, integer("axis", 0), false);
}

ATC_KERNEL(ConcatFromSequence) {
  const Tensor sequence = in(0);
  if (!sequence.known())
    return;
  join(
      *this, sequence.size(), [&](int64_t i) { return sequence.item(i); }, integer("axis", 0),
      integer("new_axis", 0) != 0);
}

ATC_KERNEL(Split) {
  const Tensor data = in(0), sizes = in(1);
  if (sizes && !sizes.known())
    return;
  const int64_t axis = normalizeAxis(*this, integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const int64_t whole = data.dim(axis), parts = outputs();
  if (sizes && sizes.count() != parts)
    return fail("there are % sizes for % outputs", sizes.count(), parts);
  const int64_t each = parts ? ceilDiv(whole, parts) : 0;
  auto size = [&](int64_t i) {
    return sizes ? integerAt(sizes, i) : maximum(minimum(each, whole - each * i), int64_t(0));
  };
  int64_t sum = 0;
  for (int64_t i = 0; i < parts; ++i) {
    if (size(i) < 0 || size(i) > whole - sum)
      return fail("the parts do not add up to %, the size of dim %", whole, axis);
    sum += size(i);
  }
  if (sum != whole)
    return fail("the parts add up to %, dim % has size %", sum, axis, whole);
  void **results = scratch<void *>(maximum(parts, int64_t(1)));
  if (!results)
    return;
  bool last = false;
  for (int64_t i = 0; i < parts; ++i) {
    Dims shape = data.dims();
    shape[axis] = size(i);
    results[i] = wants(uint32_t(i)) ? makeBytes(uint32_t(i), data.dtype(), shape) : nullptr;
    last = wants(uint32_t(i)) ? results[i] != nullptr : last;
  }
  if (!last)
    return;
  for (int64_t i = 0, at = 0; i < parts; at += size(i), ++i)
    if (results[i])
      extract(*this, data, results[i], axis, at, size(i));
}

ATC_KERNEL(SplitToSequence) {
  const Tensor data = in(0), sizes = in(1);
  // Items are made with their elements, so shapes alone are of no use.
  if (!data.known() || (sizes && !sizes.known()))
    return;
  const int64_t axis = normalizeAxis(*this, integer("axis", 0), data.rank());
  if (axis < 0)
    return;
  const bool keepDim = sizes || integer("keepdims", 1);
  const int64_t whole = data.dim(axis);
  // A scalar: blocks of that size, of which the last may be smaller.
  const int64_t each = !sizes ? 1 : sizes.rank() == 0 ? integerAt(sizes, 0) : 0;
  if (sizes && sizes.rank() == 0 && each <= 0)
    return fail("parts of size % cannot be made", each);
  const int64_t parts = each ? ceilDiv(whole, each) : sizes.count();
  const Value **items = scratch<const Value *>(maximum(parts, int64_t(1)));
  if (!items)
    return;
  int64_t at = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t size = each ? minimum(each, whole - at) : integerAt(sizes, i);
    if (size < 0 || size > whole - at)
      return fail("the parts do not add up to %, the size of dim %", whole, axis);
    Dims shape;
    for (uint32_t d = 0; d < data.rank(); ++d)
      if (d != axis || keepDim)
        shape.push(d == axis ? size : data.dim(d));
    items[i] = makeItem(data.dtype(), shape);
    if (!items[i])
      return;
    extract(*this, data, items[i]->data, axis, at, size);
    at += size;
  }
  if (at != whole)
    return fail("the parts add up to %, dim % has size %", at, axis, whole);
  makeSequence(0, data.dtype(), parts, items);
}

} // namespace atc::kernels
