//===-- TopKeys.h - the first elements of a lane in order -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element and its index are one integer, its key: the greater one is before the other. So what
// is compared has no ties and no NaN, and is chosen without branches, none of which is predictable.

#ifndef OPENATC_KERNELS_TENSOR_TOPKEYS_H
#define OPENATC_KERNELS_TENSOR_TOPKEYS_H

#include "kernels/core/Numbers.h"
#include "kernels/core/Sort.h"

namespace atc::kernels {

/// Returns an integer per number, in their order; equal numbers have equal ones, NaN has the
/// greatest one.
template <typename N> uint32_t orderOf(N x) {
  if constexpr (__is_integral(N)) {
    return uint32_t(x) ^ (N(-1) < N(0) ? uint32_t(1) << 31 : 0);
  } else {
    // The sum makes zeros equal.
    const uint32_t bits = __builtin_bit_cast(uint32_t, x + 0.0f);
    const uint32_t order = bits >> 31 ? ~bits : bits | uint32_t(1) << 31;
    return isNan(x) ? ~uint32_t(0) : order;
  }
}

/// Finds the largest or least elements of lanes of numbers of at most 32 bits. NaN counts as the
/// maximum; equal elements keep their order. No key is 0 or the greatest integer.
template <typename T, bool largest> class TopKeys {
  using N = Compute<T>;

public:
  static constexpr int64_t kMaxSize = (int64_t(1) << 32) - 2;

  /// `keys` and `spare` have room for roomOf(k, size) keys each.
  TopKeys(uint64_t *keys, uint64_t *spare, int64_t k, int64_t size)
      : keys(keys), spare(spare), k(k), room(roomOf(k, size)) {}

  /// Returns how many keys there are at most at a time.
  static int64_t roomOf(int64_t k, int64_t size) {
    return minimum(2 * minimum(k, size) + 5 * kBlock, size);
  }

  /// Writes the keys of the first k of `size` elements, at most kMaxSize, to `keys`, in order.
  void find(const T *elements, int64_t size) {
    count = size <= room ? size : room - kBlock;
    for (int64_t i = 0; i < count; ++i)
      keys[i] = keyOf(elements[i], i);
    if (count < size && k)
      scan(elements, size);
    if (k <= kFew)
      return takeFew();
    select();
    sortIndices(keys, spare, k, [](uint64_t a, uint64_t b) { return a > b; });
  }

  /// Returns the index of the element of a key.
  static int64_t indexOf(uint64_t key) { return int64_t(~uint32_t(key)) - 1; }

private:
  /// The elements that are compared at once; and those that are found one after the other.
  static constexpr int64_t kBlock = 32, kPart = 8, kFew = 8;

  static uint64_t keyOf(N x, int64_t i) {
    const uint32_t order = orderOf(x);
    return uint64_t(largest ? order : ~order) << 32 | ~uint32_t(i + 1);
  }

  static bool isBehind(N x, N bound) { return largest ? x <= bound : x >= bound; }
  /// Returns whether none of some elements is in front of the bound. NaN never is behind it.
  template <int64_t number> static bool areBehind(const T *elements, N bound) {
    uint32_t behind = 1;
    for (int64_t i = 0; i < number; ++i)
      behind &= isBehind(elements[i], bound);
    return behind;
  }

  /// Reduces the keys to those of the first k of all elements, and a few.
  void scan(const T *elements, int64_t size) {
    const int64_t begin = count;
    N bound = elements[tighten()];
    for (int64_t i = begin; i < size; i += kBlock) {
      const int64_t end = minimum(i + kBlock, size);
      if (end - i == kBlock && areBehind<kBlock>(elements + i, bound))
        continue;
      for (int64_t part = i; part < end; part += kPart) {
        const int64_t last = minimum(part + kPart, end);
        if (last - part == kPart && areBehind<kPart>(elements + part, bound))
          continue;
        for (int64_t j = part; j < last; ++j) {
          const N x = elements[j];
          keys[count] = keyOf(x, j);
          count += !isBehind(x, bound);
        }
      }
      if (count + kBlock > room)
        bound = elements[tighten()];
    }
  }

  /// Keeps the first k keys; returns the index of the last of them.
  int64_t tighten() {
    if (k <= kFew)
      takeFew();
    else
      select();
    count = k;
    uint64_t last = keys[0];
    for (int64_t i = 1; i < k; ++i)
      last = minimum(last, keys[i]);
    return indexOf(last);
  }

  /// Brings the first k keys to the front in order, each as the greatest one below the one before.
  void takeFew() {
    uint64_t first[kFew], before = ~uint64_t(0);
    for (int64_t p = 0; p < k; ++p) {
      uint64_t max = 0;
      for (int64_t i = 0; i < count; ++i)
        max = maximum(max, keys[i] < before ? keys[i] : 0);
      first[p] = before = max;
    }
    for (int64_t p = 0; p < k; ++p)
      keys[p] = first[p];
  }

  /// Brings the first k keys to the front.
  void select() {
    // Those in front of `begin` are among them, those from `end` on are not.
    int64_t begin = 0, end = count;
    constexpr int64_t max = 40; // of bad pivots
    for (int64_t round = 0; begin < k && k < end; ++round) {
      if (end - begin <= kBlock || round == max)
        return sortIndices(keys + begin, spare, end - begin,
                           [](uint64_t a, uint64_t b) { return a > b; });
      const uint64_t a = keys[begin], b = keys[(begin + end) / 2], c = keys[end - 1];
      const uint64_t pivot = maximum(minimum(a, b), minimum(maximum(a, b), c));
      int64_t above = begin, others = 0;
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = keys[i];
        keys[above] = key;
        spare[others] = key;
        above += key > pivot;
        others += key <= pivot;
      }
      copyBytes(keys + above, spare, others * int64_t(sizeof(uint64_t)));
      (k <= above ? end : begin) = above;
    }
  }

  uint64_t *keys, *spare;
  int64_t k, room, count = 0;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_TENSOR_TOPKEYS_H
