//===-- OmMutator.cpp - changes to .om files that their header's hash allows ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/om/OmMutator.h"

#include "runtime-lite/src/Hash.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

void atc::fuzz::repairHash(std::vector<char> &file) {
  uint32_t prefix;
  if (file.size() < sizeof(prefix))
    return;
  std::memcpy(&prefix, file.data(), sizeof(prefix));
  const uint64_t length = uint64_t(prefix) + sizeof(prefix);
  if (length + sizeof(uint64_t) > file.size())
    return;
  const uint64_t hash = atc::rt::hash64(file.data(), length);
  std::memcpy(file.data() + length, &hash, sizeof(hash));
}

/// Changes numbers of the header where they stand: bytes that are inserted or removed move all that
/// is behind them, and what is left is no FlatBuffer. Values are near the old one, at the edge of a
/// type, or those of another field.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t, unsigned seed) {
  uint32_t prefix = 0;
  if (size < 64)
    return size;
  std::memcpy(&prefix, data, sizeof(prefix));
  const size_t header = std::min<size_t>(size, size_t(prefix) + sizeof(prefix));
  if (header < 64)
    return size;
  std::minstd_rand random(seed);
  auto below = [&](uint64_t limit) { return random() % std::max<uint64_t>(limit, 1); };
  static constexpr uint64_t edges[] = {0,
                                       1,
                                       63,
                                       64,
                                       255,
                                       4096,
                                       65535,
                                       1u << 24,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       uint64_t(1) << 46,
                                       INT64_MAX,
                                       UINT64_MAX};
  for (uint64_t changes = 1 + below(3); changes-- > 0;) {
    const size_t width = size_t(1) << below(4);
    uint8_t *at = data + 8 + below((header - 8) / width - 1) * width;
    uint64_t value = 0;
    std::memcpy(&value, at, width);
    switch (below(4)) {
    case 0:
      value += below(2) ? 1 : UINT64_MAX;
      break;
    case 1:
      value = edges[below(std::size(edges))];
      break;
    case 2:
      value ^= uint64_t(1) << below(8 * width);
      break;
    default:
      std::memcpy(&value, data + 8 + below((header - 8) / width - 1) * width, width);
    }
    std::memcpy(at, &value, width);
  }
  return size;
}
