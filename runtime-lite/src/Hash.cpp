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

void Hash64::consumeBlock(const unsigned char *block) {
  for (int i = 0; i < 4; ++i)
    lanes[i] = mix(lanes[i], read<uint64_t>(block + 8 * i));
}

void Hash64::update(const void *data, size_t bytes) {
  const unsigned char *from = static_cast<const unsigned char *>(data);
  size_t held = total % sizeof(pending);
  total += bytes;
  if (held) {
    size_t take = bytes < sizeof(pending) - held ? bytes : sizeof(pending) - held;
    std::memcpy(pending + held, from, take);
    from += take;
    bytes -= take;
    if (held + take < sizeof(pending))
      return;
    consumeBlock(pending);
  }
  for (; bytes >= sizeof(pending); from += sizeof(pending), bytes -= sizeof(pending))
    consumeBlock(from);
  if (bytes)
    std::memcpy(pending, from, bytes);
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

} // namespace atc::rt
