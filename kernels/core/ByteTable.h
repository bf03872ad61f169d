//===-- ByteTable.h - functions of bytes as tables ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_BYTETABLE_H
#define OPENATC_KERNELS_CORE_BYTETABLE_H

#include "kernels/core/WideDot.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

#if defined(__x86_64__)
/// Computes 64 elements at a time; returns how many that were. The table is words of two bytes in
/// four registers, from which instructions that take a word of two of them find it.
ATC_WIDE_DOT inline int64_t lookUpVectors(uint8_t *to, const uint8_t *from, int64_t count,
                                          const uint8_t *table) {
  const __m512i words[4] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                            _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  const __m512i ones = _mm512_set1_epi16(1), bytes = _mm512_set1_epi16(0xff);
  // The element of the lower byte of each lane.
  const auto find =
      [&](__m512i at)
          __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))) {
            const __m512i word = _mm512_srli_epi16(at, 1);
            const __m512i low = _mm512_permutex2var_epi16(words[0], word, words[1]);
            const __m512i high = _mm512_permutex2var_epi16(words[2], word, words[3]);
            const __mmask32 isHigh = _mm512_test_epi16_mask(at, _mm512_set1_epi16(0x80));
            const __m512i both = _mm512_mask_blend_epi16(isHigh, low, high);
            const __m512i shift = _mm512_slli_epi16(_mm512_and_si512(at, ones), 3);
            return _mm512_and_si512(_mm512_srlv_epi16(both, shift), bytes);
          };
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m512i at = _mm512_loadu_si512(from + i);
    const __m512i evens = find(_mm512_and_si512(at, bytes)), odds = find(_mm512_srli_epi16(at, 8));
    _mm512_storeu_si512(to + i, _mm512_or_si512(evens, _mm512_slli_epi16(odds, 8)));
  }
  return i;
}
#endif

/// Computes to[i] = table[from[i]].
inline void lookUpRun(uint8_t *to, const uint8_t *from, int64_t count, const uint8_t *table) {
  int64_t i = 0;
#if defined(__x86_64__)
  if (hasWideDot())
    i = lookUpVectors(to, from, count, table);
#endif
  for (; i < count; ++i)
    to[i] = table[from[i]];
}

/// Looks up `count` bytes, on all threads.
inline void lookUp(Context &c, char *out, const char *from, int64_t count, const uint8_t *table) {
  forParts(c, count, [&](int64_t begin, int64_t end) {
    lookUpRun(reinterpret_cast<uint8_t *>(out) + begin,
              reinterpret_cast<const uint8_t *>(from) + begin, end - begin, table);
  });
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_BYTETABLE_H
