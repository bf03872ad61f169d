//===-- LineCache.h - which lines L2 holds ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_LINECACHE_H
#define OPENATC_NPU_SIMULATOR_LINECACHE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace atc::npu {

/// A set-associative cache of lines with write-back and least-recently-used replacement. The set of
/// a line is a hash of its number, so that strides of a power of two spread over all sets. Any
/// operation on one line takes constant time, whatever the associativity; memory grows with the
/// lines that were used.
class LineCache {
public:
  /// Makes an empty cache of `sets` sets with `ways` lines each; without sets it holds nothing.
  LineCache(size_t sets, size_t ways) : ways(ways), sets(sets) {}
  bool empty() const { return sets.empty(); }
  /// Looks up a line and makes it the most recent one of its set; it is brought in where it is
  /// missing, and is dirty after a write. Returns whether it was there. `evictsDirty` is set if a
  /// dirty line had to leave.
  bool lookUp(uint64_t line, bool write, bool &evictsDirty);
  /// Returns whether the line is in the cache; its age stays.
  bool holds(uint64_t line) const { return find(line) != kNone; }
  /// Calls `visit` with each line of [first, end) that the cache holds and whether it is dirty, and
  /// removes those for which it returns true. A line that stays is clean from then on if `clean`.
  void forRange(uint64_t first, uint64_t end, bool clean,
                const std::function<bool(uint64_t line, bool dirty)> &visit);

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint64_t line;
    uint32_t newer, older;
    bool dirty, used;
  };
  struct Set {
    uint32_t newest = kNone, oldest = kNone;
    size_t count = 0;
  };
  static uint64_t hash(uint64_t line);
  Set &setOf(uint64_t line) { return sets[(hash(line) >> 32) % sets.size()]; }
  uint32_t find(uint64_t line) const;
  size_t homeOf(uint64_t line) const;
  size_t slotOf(uint64_t line) const;
  void enter(uint32_t node);
  void leave(uint64_t line);
  void link(Set &set, uint32_t node);
  void unlink(Set &set, uint32_t node);

  size_t ways;
  std::vector<Set> sets;
  std::vector<Node> nodes;
  std::vector<uint32_t> spare;
  std::vector<uint32_t> table; ///< node by hash of its line, with linear probing
  size_t held = 0;
};

} // namespace atc::npu

#endif
