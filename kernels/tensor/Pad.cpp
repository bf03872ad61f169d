//===-- Pad.cpp - tensors made larger or smaller at their edges -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Nibbles.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {
enum class Mode { Constant, Edge, Reflect, Wrap };

/// Returns the position in a dim of `size` elements that is read for coordinate `at` of the result
/// (counted from the first element of the input); -1: none, the constant is used. The elements of
/// [kept, keptEnd) are those that negative pads do not remove: they alone repeat.
int64_t sourceOf(int64_t at, int64_t size, Mode mode, int64_t kept, int64_t keptEnd) {
  if (at >= 0 && at < size)
    return at;
  switch (mode) {
  case Mode::Constant:
    return -1;
  case Mode::Edge:
    return at < 0 ? 0 : size - 1;
  case Mode::Reflect: {
    // 0 1 2 1 0 1 2 ...: the edge elements are not repeated.
    const int64_t period = size > 1 ? 2 * (size - 1) : 1;
    const int64_t rest = ((at % period) + period) % period;
    return rest < size ? rest : period - rest;
  }
  case Mode::Wrap: {
    const int64_t period = keptEnd - kept, rest = (at - kept) % period;
    return kept + (rest < 0 ? rest + period : rest);
  }
  }
  return -1;
}

/// Output 0 is `data` with `begins[d]` elements more (or less) before dim d, and in
/// all of `shape`. What is new is `fill`'s element, or zero.
void pad(Context &c, Tensor data, const Dims &begins, const Dims &shape, Mode mode, Tensor fill) {
  char *out = c.make(0, data.dtype(), shape);
  if (!out || shape.product() == 0)
    return;
  const int64_t rank = data.rank();
  const Dims dims = data.dims(), steps = stridesOf(dims);
  // For every coordinate of every dim the offset of its source, or -1.
  int64_t total = 1;
  Dims starts;
  for (int64_t d = 0; d < rank; ++d) {
    starts.push(total);
    total += shape[d];
  }
  int64_t *table = c.scratch<int64_t>(total);
  if (!table)
    return;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t kept = maximum(-begins[d], int64_t(0));
    const int64_t keptEnd = minimum(shape[d] - begins[d], dims[d]);
    for (int64_t i = 0; i < shape[d]; ++i) {
      const int64_t at = sourceOf(i - begins[d], dims[d], mode, kept, keptEnd);
      table[starts[d] + i] = at < 0 ? -1 : at * steps[d];
    }
  }
  const int64_t inner = rank ? shape[rank - 1] : 1;
  table[0] = 0; // the only row of a scalar
  const int64_t *last = rank ? table + starts[rank - 1] : table;
  // The elements of a row that are copied from one row of the input.
  const int64_t before = rank ? begins[rank - 1] : 0;
  const int64_t from = minimum(maximum(before, int64_t(0)), inner);
  const int64_t to = maximum(from, minimum(inner, before + (rank ? dims[rank - 1] : 1)));
  moveElements(c, data.dtype(), out, shape.product(), [&](auto *result, auto read) {
    auto *source = read(data);
    auto *constant = fill ? read(fill) : nullptr;
    if (!source || (fill && !constant))
      return;
    __remove_reference_t(decltype(*result)) zero;
    __builtin_memset(&zero, 0, sizeof(zero));
    const auto filler = constant ? *constant : zero;
    parallelIf(c, shape.product() / inner, inner, [&](int64_t begin, int64_t end) {
      // Counts up: divisions take as long as copying a short row.
      Dims at = shape;
      for (int64_t d = rank - 2, rest = begin; d >= 0; rest /= shape[d], --d)
        at[d] = rest % shape[d];
      for (int64_t row = begin; row < end; ++row) {
        int64_t offset = 0;
        bool inside = true;
        for (int64_t d = 0; d < rank - 1; ++d) {
          const int64_t part = table[starts[d] + at[d]];
          inside = inside && part >= 0;
          offset += part;
        }
        for (int64_t d = rank - 2; d >= 0 && ++at[d] == shape[d]; --d)
          at[d] = 0;
        auto *target = result + row * inner;
        auto put = [&](int64_t first, int64_t end) {
          for (int64_t i = first; i < end; ++i)
            target[i] = filler;
        };
        if (!inside) {
          put(0, inner);
          continue;
        }
        auto border = [&](int64_t first, int64_t end) {
          if (mode == Mode::Constant)
            return put(first, end);
          for (int64_t i = first; i < end; ++i)
            target[i] = source[offset + last[i]];
        };
        border(0, from);
        if (to > from)
          copyBytes(target + from, source + offset + last[from],
                    (to - from) * int64_t(sizeof(*target)));
        border(to, inner);
      }
    });
  });
}
} // namespace

ATC_KERNEL(Pad) {
  const Tensor data = in(0), pads = in(1), value = in(2), axes = in(3);
  if (!pads.known() || (axes && !axes.known()))
    return;
  const int64_t rank = data.rank(), count = axes ? axes.count() : rank;
  if (pads.count() != 2 * count)
    return fail("there are % pads for % axes", pads.count(), count);
  const Mode mode = is("mode", "constant", "edge")      ? Mode::Edge
                    : is("mode", "constant", "reflect") ? Mode::Reflect
                    : is("mode", "constant", "wrap")    ? Mode::Wrap
                                                        : Mode::Constant;
  if (mode == Mode::Constant && !is("mode", "constant", "constant"))
    return fail("the mode is none of constant, edge, reflect and wrap");
  if (value && (value.count() != 1 || value.dtype() != data.dtype()))
    return fail("the constant has % elements of type %, not one of type %", value.count(),
                value.dtype(), data.dtype());
  Dims begins, shape = data.dims();
  for (int64_t d = 0; d < rank; ++d)
    begins.push(0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = normalizeAxis(*this, axes ? integerAt(axes, i) : i, rank);
    if (axis < 0)
      return;
    const int64_t before = integerAt(pads, i), after = integerAt(pads, count + i);
    if (__builtin_add_overflow(shape[axis], before, &shape[axis]) ||
        __builtin_add_overflow(shape[axis], after, &shape[axis]))
      return fail("pads of % and % are too large", before, after);
    begins[axis] = before;
    const int64_t removed = maximum(-before, int64_t(0)) + maximum(-after, int64_t(0));
    const int64_t left = data.dim(axis) - (mode == Mode::Wrap ? removed : 0);
    if (mode != Mode::Constant && left <= 0 && shape[axis] > 0)
      return fail("dim % is empty: there is nothing to pad with", axis);
  }
  pad(*this, data, begins, shape, mode, value);
}

ATC_KERNEL(CenterCropPad) {
  const Tensor data = in(0), wanted = in(1);
  if (!wanted.known())
    return;
  const List<int64_t> axes = integers("axes");
  const int64_t rank = data.rank(), count = axes.given ? axes.size : rank;
  if (wanted.count() != count)
    return fail("the shape has % dims for % axes", wanted.count(), count);
  Dims begins, shape = data.dims();
  for (int64_t d = 0; d < rank; ++d)
    begins.push(0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = normalizeAxis(*this, axes.given ? axes[i] : i, rank);
    if (axis < 0)
      return;
    const int64_t size = integerAt(wanted, i), own = data.dim(axis);
    if (size < 0)
      return fail("dim % of the shape is %", i, size);
    begins[axis] = size < own ? -((own - size) / 2) : (size - own) / 2;
    shape[axis] = size;
  }
  pad(*this, data, begins, shape, Mode::Constant, Tensor());
}

} // namespace atc::kernels
