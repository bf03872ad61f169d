//===-- SharedMemory.h - L2 and DDR as all cores share them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_NPU_SHAREDMEMORY_H
#define OPENATC_NPU_SHAREDMEMORY_H

#include "runtime-lite/npu/Soc.h"

namespace atc::npu {

/// A resource that serves one request after the other at a fixed rate. Requests
/// come in order of time and in small pieces, so that all who pull share it.
class Channel {
public:
  explicit Channel(double rate = 1) : rate(rate) {}
  /// When the last of the bytes asked for at `now` has passed.
  double pass(double now, double bytes) { return free = std::max(free, now) + bytes / rate; }
  double freeAt() const { return free; }
  void reset() { free = 0; }

private:
  double rate, free = 0;
};

/// A set-associative L2 with write-back and least recently used replacement,
/// and the channels behind it. Time starts at 0 with each launch; what the
/// lines hold stays.
class SharedMemory {
public:
  explicit SharedMemory(const SocTable &soc);
  /// Bytes of one piece of a transfer, by where they are served.
  struct Piece {
    uint64_t hit = 0, missed = 0, evicted = 0, bypassed = 0;
  };
  /// Looks up one run of consecutive bytes and adds them to `piece`.
  void touch(uint64_t address, uint64_t bytes, bool write, bool bypass, Piece &piece);
  /// When the piece, asked for at `now`, has passed all channels.
  double pass(double now, const Piece &piece, bool write);
  void beginLaunch();

private:
  bool lookUp(uint64_t line, bool write, bool &evictsDirty);

  uint64_t lineBytes;
  unsigned ways;
  size_t sets;
  double missRatio;           ///< DDR cycles of a missed byte over those of a bypassing one
  std::vector<uint64_t> tags; ///< (line + 1) * 2 + dirty, newest first in each set
  Channel l2Read, l2Write, ddrRead, ddrWrite;
  double evictSlack;
};

} // namespace atc::npu

#endif
