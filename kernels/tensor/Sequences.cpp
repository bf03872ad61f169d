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
  for (int64_t i = 0; i <= size; ++i)
    items[i] = i == at ? tensor.get() : itemOf(sequence, i - (i > at));
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
