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

/// Returns a number in [0, 1) that has as many random bits as T has in its significand: doubles
/// take two words, others one.
template <typename T> Compute<T> unit(const uint32_t *words) {
  if constexpr (__is_same(T, double))
    return double(words[1] | uint64_t(words[0] & 0xfffff) << 32) * 0x1p-52;
  else if constexpr (__is_same(T, float))
    return float(words[0] & 0x7fffff) * 0x1p-23f;
  else if constexpr (__is_same(T, Half))
    return float(words[0] & 0x3ff) * 0x1p-10f;
  else
    return float(words[0] & 0x7f) * 0x1p-7f;
}

/// A pair of normally distributed numbers, by the method of Box and Muller: of four words for
/// doubles, else of two words in float.
template <typename T> struct NormalPair {
  using N = Compute<T>;
  static constexpr int words = sizeof(N) == 8 ? 2 : 1; ///< per number
  N radius, angle;

  explicit NormalPair(const uint32_t *random)
      : radius(N(math::sqrt(N(-2) * math::log(maximum(unit<N>(random), N(1.0e-7)))))),
        angle(N(6.2831853071795864769) * unit<N>(random + words)) {}
  N at(int index) const { return radius * N(index ? math::cos(angle) : math::sin(angle)); }
};

/// Fills `out` with `count` numbers of a distribution.
template <typename T>
void fillFloats(const Philox &words, T *out, int64_t count, bool isNormal, bool isTruncated) {
  constexpr int per = NormalPair<T>::words, group = 4 / per; // numbers per block
  // The numbers of a group of a truncated distribution may use that many words, those out of range
  // included.
  constexpr uint64_t reserved = group * 256;
  for (int64_t i = 0; i < count; i += group) {
    if (!isTruncated) {
      const Philox::Words block = words.block(uint64_t(i / group));
      for (int j = 0; j < group && i + j < count; ++j)
        out[i + j] = isNormal ? T(NormalPair<T>(block.at + (j & ~1) * per).at(j & 1))
                              : T(unit<T>(block.at + j * per));
      continue;
    }
    uint64_t next = uint64_t(i / group) * reserved;
    for (int j = 0; j < group;) {
      const Philox::Words block = words.block(next / 4);
      const NormalPair<T> pair(block.at + next % 4);
      next += 2 * per;
      for (int second = 0; second < 2 && j < group; ++second) {
        const auto value = pair.at(second);
        if (!(value > -2 && value < 2))
          continue;
        if (i + j < count)
          out[i + j] = T(value);
        ++j;
      }
    }
  }
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
  const Tensor shape = in(0), keys = in(1), counters = in(2), min = in(3), max = in(4);
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
  if ((!isInteger && !isFloat(type)) || (isInteger && (isNormal || isTruncated)))
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
    const bool isBounded = bool(min) && bool(max);
    const uint64_t low = isBounded ? uint64_t(integerAt(min, 0)) : 0,
                   range = isBounded ? uint64_t(integerAt(max, 0)) - low : 0;
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
  if (!dispatchFloats(type, [&](auto each) {
        using T = typename decltype(each)::Type;
        fillFloats<T>(words, static_cast<T *>(out), count, isNormal, isTruncated);
      }))
    failType(type);
}

} // namespace atc::kernels
