//===-- SharedMemory.h - L2 and DDR as all cores share them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SIMULATOR_SHAREDMEMORY_H
#define OPENATC_NPU_SIMULATOR_SHAREDMEMORY_H

#include "npu/simulator/LineCache.h"
#include "npu/soc/Soc.h"

#include <deque>

namespace atc::npu {

/// A resource that serves requests in order at a fixed rate, in bytes per cycle. Requests come in
/// the order of time and in small chunks, so that all requesters share it.
class Channel {
public:
  explicit Channel(double rate = 1) : rate(rate) {}
  /// Returns the time at which the last of `bytes` bytes requested at `now` has passed.
  double pass(double now, double bytes) { return free = std::max(free, now) + bytes / rate; }
  double freeAt() const { return free; }
  /// Moves the origin of time forward by `cycles`.
  void shift(double cycles) { free = std::max(0.0, free - cycles); }

private:
  double rate, free = 0;
};

/// A range of gm that the system DMA brings into L2 in the background.
struct Prefetch {
  uint64_t address = 0, bytes = 0;
};

/// The L2, the channels behind it, and the system DMA that fills it. Reads and writes have a
/// channel each in L2 and share one to DDR. Time starts at 0 with each launch; the contents of
/// lines and pending prefetches are kept.
class SharedMemory {
public:
  explicit SharedMemory(const SocTable &soc);
  /// The bytes of one chunk of a transfer, by where they are served.
  struct Piece {
    uint64_t hit = 0, missed = 0, evicted = 0, bypassed = 0;
    double arrives = 0; ///< time at which lines requested by others before are there
  };
  /// Looks up consecutive bytes and adds them to `piece`.
  void touch(uint64_t address, uint64_t bytes, bool write, bool bypass, Piece &piece);
  /// Returns the time at which a chunk requested at `now` has passed all channels. To be called
  /// after all of it was looked up.
  double pass(double now, const Piece &piece, bool write);

  /// Writes the dirty lines of [address, end) back. Returns the number of bytes written; the
  /// channel to DDR is busy with them from its last request on.
  uint64_t writeBack(uint64_t address, uint64_t end);
  /// Removes the lines of [address, end): another device has written to that memory.
  void invalidate(uint64_t address, uint64_t end);
  /// Returns the bytes of the lines of [address, end) that L2 holds.
  uint64_t residentBytes(uint64_t address, uint64_t end);
  /// Returns the time at which the channel to DDR is idle.
  double ddrIdleAt() const { return ddr.freeAt(); }

  /// Puts lines into the DMA's queue. A range that exceeds the queue (MaxPrefetches,
  /// MaxPrefetchLines) is ignored: it affects times only.
  void prefetch(const Prefetch &range);
  /// Lets the DMA use the capacity of DDR's channel that cores left until `now`. To be called
  /// before requests of the cores at `now` are looked up.
  void advance(double now) {
    if (!queue.empty() && ddr.freeAt() < now)
      runDma(now);
  }
  /// Ends a launch of `cycles` cycles.
  void endLaunch(double cycles);
  uint64_t prefetchedBytes() const { return prefetched; } ///< total
  uint64_t prefetchEvictedBytes() const { return prefetchEvicted; }
  uint64_t waitingBytes() const; ///< still in the DMA's queue

private:
  void runDma(double now);
  void drop(uint64_t line);

  /// Returns the number of the line that begins at `end` or behind it.
  uint64_t lineAfter(uint64_t end) const { return end / lineBytes + (end % lineBytes != 0); }

  /// Lines that are still to be brought; those that cores fetched meanwhile are dropped.
  struct Waiting {
    uint64_t first, next, end;
    std::vector<bool> dropped;
  };

  uint64_t lineBytes;
  LineCache cache;
  bool prefetches; ///< the SoC can bring lines into L2 ahead of their use
  Channel l2Read, l2Write, ddr;
  double evictSlack;
  std::deque<Waiting> queue;
  uint64_t queuedLines = 0; ///< of all waiting ranges, including lines that were already brought
  /// Lines brought recently and the times of their arrival: a direct-mapped table by line number.
  static constexpr size_t kFlights = 4096;
  struct Flight {
    uint64_t line = UINT64_MAX;
    double end = 0;
  };
  std::vector<Flight> flights{kFlights};
  std::vector<uint64_t> asked; ///< lines that the current chunk misses
  uint64_t prefetched = 0, prefetchEvicted = 0;
};

} // namespace atc::npu

#endif
