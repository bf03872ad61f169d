//===-- Stack.cpp - what the iterations of a loop gave, side by side ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Joins the tensors of a sequence along a new axis, the last first with `reverse`. `dims` are the
/// dims of an item where the sequence is empty.
ATC_KERNEL(Stack) {
  const Tensor sequence = in(0);
  if (!sequence.known())
    return;
  const int64_t count = sequence.size();
  const List<int64_t> stated = integers("dims");
  Dims item = count ? sequence.item(0).dims() : Dims(stated.data, uint32_t(stated.size));
  const int64_t axis = normalizeAxis(*this, integer("axis", 0), item.rank + 1);
  if (axis < 0)
    return;
  Dims shape;
  for (int64_t i = 0; i <= item.rank; ++i)
    if (!shape.push(i == axis ? count : item[i - (i > axis)]))
      return fail("its result has % dims", item.rank + 1);
  for (int64_t i = 1; i < count; ++i)
    if (!(sequence.item(i).dims() == item) || sequence.item(i).dtype() != sequence.item(0).dtype())
      return fail("iteration % gave a tensor of another shape than the first one", i);
  const uint8_t dtype = count ? sequence.item(0).dtype() : sequence.dtype();
  char *out = make(0, dtype, shape);
  if (!out || !count)
    return;
  const int64_t bits = bitsOf(dtype), outer = item.product(0, axis),
                inner = item.product(axis, item.rank) * bits / 8;
  if (bits < 8)
    return failType(dtype);
  const bool reverse = integer("reverse", 0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      copyBytes(out + (o * count + i) * inner,
                sequence.item(reverse ? count - 1 - i : i).bytes() + o * inner, inner);
}

} // namespace atc::kernels
