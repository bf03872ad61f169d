//===-- HostValueRules.h - what every sequence and map is made of ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whoever makes a list (a sequence or map) calls checkList first: the runtime for kernels and
// programs, the compiler for kernels that fold constants. So whoever reads a list may rely on these
// rules.

#ifndef OPENATC_ABI_HOSTVALUERULES_H
#define OPENATC_ABI_HOSTVALUERULES_H

#include "runtime-lite/abi/HostKernel.h"

namespace atc::host {

/// The maximum product of the other dims of a tensor with a dim of 0. Such a tensor takes no
/// memory, but code that computes it may go through the other dims.
inline constexpr uint64_t kMaxDimsOfEmpty = uint64_t(1) << 31;

/// An error in a list. `text` is null where there is none; a '%' in it stands for `item`, the index
/// of the item.
struct ListError {
  const char *text;
  uint64_t item;
};

/// Returns the first error in the items of a list of kind `kind`, or a null text where all these
/// hold:
/// - a sequence has tensors of its element type; or sequences, or maps, that have
///   the same element type (maps: and keys of the same type);
/// - a map has two tensors of rank 1 and equal length, the keys and the values.
///
/// `Item` is Value or a type derived from it. Items may be null, which is an error.
template <typename Item>
ListError checkList(Kind kind, uint8_t dtype, uint64_t count, const Item *const *items) {
  for (uint64_t i = 0; i < count; ++i)
    if (!items[i])
      return {"item % of the sequence has no value", i};
  if (kind == Kind::Map) {
    const bool good = count == 2 && items[0]->kind == Kind::Tensor &&
                      items[1]->kind == Kind::Tensor && items[0]->rank == 1 &&
                      items[1]->rank == 1 && items[0]->dims[0] == items[1]->dims[0];
    return {good ? nullptr
                 : "a map is made of a tensor of keys and one of as many values, both "
                   "of rank 1",
            0};
  }
  if (kind != Kind::Sequence)
    return {"only sequences and maps have items", 0};
  // Where only shapes are known, a map has no items.
  const auto keyType = [](const Value &map) {
    return map.data ? static_cast<const Value *const *>(map.data)[0]->dtype : uint8_t(0);
  };
  for (uint64_t i = 0; i < count; ++i) {
    const Value &item = *items[i], &first = *items[0];
    if (item.kind == Kind::None)
      return {"item % of the sequence has no value", i};
    if (item.kind != first.kind)
      return {"item % of the sequence is of another kind than the first", i};
    if (item.dtype != (item.kind == Kind::Tensor ? dtype : first.dtype))
      return {"item % of the sequence is of another type than the sequence", i};
    if (item.kind == Kind::Map && keyType(item) != keyType(first))
      return {"item % of the sequence has keys of another type than the first", i};
  }
  return {nullptr, 0};
}

/// Returns the element type of a checked list: where the items are sequences or maps, that of the
/// items, otherwise `dtype`.
template <typename Item> uint8_t listType(uint8_t dtype, uint64_t count, const Item *const *items) {
  return count && items[0]->kind != Kind::Tensor ? items[0]->dtype : dtype;
}

} // namespace atc::host

#endif // OPENATC_ABI_HOSTVALUERULES_H
