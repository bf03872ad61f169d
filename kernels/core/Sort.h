//===-- Sort.h - sorts indices --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_SORT_H
#define OPENATC_KERNELS_CORE_SORT_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Sorts `count` items, indices or keys, by `before(a, b)` with a stable merge sort. `spare` must
/// have room for `count` items, too. Which item is next is not predictable, so that it is chosen
/// without a branch.
template <typename Item, typename Before>
void sortIndices(Item *items, Item *spare, int64_t count, Before before) {
  Item *from = items, *to = spare;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      const int64_t middle = minimum(begin + width, count), end = minimum(begin + 2 * width, count);
      int64_t left = begin, right = middle, at = begin;
      while (left < middle && right < end) {
        const bool second = before(from[right], from[left]);
        to[at++] = from[second ? right : left];
        right += second;
        left += !second;
      }
      copyBytes(to + at, from + left, (middle - left) * int64_t(sizeof(Item)));
      copyBytes(to + at + (middle - left), from + right, (end - right) * int64_t(sizeof(Item)));
    }
    Item *other = from;
    from = to;
    to = other;
  }
  if (from != items)
    copyBytes(items, from, count * int64_t(sizeof(Item)));
}

/// Moves item `at` of a heap of `count` items down to its position; the item at the top is the last
/// one in the order of `before`.
template <typename Before> void siftDown(int64_t *heap, int64_t at, int64_t count, Before before) {
  const int64_t item = heap[at];
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && before(heap[child], heap[child + 1]))
      ++child;
    if (!before(item, heap[child]))
      break;
    heap[at] = heap[child];
  }
  heap[at] = item;
}

/// Writes the first `count` of the indices 0 ... `size` - 1 in the order of `before` to `heap`,
/// sorted.
template <typename Before>
void selectFirst(int64_t *heap, int64_t count, int64_t size, Before before) {
  for (int64_t i = 0; i < count; ++i)
    heap[i] = i;
  for (int64_t i = count / 2 - 1; i >= 0; --i)
    siftDown(heap, i, count, before);
  for (int64_t i = count; count && i < size; ++i)
    if (before(i, heap[0])) {
      heap[0] = i;
      siftDown(heap, 0, count, before);
    }
  for (int64_t i = count - 1; i > 0; --i) {
    const int64_t last = heap[0];
    heap[0] = heap[i];
    heap[i] = last;
    siftDown(heap, 0, i, before);
  }
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_SORT_H
