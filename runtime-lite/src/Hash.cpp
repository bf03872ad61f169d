//===-- Hash.cpp - XXH64 --------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime-lite/src/Hash.h"

#include <cstring>

namespace atc::rt {

template <typename T> static T read(const unsigned char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Mixes whole blocks of 32 bytes into the lanes. This file is compiled for size; here is all of
/// its time, so that the lanes are four variables.
void Hash64::consume(const unsigned char *from, size_t bytes) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  for (const unsigned char *end = from + bytes; from < end; from += sizeof(pending)) {
    a = mix(a, read<uint64_t>(from));
    b = mix(b, read<uint64_t>(from + 8));
    c = mix(c, read<uint64_t>(from + 16));
    d = mix(d, read<uint64_t>(from + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

void Hash64::update(const void *data, size_t bytes) {
  if (!bytes)
    return;
  const unsigned char *from = static_cast<const unsigned char *>(data);
  const size_t held = total % sizeof(pending);
  total += bytes;
  if (held) {
    const size_t room = sizeof(pending) - held, take = bytes < room ? bytes : room;
    std::memcpy(pending + held, from, take);
    if (take < room)
      return;
    from += take;
    bytes -= take;
    consume(pending, sizeof(pending));
  }
  const size_t left = bytes % sizeof(pending);
  consume(from, bytes - left);
  std::memcpy(pending, from + (bytes - left), left);
}

uint64_t Hash64::digest() const {
  uint64_t hash;
  if (total < sizeof(pending)) {
    hash = P5;
  } else {
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ mix(0, lane)) * P1 + P4;
  }
  hash += total;

  const unsigned char *from = pending;
  size_t left = total % sizeof(pending);
  for (; left >= 8; from += 8, left -= 8)
    hash = rotate(hash ^ mix(0, read<uint64_t>(from)), 27) * P1 + P4;
  if (left >= 4) {
    hash = rotate(hash ^ read<uint32_t>(from) * P1, 23) * P2 + P3;
    from += 4;
    left -= 4;
  }
  for (; left; ++from, --left)
    hash = rotate(hash ^ *from * P5, 11) * P1;

  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}

uint64_t hash64(const void *data, size_t bytes) {
  Hash64 hash;
  hash.update(data, bytes);
  return hash.digest();
}

uint64_t finishHashPart(Hash64 hash, uint64_t part) {
  hash.update(&part, sizeof(part));
  return hash.digest();
}

uint64_t hashParts(const void *data, uint64_t bytes, uint64_t begin, uint64_t end) {
  uint64_t sum = 0;
  for (uint64_t part = begin; part < end; ++part) {
    const uint64_t at = part * hashPartBytes, left = bytes - at;
    Hash64 hash;
    hash.update(static_cast<const char *>(data) + at, left < hashPartBytes ? left : hashPartBytes);
    sum += finishHashPart(hash, part);
  }
  return sum;
}

} // namespace atc::rt
