//===-- HashIndex.h - finds the index of a key ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_HASHINDEX_H
#define OPENATC_KERNELS_CORE_HASHINDEX_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Return a hash that includes another word, or of a single word or text.
inline uint64_t mixHash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}
inline uint64_t hashOf(uint64_t word) { return mixHash(0x243f6a8885a308d3u, word); }
inline uint64_t hashOf(String text) {
  uint64_t hash = hashOf(text.size);
  for (uint64_t i = 0; i < text.size; ++i)
    hash = mixHash(hash, uint8_t(text.data[i]));
  return hash;
}

/// A hash table of indices 0, 1, ... of keys that are stored elsewhere.
class HashIndex {
public:
  /// Allocates room for `count` indices; returns false where memory could not be allocated.
  bool reserve(Context &c, int64_t count) {
    uint64_t slotCount = 16;
    while (slotCount < uint64_t(count) * 2)
      slotCount *= 2;
    mask = slotCount - 1;
    slots = c.scratch<int64_t>(int64_t(slotCount));
    for (uint64_t i = 0; slots && i < slotCount; ++i)
      slots[i] = -1;
    return slots != nullptr;
  }
  /// Returns the index for which `isKey(index)` holds, or -1.
  template <typename IsKey> int64_t find(uint64_t hash, IsKey &&isKey) const {
    return slots[slotOf(hash, isKey)];
  }
  /// Stores `number` as the index of the key, replacing its previous index.
  template <typename IsKey> void set(uint64_t hash, int64_t number, IsKey &&isKey) {
    slots[slotOf(hash, isKey)] = number;
  }

private:
  template <typename IsKey> uint64_t slotOf(uint64_t hash, IsKey &isKey) const {
    uint64_t slot = hash & mask;
    while (slots[slot] >= 0 && !isKey(slots[slot]))
      slot = (slot + 1) & mask;
    return slot;
  }
  int64_t *slots = nullptr;
  uint64_t mask = 0;
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_HASHINDEX_H
