//===-- StringHash.cpp - hashes of strings --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables that were trained with hashes of strings need the same hashes when the model runs: the
// 64-bit fingerprint of FarmHash, SipHash-2-4 where there is a key, MurmurHash3, and what
// TensorFlow made of MurmurHash2.

#include "kernels/core/Support.h"

namespace atc::kernels {

namespace {

constexpr uint64_t kFirst = 0xc3a5c85c97cb3127u, kSecond = 0xb492b66fbe98f273u,
                   kThird = 0x9ae16a3b2f90404fu;

uint64_t rotateRight(uint64_t value, int by) { return value >> by | value << (64 - by); }
uint64_t rotateLeft(uint64_t value, int by) { return rotateRight(value, 64 - by); }
uint64_t foldHigh(uint64_t value) { return value ^ value >> 47; }

template <typename T> T wordAt(const char *bytes) {
  T word;
  __builtin_memcpy(&word, bytes, sizeof word);
  return word;
}
uint64_t word(const char *bytes) { return wordAt<uint64_t>(bytes); }

uint64_t joinWords(uint64_t a, uint64_t b, uint64_t factor) {
  const uint64_t inner = foldHigh((a ^ b) * factor);
  return foldHigh((b ^ inner) * factor) * factor;
}

struct Pair {
  uint64_t first, second;
};

/// Mixes 32 bytes with two seeds.
Pair mixBlock(const char *bytes, uint64_t a, uint64_t b) {
  const uint64_t w = word(bytes), x = word(bytes + 8), y = word(bytes + 16), z = word(bytes + 24);
  a += w;
  b = rotateRight(b + a + z, 21);
  const uint64_t before = a;
  a += x + y;
  b += rotateRight(a, 44);
  return {a + z, b + before};
}

uint64_t hashShort(const char *bytes, uint64_t size) {
  const uint64_t factor = kThird + size * 2;
  if (size >= 8) {
    const uint64_t a = word(bytes) + kThird, b = word(bytes + size - 8);
    return joinWords(rotateRight(b, 37) * factor + a, (rotateRight(a, 25) + b) * factor, factor);
  }
  if (size >= 4)
    return joinWords(size + (uint64_t(wordAt<uint32_t>(bytes)) << 3),
                     wordAt<uint32_t>(bytes + size - 4), factor);
  if (size == 0)
    return kThird;
  const uint32_t y = uint8_t(bytes[0]) + (uint32_t(uint8_t(bytes[size >> 1])) << 8),
                 z = uint32_t(size) + (uint32_t(uint8_t(bytes[size - 1])) << 2);
  return foldHigh(y * kThird ^ z * kFirst) * kThird;
}

/// Hashes 17 to 32 bytes.
uint64_t hashMiddle(const char *bytes, uint64_t size) {
  const uint64_t factor = kThird + size * 2, a = word(bytes) * kSecond, b = word(bytes + 8),
                 c = word(bytes + size - 8) * factor, d = word(bytes + size - 16) * kThird;
  return joinWords(rotateRight(a + b, 43) + rotateRight(c, 30) + d,
                   a + rotateRight(b + kThird, 18) + c, factor);
}

/// Hashes 33 to 64 bytes.
uint64_t hashLong(const char *bytes, uint64_t size) {
  const uint64_t factor = kThird + size * 2, a = word(bytes) * kThird, b = word(bytes + 8),
                 c = word(bytes + size - 8) * factor, d = word(bytes + size - 16) * kThird;
  const uint64_t y = rotateRight(a + b, 43) + rotateRight(c, 30) + d,
                 z = joinWords(y, a + rotateRight(b + kThird, 18) + c, factor);
  const uint64_t e = word(bytes + 16) * factor, f = word(bytes + 24),
                 g = (y + word(bytes + size - 32)) * factor,
                 h = (z + word(bytes + size - 24)) * factor;
  return joinWords(rotateRight(e + f, 43) + rotateRight(g, 30) + h, e + rotateRight(f + a, 18) + g,
                   factor);
}

/// The state of a hash of more than 64 bytes.
struct BlockState {
  uint64_t x, y, z;
  Pair v = {}, w = {};

