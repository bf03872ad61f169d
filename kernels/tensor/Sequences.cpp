//===-- Sequences.cpp - lists of tensors, and values that may be absent ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {
/// -size <= position < size becomes 0 <= position < size; -1 after a failure.
int64_t positionIn(Context &c, int64_t position, int64_t size) {
  if (position >= -size && position < size)
    return position < 0 ? position + size : position;
  c.fail("position % is not one of a sequence of %", position, size);
  return -1;
}

const Value *itemOf(Tensor sequence, int64_t i) { return sequence.item(i).get(); }

/// Items that a sequence may get: more would only come from a wrong index.
constexpr int64_t maxItems = int64_t(1) << 24;

/// Fills items [from, to) with one tensor of zeros; false after a failure.
bool fillWithZeros(Context &c, const Value **items, int64_t from, int64_t to, uint8_t dtype,
                   const Dims &dims) {
  if (from >= to)
    return true;
  const Value *zeros = dtype == Str ? nullptr : c.makeItem(dtype, dims);
  if (!zeros) {
    if (dtype == Str)
      c.failType(dtype);
    return false;
  }
  __builtin_memset(zeros->data, 0, uint64_t(bytesOf(dtype, dims.product())));
  for (int64_t i = from; i < to; ++i)
    items[i] = zeros;
  return true;
}
} // namespace

ATC_KERNEL(SequenceConstruct) {
  const int64_t count = inputs();
  const Value **items = scratch<const Value *>(maximum(count, int64_t(1)));
  if (!items)
    return;
  for (int64_t i = 0; i < count; ++i) {
    items[i] = in(uint32_t(i)).get();
    if (items[i]->dtype != items[0]->dtype)
      return fail("item % has element type %, the first has %", i, items[i]->dtype,
                  items[0]->dtype);
  }
  makeSequence(0, count ? items[0]->dtype : uint8_t(F32), count, items);
}

ATC_KERNEL(SequenceEmpty) { makeSequence(0, uint8_t(integer("dtype", F32)), 0, nullptr); }

ATC_KERNEL(SequenceLength) {
  if (int64_t *out = make<int64_t>(0, I64, Dims()))
    *out = in(0).size();
}

ATC_KERNEL(SequenceAt) {
  const Tensor sequence = in(0), position = in(1);
  if (!sequence.known() || !position.known())
    return;
  const int64_t at = positionIn(*this, integerAt(position, 0), sequence.size());
  if (at >= 0)
    forward(0, sequence.item(at));
}

ATC_KERNEL(SequenceInsert) {
  const Tensor sequence = in(0), tensor = in(1), position = in(2);
  if (!sequence.known() || (position && !position.known()))
    return;
  const int64_t size = sequence.size();
  if (size && tensor.dtype() != sequence.dtype())
    return fail("the tensor has element type %, the sequence %", tensor.dtype(), sequence.dtype());
  int64_t at = position ? integerAt(position, 0) : size;
  // Inserting after the last item is allowed, too.
  at = at == size ? size : positionIn(*this, at, size);
  const Value **items = at < 0 ? nullptr : scratch<const Value *>(size + 1);
  if (!items)
    return;
  for (int64_t i = 0; i < at; ++i)
    items[i] = itemOf(sequence, i);
  items[at] = tensor.get();
  for (int64_t i = at; i < size; ++i)
    items[i + 1] = itemOf(sequence, i);
  makeSequence(0, tensor.dtype(), size + 1, items);
}

ATC_KERNEL(SequenceErase) {
  const Tensor sequence = in(0), position = in(1);
  if (!sequence.known() || (position && !position.known()))
    return;
  const int64_t size = sequence.size();
  const int64_t at = positionIn(*this, position ? integerAt(position, 0) : -1, size);
  const Value **items = at < 0 ? nullptr : scratch<const Value *>(size);
  if (!items)
    return;
  for (int64_t i = 0; i + 1 < size; ++i)
    items[i] = itemOf(sequence, i + (i >= at));
  makeSequence(0, sequence.dtype(), size - 1, items);
}

/// Puts a tensor to a position. Behind the end the sequence grows, by zeros of the tensor's
/// shape between its items and the new one.
ATC_KERNEL(SequenceSet) {
  const Tensor sequence = in(0), tensor = in(1), position = in(2);
  if (!sequence.known() || !position.known())
    return;
  const int64_t size = sequence.size(), at = integerAt(position, 0);
  if (at < 0 || at >= maxItems)
    return fail("position % is not one of a sequence", at);
  if (size && tensor.dtype() != sequence.dtype())
    return fail("the tensor has element type %, the sequence %", tensor.dtype(), sequence.dtype());
  const int64_t count = maximum(size, at + 1);
  const Value **items = scratch<const Value *>(count);
  if (!items || !fillWithZeros(*this, items, size, at, tensor.dtype(), tensor.dims()))
    return;
  for (int64_t i = 0; i < size; ++i)
    items[i] = itemOf(sequence, i);
  items[at] = tensor.get();
  makeSequence(0, tensor.dtype(), count, items);
}

/// Makes a sequence one of as many items as input 1 states: new ones at the end are zeros of
/// the first item's shape, of an empty sequence of the shape `dims`.
ATC_KERNEL(SequenceResize) {
  const Tensor sequence = in(0), wanted = in(1);
  if (!sequence.known() || !wanted.known())
    return;
  const int64_t size = sequence.size(), count = integerAt(wanted, 0);
  if (count < 0 || count > maxItems)
    return fail("a sequence cannot have % items", count);
  const List<int64_t> stated = integers("dims");
  Dims dims = size ? sequence.item(0).dims() : Dims();
  for (int64_t i = 0; !size && i < stated.size; ++i)
    if (!dims.push(stated[i]))
      return fail("items of % dims are not supported", stated.size);
  const Value **items = scratch<const Value *>(maximum(count, int64_t(1)));
  if (!items || !fillWithZeros(*this, items, size, count, sequence.dtype(), dims))
    return;
  for (int64_t i = 0; i < minimum(size, count); ++i)
    items[i] = itemOf(sequence, i);
  makeSequence(0, sequence.dtype(), count, items);
}

ATC_KERNEL(Optional) {
  if (in(0))
    forward(0, in(0));
  else
    makeNone(0);
}

ATC_KERNEL(OptionalHasElement) {
  if (uint8_t *out = make<uint8_t>(0, Bool, Dims()))
    *out = bool(in(0));
}

ATC_KERNEL(OptionalGetElement) {
  if (!in(0))
    return fail("the optional has no element");
  forward(0, in(0));
}

} // namespace atc::kernels
