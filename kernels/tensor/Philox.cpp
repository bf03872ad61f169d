//===-- Philox.cpp - the random numbers of a counter and a key ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10: four words of 32 bits are a function of a counter of 128 bits and a key of 64.

#include "kernels/core/Math.h"
#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {

class Philox {
public:
  struct Words {
    uint32_t at[4];
  };
  Philox(uint64_t key, uint64_t low, uint64_t high) : key(key), low(low), high(high) {}

  Words block(uint64_t number) const {
    const uint64_t first = low + number, second = high + (first < low);
    uint32_t c[4] = {uint32_t(first), uint32_t(first >> 32), uint32_t(second),
                     uint32_t(second >> 32)};
    uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
      const uint64_t a = uint64_t(0xd2511f53u) * c[0], b = uint64_t(0xcd9e8d57u) * c[2];
      const uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k0, uint32_t(b),
                                uint32_t(a >> 32) ^ c[3] ^ k1, uint32_t(a)};
      for (int i = 0; i < 4; ++i)
        c[i] = next[i];
    }
    return {{c[0], c[1], c[2], c[3]}};
  }
  uint32_t word(uint64_t number) const { return block(number / 4).at[number % 4]; }
  uint64_t wide(uint64_t number) const {
    const Words words = block(number / 2);
    const int at = int(number % 2) * 2;
    return words.at[at] | uint64_t(words.at[at + 1]) << 32;
  }

private:
  uint64_t key, low, high;
};

/// In [0, 1), of the lowest 23 bits.
float unit(uint32_t word) { return float(word & 0x7fffff) * 0x1p-23f; }

/// Returns one of the two normally distributed numbers of a pair of random words (Box-Muller).
float normal(uint32_t a, uint32_t b, bool second) {
  const float radius = math::sqrt(-2.0f * math::log(maximum(unit(a), 1.0e-7f)));
  const float angle = 6.2831853071795864769f * unit(b);
  return radius * (second ? math::cos(angle) : math::sin(angle));
}

} // namespace

/// The key and the counter that a seed of two numbers stands for.
ATC_KERNEL(PhiloxKey) {
  const Tensor seed = in(0);
  if (seed.count() != 2)
    return fail("the seed has % numbers, expected 2", seed.count());
  uint64_t *key = wants(0) ? make<uint64_t>(0, U64, Dims(1)) : nullptr;
  if (wants(0) && !key)
    return;
  uint64_t *counter = wants(1) ? make<uint64_t>(1, U64, Dims(2)) : nullptr;
  if ((wants(1) && !counter) || !seed.known())
    return;
  constexpr uint64_t scrambling = 0x02461e293ec8f720u;
  const Philox::Words mixed =
      Philox(scrambling, uint64_t(integerAt(seed, 0)), uint64_t(integerAt(seed, 1))).block(0);
  if (key)
    key[0] = mixed.at[0] | uint64_t(mixed.at[1]) << 32;
  if (counter) {
    counter[0] = 0;
    counter[1] = mixed.at[2] | uint64_t(mixed.at[3]) << 32;
  }
}

/// Inputs: the shape, the key, the counter and, for integers between bounds, these.
ATC_KERNEL(PhiloxRandom) {
  const Tensor shape = in(0), keys = in(1), counters = in(2), least = in(3), most = in(4);
  const uint8_t type = uint8_t(integer("dtype", F32));
  const bool isNormal = is("distribution", "uniform", "normal"),
             isTruncated = is("distribution", "uniform", "truncated");
  if (!shape.known())
    return;
  Dims dims;
  for (int64_t i = 0; i < shape.count(); ++i)
    if (!dims.push(integerAt(shape, i)))
      return fail("the shape has % dims", shape.count());
  const bool isInteger = type == I32 || type == I64 || type == U32 || type == U64;
  if ((!isInteger && type != F32) || (isInteger && (isNormal || isTruncated)))
    return failType(type);
  if (keys.count() < 1 || counters.count() < 2)
    return fail("the key has % numbers and the counter %, expected 1 and 2", keys.count(),
                counters.count());
  void *out = makeBytes(0, type, dims);
  if (!out)
    return;
  const Philox words(uint64_t(integerAt(keys, 0)), uint64_t(integerAt(counters, 0)),
                     uint64_t(integerAt(counters, 1)));
  const int64_t count = dims.product();
  if (isInteger) {
    const bool isBounded = bool(least) && bool(most);
    const uint64_t low = isBounded ? uint64_t(integerAt(least, 0)) : 0,
                   range = isBounded ? uint64_t(integerAt(most, 0)) - low : 0;
    const bool isWide = bitsOf(type) == 64;
    if (isBounded && (isWide ? range : uint64_t(uint32_t(range))) == 0)
      return fail("there is no integer between the bounds");
    for (int64_t i = 0; i < count; ++i)
      if (isWide) {
        const uint64_t value = words.wide(uint64_t(i));
        static_cast<uint64_t *>(out)[i] = isBounded ? low + value % range : value;
      } else {
        const uint32_t value = words.word(uint64_t(i));
        static_cast<uint32_t *>(out)[i] =
            isBounded ? uint32_t(low) + value % uint32_t(range) : value;
      }
    return;
  }
  float *to = static_cast<float *>(out);
  // Four numbers of a truncated distribution may use that many words, those out of range included.
  constexpr uint64_t reserved = 4 * 256;
  for (int64_t i = 0; i < count && !isTruncated; i += 4) {
    const Philox::Words block = words.block(uint64_t(i) / 4);
    for (int64_t j = 0; j < 4 && i + j < count; ++j)
      to[i + j] = isNormal ? normal(block.at[j & 2], block.at[j | 1], j & 1) : unit(block.at[j]);
  }
  for (int64_t i = 0; i < count && isTruncated; i += 4) {
    uint64_t next = uint64_t(i) / 4 * reserved;
    for (int64_t j = 0; j < 4;) {
      const uint32_t a = words.word(next), b = words.word(next + 1);
      next += 2;
      for (int second = 0; second < 2 && j < 4; ++second) {
        const float value = normal(a, b, second);
        if (!(value > -2 && value < 2))
          continue;
        if (i + j < count)
          to[i + j] = value;
        ++j;
      }
    }
  }
}

} // namespace atc::kernels