  /// Mixes 64 bytes; `weight` is 1, and 9 for the last ones.
  void mix(const char *bytes, uint64_t factor, uint64_t weight) {
    x = rotateRight(x + y + v.first + word(bytes + 8), 37) * factor;
    y = rotateRight(y + v.second + word(bytes + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + word(bytes + 40);
    z = rotateRight(z + w.first, 33) * factor;
    v = mixBlock(bytes, v.second * factor, x + w.first);
    w = mixBlock(bytes + 32, z + w.second, y + word(bytes + 16));
    const uint64_t swapped = z;
    z = x;
    x = swapped;
  }
};

/// Returns the 64-bit fingerprint of FarmHash.
uint64_t fingerprint(String text) {
  const char *bytes = text.data;
  const uint64_t size = text.size;
  if (size <= 16)
    return hashShort(bytes, size);
  if (size <= 32)
    return hashMiddle(bytes, size);
  if (size <= 64)
    return hashLong(bytes, size);
  constexpr uint64_t seed = 81;
  BlockState s = {seed, seed * kSecond + 113, 0};
  s.z = foldHigh(s.y * kThird + 113) * kThird;
  s.x = s.x * kThird + word(bytes);
  const uint64_t blocks = (size - 1) / 64, rest = (size - 1) % 64;
  for (uint64_t i = 0; i < blocks; ++i)
    s.mix(bytes + i * 64, kSecond, 1);
  const uint64_t factor = kSecond + ((s.z & 0xff) << 1);
  s.w.first += rest;
  s.v.first += s.w.first;
  s.w.first += s.v.first;
  s.mix(bytes + size - 64, factor, 9);
  return joinWords(joinWords(s.v.first, s.w.first, factor) + foldHigh(s.y) * kFirst + s.z,
                   joinWords(s.v.second, s.w.second, factor) + s.x, factor);
}

/// Returns SipHash-2-4 of a text under a key of two words.
uint64_t keyedHash(String text, uint64_t firstKey, uint64_t secondKey) {
  uint64_t a = firstKey ^ 0x736f6d6570736575u, b = secondKey ^ 0x646f72616e646f6du,
           c = firstKey ^ 0x6c7967656e657261u, d = secondKey ^ 0x7465646279746573u;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      a += b;
      c += d;
      b = rotateLeft(b, 13) ^ a;
      d = rotateLeft(d, 16) ^ c;
      a = rotateLeft(a, 32) + d;
      c += b;
      d = rotateLeft(d, 21) ^ a;
      b = rotateLeft(b, 17) ^ c;
      c = rotateLeft(c, 32);
    }
  };
  auto add = [&](uint64_t message) {
    d ^= message;
    rounds(2);
    a ^= message;
  };
  const uint64_t whole = text.size / 8;
  for (uint64_t i = 0; i < whole; ++i)
    add(word(text.data + i * 8));
  uint64_t last = text.size << 56;
  for (uint64_t i = whole * 8; i < text.size; ++i)
    last |= uint64_t(uint8_t(text.data[i])) << (i % 8 * 8);
  add(last);
  c ^= 0xff;
  rounds(4);
  return a ^ b ^ c ^ d;
}

/// MurmurHash3 of 32 bits.
uint32_t murmurHash(const char *bytes, uint64_t size, uint32_t seed) {
  const auto rotate = [](uint32_t value, int by) { return value << by | value >> (32 - by); };
  const auto mixed = [&](uint32_t value) { return rotate(value * 0xcc9e2d51u, 15) * 0x1b873593u; };
  uint32_t hash = seed;
  const uint64_t whole = size / 4 * 4;
  for (uint64_t i = 0; i < whole; i += 4)
    hash = rotate(hash ^ mixed(wordAt<uint32_t>(bytes + i)), 13) * 5 + 0xe6546b64u;
  uint32_t rest = 0;
  for (uint64_t i = whole; i < size; ++i)
    rest |= uint32_t(uint8_t(bytes[i])) << (8 * (i - whole));
  hash ^= mixed(rest) ^ uint32_t(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

constexpr uint64_t factor = 0xc6a4a7935bd1e995u; ///< of MurmurHash2 of 64 bits

/// Returns MurmurHash2 of 64 bits, by which older models assign buckets.
uint64_t olderHash(String text, uint64_t seed) {
  uint64_t hash = seed ^ text.size * factor;
  const uint64_t whole = text.size / 8 * 8;
  for (uint64_t i = 0; i < whole; i += 8)
    hash = (hash ^ foldHigh(word(text.data + i) * factor) * factor) * factor;
  uint64_t rest = 0;
  for (uint64_t i = whole; i < text.size; ++i)
    rest |= uint64_t(uint8_t(text.data[i])) << (8 * (i - whole));
  if (whole < text.size)
    hash = (hash ^ rest) * factor;
  return foldHigh(foldHigh(hash) * factor);
}

/// Returns the hash of a pair of hashes, by which TensorFlow crosses features.
uint64_t crossed(uint64_t first, uint64_t second) {
  const uint64_t mixed = (first ^ factor ^ foldHigh(second * factor) * factor) * factor;
  return foldHigh(foldHigh(mixed) * factor);
}

} // namespace

/// Hashes texts, or the bytes of numbers.
ATC_KERNEL(MurmurHash) {
  const Tensor data = in(0);
  const auto seed = uint32_t(integer("seed", 0));
  const bool isText = data.dtype() == Str;
  const uint64_t width = isText ? 0 : bitsOf(data.dtype()) / 8;
  uint32_t *out = make<uint32_t>(0, U32, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i)
    if (isText)
      out[i] = murmurHash(data.as<String>()[i].data, data.as<String>()[i].size, seed);
    else
      out[i] = murmurHash(data.as<char>() + uint64_t(i) * width, width, seed);
}

/// Crosses each hash of a row (inputs 0 and 1: where rows begin, and the hashes) with each feature
/// of that row (inputs 2 and 3), a number or a text. Outputs: where the rows of these begin, and
/// the hashes: all bits of them for 0 buckets.
ATC_KERNEL(CrossHash) {
  const Tensor begins = in(0), hashes = in(1), featureBegins = in(2), features = in(3);
  const int64_t buckets = integer("buckets", 0), rows = begins.count() - 1;
  const bool isText = features.dtype() == Str;
  if (buckets < 0)
    return fail("has % buckets, expected at least 0", buckets);
  if (rows < 0)
    return fail("has no begin of a row");
  if (!begins.known() || !featureBegins.known())
    return;
  auto inOrder = [&](const Tensor &list, int64_t count) {
    for (int64_t r = 0; r <= rows; ++r)
      if (const int64_t at = list.as<int64_t>()[r];
          at < (r ? list.as<int64_t>()[r - 1] : 0) || at > count)
        return fail("row % begins at %, which is not in order", r, at), false;
    return true;
  };
  if (!inOrder(begins, hashes.count()) || !inOrder(featureBegins, features.count()))
    return;
  if (const int64_t used = featureBegins.as<int64_t>()[rows]; used != features.count())
    return fail("has % features beyond its % rows: all inputs need the same number of rows",
                features.count() - used, rows);
  auto lengthOf = [&](const Tensor &list, int64_t r) {
    return list.as<int64_t>()[r + 1] - list.as<int64_t>()[r];
  };
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t size;
    if (__builtin_mul_overflow(lengthOf(begins, r), lengthOf(featureBegins, r), &size) ||
        __builtin_add_overflow(total, size, &total))
      return fail("row % has more crosses than can be counted", r);
  }
  // Nothing is written before all outputs are made: a call may ask for their shapes alone.
  int64_t *starts = wants(0) ? make<int64_t>(0, I64, begins.dims()) : nullptr;
  if (wants(0) && !starts)
    return;
  int64_t *out = wants(1) ? make<int64_t>(1, I64, Dims(total)) : nullptr;
  if (wants(1) && !out)
    return;
  if (starts)
    starts[0] = 0;
  for (int64_t r = 0; starts && r < rows; ++r)
    starts[r + 1] = starts[r] + lengthOf(begins, r) * lengthOf(featureBegins, r);
  for (int64_t r = 0; out && r < rows; ++r)
    for (int64_t a = 0; a < lengthOf(begins, r); ++a)
      for (int64_t b = 0; b < lengthOf(featureBegins, r); ++b) {
        const int64_t at = featureBegins.as<int64_t>()[r] + b;
        const uint64_t feature =
            isText ? fingerprint(features.as<String>()[at]) : uint64_t(features.as<int64_t>()[at]);
        const uint64_t hash =
            crossed(uint64_t(hashes.as<int64_t>()[begins.as<int64_t>()[r] + a]), feature);
        *out++ = int64_t(buckets ? hash % uint64_t(buckets) : hash);
      }
}

ATC_KERNEL(StringHash) {
  const Tensor data = in(0);
  const int64_t buckets = integer("buckets", 0);
  const List<int64_t> key = integers("key"), seed = integers("seed");
  if (buckets < 1)
    return fail("has % buckets, expected at least 1", buckets);
  if (key.given && key.size != 2)
    return fail("has a key of % words, expected 2", key.size);
  if (seed.given && seed.size != 1)
    return fail("has % seeds, expected 1", seed.size);
  int64_t *out = make<int64_t>(0, I64, data.dims());
  if (!out)
    return;
  const int64_t count = data.count();
  for (int64_t i = 0; i < count; ++i) {
    const String text = data.as<String>()[i];
    const uint64_t hash = key.given    ? keyedHash(text, uint64_t(key[0]), uint64_t(key[1]))
                          : seed.given ? olderHash(text, uint64_t(seed[0]))
                                       : fingerprint(text);
    out[i] = int64_t(hash % uint64_t(buckets));
  }
}

} // namespace atc::kernels
