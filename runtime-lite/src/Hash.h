//===-- Hash.h - XXH64 over a range, a stream of ranges, or parts ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The published XXH64 algorithm with seed 0. It is chosen because any change
// inside one 8-byte word always changes the result, and because it runs at
// memory speed. That also holds for the sum over parts, which threads compute
// at the same time.

#ifndef OPENATC_RUNTIME_HASH_H
#define OPENATC_RUNTIME_HASH_H

#include <cstddef>
#include <cstdint>

namespace atc::rt {

/// Computes XXH64 of the concatenation of all ranges passed to update().
class Hash64 {
public:
  /// Appends `size` bytes to the stream. The memory is not kept.
  void update(const void *data, size_t bytes);
  /// Returns the hash of all bytes so far; update() may follow.
  uint64_t digest() const;

private:
  friend uint64_t hashPartsWide(const void *data, uint64_t bytes, uint64_t begin, uint64_t end);
  static void updateGroup(Hash64 *group, const unsigned char *parts);
  void consume(const unsigned char *blocks, size_t bytes);

  static constexpr uint64_t P1 = 0x9E3779B185EBCA87u, P2 = 0xC2B2AE3D27D4EB4Fu,
                            P3 = 0x165667B19E3779F9u, P4 = 0x85EBCA77C2B2AE63u,
                            P5 = 0x27D4EB2F165667C5u;
  static uint64_t rotate(uint64_t x, int r) { return (x << r) | (x >> (64 - r)); }
  static uint64_t mix(uint64_t lane, uint64_t word) { return rotate(lane + word * P2, 31) * P1; }

  uint64_t lanes[4] = {P1 + P2, P2, 0, 0 - P1};
  unsigned char pending[32] = {};
  uint64_t total = 0;
};

/// Returns the XXH64 hash of `bytes` bytes.
uint64_t hash64(const void *data, size_t bytes);

/// The bytes of a part of a segment with Segment.in_parts.
constexpr uint64_t hashPartBytes = 65536;

/// Returns the number of parts of `bytes` bytes; the last may be shorter.
constexpr uint64_t countHashParts(uint64_t bytes) {
  return bytes / hashPartBytes + (bytes % hashPartBytes != 0);
}

/// Returns the hash that part number `part` adds to the sum; `hash` is that of its bytes.
uint64_t finishHashPart(Hash64 hash, uint64_t part);

/// Returns the sum of the hashes of the parts from `begin` to before `end` of all `bytes` bytes.
uint64_t hashParts(const void *data, uint64_t bytes, uint64_t begin, uint64_t end);

/// The parts that hashPartsWide() computes side by side.
constexpr uint64_t hashGroupParts = 8;

/// Returns whether this processor has the 64-bit products of vectors that hashPartsWide() needs.
bool canHashWide();

/// Returns what hashParts() returns, several times as fast where whole groups of parts are between
/// `begin` and `end`. Must not be called where canHashWide() is false.
uint64_t hashPartsWide(const void *data, uint64_t bytes, uint64_t begin, uint64_t end);

} // namespace atc::rt

#endif
