//===-- Creation.cpp - tensors computed from a few values -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Math.h"
#include "kernels/core/Nibbles.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

ATC_KERNEL(Range) {
  const Tensor first = in(0), limit = in(1), delta = in(2);
  if (!first.known() || !limit.known() || !delta.known())
    return;
  if (first.count() != 1 || limit.count() != 1 || delta.count() != 1)
    return fail("start, limit and delta are not one number each");
  bool done = dispatchNumbers(first.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using N = Compute<T>;
    const N from = first.as<T>()[0], to = limit.as<T>()[0], step = delta.as<T>()[0];
    if (step == 0)
      return fail("delta is 0");
    int64_t count = 0;
    if constexpr (kIsFloat<T>) {
      const double exact = math::ceil((double(to) - double(from)) / double(step));
      if (!(exact < 0x1p62))
        return fail("the range is not finite");
      count = exact > 0 ? int64_t(exact) : 0;
    } else if (step > 0 ? from < to : from > to) {
      // Unsigned, because the distance of two 64-bit integers may not fit a signed one.
      const uint64_t distance =
          step > 0 ? uint64_t(to) - uint64_t(from) : uint64_t(from) - uint64_t(to);
      const uint64_t stride = step > 0 ? uint64_t(step) : uint64_t(0) - uint64_t(step);
      const uint64_t steps = (distance - 1) / stride;
      if (steps >> 62)
        return fail("the range is too long");
      count = int64_t(steps) + 1;
    }
    T *out = make<T>(0, first.dtype(), Dims(count));
    if (!out)
      return;
    for (int64_t i = 0; i < count; ++i)
      if constexpr (kIsFloat<T>)
        out[i] = T(from + N(i) * step);
      else
        out[i] = T(uint64_t(from) + uint64_t(i) * uint64_t(step));
  });
  if (!done)
    failType(first.dtype());
}

ATC_KERNEL(ConstantOfShape) {
  const Tensor wanted = in(0), value = tensor("value");
  if (!wanted.known())
    return;
  if (value && value.count() != 1)
    return fail("the value has % elements, not one", value.count());
  Dims shape;
  for (int64_t i = 0; i < wanted.count(); ++i)
    if (!shape.push(integerAt(wanted, i)))
      return fail("the shape has % dims", wanted.count());
  const uint8_t dtype = value ? value.dtype() : uint8_t(F32);
  char *out = make(0, dtype, shape);
  if (!out)
    return;
  const int64_t count = shape.product();
  moveElements(*this, dtype, out, count, [&](auto *to, auto read) {
    if (!value) {
      __builtin_memset(to, 0, uint64_t(count) * sizeof(*to));
      return;
    }
    auto *from = read(value);
    if (!from)
      return;
    const auto element = *from;
    for (int64_t i = 0; i < count; ++i)
      to[i] = element;
  });
}

ATC_KERNEL(EyeLike) {
  const Tensor like = in(0);
  if (like.rank() != 2)
    return fail("the input has rank %, not 2", like.rank());
  const uint8_t dtype = uint8_t(integer("dtype", like.dtype()));
  const int64_t rows = like.dim(0), columns = like.dim(1), k = integer("k", 0);
  char *out = make(0, dtype, like.dims());
  if (!out)
    return;
  auto fill = [&](auto type) {
    using T = typename decltype(type)::Type;
    T *to = reinterpret_cast<T *>(out);
    __builtin_memset(to, 0, uint64_t(rows * columns) * sizeof(T));
    if (k <= -rows || k >= columns)
      return;
    for (int64_t i = maximum(-k, int64_t(0)); i < rows && i + k < columns; ++i)
      to[i * columns + i + k] = T(1);
  };
  if (dtype == Bool)
    fill(TypeTag<uint8_t>());
  else if (!dispatchNumbers(dtype, fill))
    failType(dtype);
}

ATC_KERNEL(OneHot) {
  const Tensor indices = in(0), depthInput = in(1), values = in(2);
  if (!depthInput.known())
    return;
  if (depthInput.count() != 1 || values.count() != 2)
    return fail("depth has % elements and values %, not 1 and 2", depthInput.count(),
                values.count());
  const int64_t depth = integerAt(depthInput, 0), rank = indices.rank();
  const int64_t axis = normalizeAxis(*this, integer("axis", -1), rank + 1);
  if (axis < 0)
    return;
  Dims shape;
  for (int64_t d = 0; d <= rank; ++d)
    if (!shape.push(d == axis ? depth : indices.dim(d - (d > axis))))
      return fail("the result would have % dims", rank + 1);
  char *out = make(0, values.dtype(), shape);
  if (!out)
    return;
  const int64_t outer = shape.product(0, uint32_t(axis)),
                inner = shape.product(uint32_t(axis) + 1, shape.rank);
  moveElements(*this, values.dtype(), out, shape.product(), [&](auto *to, auto read) {
    auto *from = read(values);
    if (!from)
      return;
    const auto off = from[0], on = from[1];
    for (int64_t i = 0; i < outer * depth * inner; ++i)
      to[i] = off;
    for (int64_t i = 0; depth && i < outer; ++i)
      for (int64_t j = 0; j < inner; ++j) {
        const int64_t at = integerAt(indices, i * inner + j);
        if (at >= -depth && at < depth)
          to[(i * depth + (at < 0 ? at + depth : at)) * inner + j] = on;
      }
  });
}

ATC_KERNEL(Trilu) {
  const Tensor data = in(0), diagonal = in(1);
  const int64_t rank = data.rank();
  if (rank < 2)
    return fail("the input has rank %, not 2 or more", rank);
  char *out = make(0, data.dtype(), data.dims());
  if (!out)
    return;
  const int64_t rows = data.dim(rank - 2), columns = data.dim(rank - 1);
  const int64_t k = diagonal && diagonal.count() ? integerAt(diagonal, 0) : 0;
  const bool upper = integer("upper", 1) != 0;
  moveElements(*this, data.dtype(), out, data.count(), [&](auto *to, auto read) {
    auto *from = read(data);
    if (!from || data.count() == 0)
      return;
    const int64_t size = sizeof(*to);
    parallelIf(*this, data.count() / columns, columns, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        // The columns from `edge` on are above the diagonal.
        int64_t edge = 0;
        if (__builtin_add_overflow(row % rows + !upper, k, &edge))
          edge = k < 0 ? 0 : columns;
        edge = minimum(maximum(edge, int64_t(0)), columns);
        const int64_t start = upper ? edge : 0, stop = upper ? columns : edge;
        auto *target = to + row * columns;
        __builtin_memset(target, 0, uint64_t(columns * size));
        copyBytes(target + start, from + row * columns + start, (stop - start) * size);
      }
    });
  });
}

} // namespace atc::kernels
