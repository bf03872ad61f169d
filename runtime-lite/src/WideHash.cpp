//===-- WideHash.cpp - XXH64 of several parts at once ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One XXH64 is bound by the scalar multiplier: eight products of 64 bits per 32 bytes. Parts are
// hashed independently, so that the lanes of two of them fill a vector of 64 bytes, and four such
// vectors hide the latency of its multiplication. The hash is the same.
//
//===----------------------------------------------------------------------===//

#include "runtime-lite/src/Cpu.h"
#include "runtime-lite/src/Hash.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace atc::rt {

#if defined(__x86_64__)

bool canHashWide() { return cpuHas("avx512dq"); }

/// Appends a whole part to each hash of a group; all of them are empty, and `parts` are adjacent.
__attribute__((target("avx512f,avx512dq"))) void Hash64::updateGroup(Hash64 *group,
                                                                     const unsigned char *parts) {
  constexpr uint64_t pairs = hashGroupParts / 2;
  const __m512i p1 = _mm512_set1_epi64(static_cast<long long>(P1)),
                p2 = _mm512_set1_epi64(static_cast<long long>(P2));
  const __m512i first =
      _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(group->lanes)));
  __m512i state[pairs] = {first, first, first, first};
  for (uint64_t at = 0; at < hashPartBytes; at += 64)
    for (uint64_t i = 0; i < pairs; ++i) {
      const unsigned char *from = parts + 2 * i * hashPartBytes + at;
      const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + hashPartBytes);
      // The first and the second 32 bytes of both parts.
      const __m512i halves[] = {_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xEE)};
      for (const __m512i words : halves) {
        const __m512i sum = _mm512_add_epi64(state[i], _mm512_mullo_epi64(words, p2));
        state[i] = _mm512_mullo_epi64(_mm512_rol_epi64(sum, 31), p1);
      }
    }
  for (uint64_t i = 0; i < hashGroupParts; ++i) {
    const __m256i half =
        i % 2 ? _mm512_extracti64x4_epi64(state[i / 2], 1) : _mm512_castsi512_si256(state[i / 2]);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(group[i].lanes), half);
    group[i].total = hashPartBytes;
  }
}

uint64_t hashPartsWide(const void *data, uint64_t bytes, uint64_t begin, uint64_t end) {
  uint64_t sum = 0;
  const uint64_t whole = bytes / hashPartBytes < end ? bytes / hashPartBytes : end;
  for (; begin + hashGroupParts <= whole; begin += hashGroupParts) {
    Hash64 group[hashGroupParts];
    Hash64::updateGroup(group, static_cast<const unsigned char *>(data) + begin * hashPartBytes);
    for (uint64_t i = 0; i < hashGroupParts; ++i)
      sum += finishHashPart(group[i], begin + i);
  }
  return sum + hashParts(data, bytes, begin, end);
}

#else

bool canHashWide() { return false; }

uint64_t hashPartsWide(const void *data, uint64_t bytes, uint64_t begin, uint64_t end) {
  return hashParts(data, bytes, begin, end);
}

#endif

} // namespace atc::rt
