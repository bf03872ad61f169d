//===-- Shadow.h - the last accesses to the bytes of a memory ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For hazard checks: the last writer of each byte and the readers since then, kept as intervals.
// Pages bound the number of intervals that an update has to move.

#ifndef OPENATC_NPU_SIMULATOR_SHADOW_H
#define OPENATC_NPU_SIMULATOR_SHADOW_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace atc::npu {

/// An instruction that accessed bytes. `clock` counts the points of its queue at which others can
/// synchronize with it; 0 stands for no access.
struct AccessRecord {
  uint64_t iteration = 0; ///< of its loops, taken as one loop
  uint32_t clock = 0, index = 0;
  uint16_t core = 0;
  uint8_t queue = 0;
};

/// The last accesses to the bytes of one memory.
class Shadow {
public:
  /// Bytes [begin, end) with the same last accesses.
  struct Segment {
    uint64_t begin, end;
    AccessRecord writer;
    std::vector<AccessRecord> readers;
  };

  /// Records a write. `visit(begin, end, segment)` is called for every part of the interval, with
  /// null for bytes that were not accessed before; then `record` becomes the writer of all of it.
  template <typename Visit>
  void write(uint64_t begin, uint64_t end, const AccessRecord &record, Visit visit) {
    eachPage(begin, end, [&](Page &page, uint64_t from, uint64_t to) {
      size_t first = find(page, from), last = first;
      uint64_t at = from;
      for (; last < page.size() && page[last].begin < to; ++last) {
        Segment &segment = page[last];
        if (segment.begin > at)
          visit(at, segment.begin, static_cast<Segment *>(nullptr));
        at = segment.end < to ? segment.end : to;
        visit(segment.begin > from ? segment.begin : from, at, &segment);
      }
      if (at < to)
        visit(at, to, static_cast<Segment *>(nullptr));
      first = cutFront(page, first, last, from);
      last = cutBack(page, first, last, to);
      for (size_t i = first; i < last; ++i)
        kept -= 1 + page[i].readers.size();
      if (first == last)
        page.insert(page.begin() + long(first), Segment());
      else
        page.erase(page.begin() + long(first) + 1, page.begin() + long(last));
      ++kept;
      Segment &segment = page[first];
      segment.begin = from;
      segment.end = to;
      segment.writer = record;
      segment.readers.clear();
    });
  }

  /// Visits the segments of an interval for a read: `visit` may change a segment's readers.
  /// Segments are made and split so that each lies within the interval.
  template <typename Visit> void read(uint64_t begin, uint64_t end, Visit visit) {
    eachPage(begin, end, [&](Page &page, uint64_t from, uint64_t to) {
      size_t first = find(page, from), last = first;
      while (last < page.size() && page[last].begin < to)
        ++last;
      first = cutFront(page, first, last, from);
      last = cutBack(page, first, last, to);
      uint64_t at = from;
      for (size_t i = first; at < to; ++i) {
        if (i == last || page[i].begin > at) {
          uint64_t gapEnd = i == last ? to : page[i].begin;
          page.insert(page.begin() + long(i), Segment{at, gapEnd, {}, {}});
          ++kept;
          ++last;
        }
        at = page[i].end;
        kept -= page[i].readers.size();
        visit(page[i]);
        kept += page[i].readers.size();
      }
    });
  }

  /// Returns the number of segments and readers that are kept.
  size_t records() const { return kept; }

private:
  using Page = std::vector<Segment>;
  static constexpr unsigned kPageBits = 13;

  template <typename Part> void eachPage(uint64_t begin, uint64_t end, Part part) {
    for (uint64_t at = begin; at < end;) {
      uint64_t number = at >> kPageBits, to = std::min(end, (number + 1) << kPageBits);
      if (!latest || number != latestNumber) {
        latest = &pages[number]; // references to values are stable
        latestNumber = number;
      }
      part(*latest, at, to);
      at = to;
    }
  }
  static size_t find(const Page &page, uint64_t from) {
    size_t low = 0, high = page.size();
    while (low < high) {
      size_t middle = (low + high) / 2;
      page[middle].end > from ? high = middle : low = middle + 1;
    }
    return low;
  }
  /// Splits the first segment of [first, last) at `from`; returns the new first index.
  size_t cutFront(Page &page, size_t first, size_t &last, uint64_t from) {
    if (first == last || page[first].begin >= from)
      return first;
    Segment left = page[first];
    left.end = from;
    page[first].begin = from;
    kept += 1 + left.readers.size();
    page.insert(page.begin() + long(first), std::move(left));
    ++last;
    return first + 1;
  }
  /// Splits the last segment at `to`; the part behind it is no longer counted. Returns `last`.
  size_t cutBack(Page &page, size_t first, size_t last, uint64_t to) {
    if (first == last || page[last - 1].end <= to)
      return last;
    Segment right = page[last - 1];
    right.begin = to;
    page[last - 1].end = to;
    kept += 1 + right.readers.size();
    page.insert(page.begin() + long(last), std::move(right));
    return last;
  }

  size_t kept = 0;
  std::unordered_map<uint64_t, Page> pages;
  Page *latest = nullptr;
  uint64_t latestNumber = 0;
};

} // namespace atc::npu

#endif
