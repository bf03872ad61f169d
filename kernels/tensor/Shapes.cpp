//===-- Shapes.cpp - shapes as values, and values under other shapes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/ReshapeDims.h"
#include "kernels/core/Support.h"

namespace atc::kernels {

ATC_KERNEL(Identity) { forward(0, in(0)); }

/// Returns input 0 where all elements of input 1 hold; fails with `message` otherwise.
ATC_KERNEL(Require) {
  const Tensor condition = in(1);
  for (int64_t i = 0; condition.known() && i < condition.count(); ++i)
    if (!condition.as<uint8_t>()[i]) {
      const String message = text("message", "");
      char *line = scratch<char>(int64_t(message.size) + 1);
      if (!line)
        return;
      copyBytes(line, message.data, int64_t(message.size));
      line[message.size] = 0;
      return fail(line);
    }
  share(0, in(0), in(0).dims());
}

ATC_KERNEL(Shape) {
  const int64_t rank = in(0).rank();
  auto clamp = [&](int64_t at) {
    at = at < 0 ? at + rank : at;
    return minimum(maximum(at, int64_t(0)), rank);
  };
  const int64_t start = clamp(integer("start", 0)), end = clamp(integer("end", rank));
  int64_t *out = make<int64_t>(0, I64, Dims(maximum(end - start, int64_t(0))));
  if (!out)
    return;
  for (int64_t i = start; i < end; ++i)
    out[i - start] = in(0).dim(i);
}

ATC_KERNEL(Reshape) {
  const Tensor data = in(0), wanted = in(1);
  if (!wanted.known())
    return;
  Dims shape;
  if (reshapeDims(*this, data.dims(), wanted, integer("allowzero", 0), shape))
    share(0, data, shape);
}

ATC_KERNEL(Size) {
  if (int64_t *out = make<int64_t>(0, I64, Dims()))
    *out = in(0).count();
}

ATC_KERNEL(Flatten) {
  const int64_t rank = in(0).rank(), axis = integer("axis", 1);
  if (axis < -rank || axis > rank)
    return fail("axis % is not one of a tensor of rank %", axis, rank);
  const uint32_t at = uint32_t(axis < 0 ? axis + rank : axis);
  const Dims dims = in(0).dims();
  share(0, in(0), Dims(dims.product(0, at), dims.product(at, dims.rank)));
}

namespace {
/// The axes that the elements of `list` name, as bits. False after a failure.
bool axesOf(Context &c, Tensor list, int64_t rank, uint32_t &axes) {
  axes = 0;
  for (int64_t i = 0; i < list.count(); ++i) {
    const int64_t axis = normalizeAxis(c, integerAt(list, i), rank);
    if (axis < 0)
      return false;
    if (axes >> axis & 1) {
      c.fail("axis % is named twice", axis);
      return false;
    }
    axes |= 1u << axis;
  }
  return true;
}
} // namespace

ATC_KERNEL(Squeeze) {
  const Tensor data = in(0), list = in(1);
  uint32_t axes = 0;
  if (list && (!list.known() || !axesOf(*this, list, data.rank(), axes)))
    return;
  Dims shape;
  for (uint32_t i = 0; i < data.rank(); ++i) {
    const bool named = axes >> i & 1;
    if (named && data.dim(i) != 1)
      return fail("dim % is % and cannot be squeezed", i, data.dim(i));
    if (list ? !named : data.dim(i) != 1)
      shape.push(data.dim(i));
  }
  share(0, data, shape);
}

ATC_KERNEL(Unsqueeze) {
  const Tensor data = in(0), list = in(1);
  if (!list.known())
    return;
  const int64_t rank = data.rank() + list.count();
  if (rank > host::kMaxRank)
    return fail("the result would have % dims", rank);
  uint32_t axes = 0;
  if (!axesOf(*this, list, rank, axes))
    return;
  Dims shape;
  for (int64_t i = 0, from = 0; i < rank; ++i)
    shape.push(axes >> i & 1 ? 1 : data.dim(from++));
  share(0, data, shape);
}

} // namespace atc::kernels
