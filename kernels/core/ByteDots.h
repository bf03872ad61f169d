//===-- ByteDots.h - products of 8-bit matrices by vpdpbusd ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vpdpbusd multiplies unsigned bytes by signed ones and adds four products per lane. So rows of a
// become unsigned (int8 plus 128) and columns of b signed (uint8 minus 128), and their zero points
// with them, which are taken out of the sums at the end:
//
//   sum (a - za) (b - zb) = sum a b - za sum b - zb (sum a - k za)
//
// All arithmetic wraps at 32 bits, so that the result is exact where the sums of the operator are.

#ifndef OPENATC_KERNELS_CORE_BYTEDOTS_H
#define OPENATC_KERNELS_CORE_BYTEDOTS_H

#include "kernels/core/BytePanels.h"
#include "kernels/core/DotTiles.h"
#include "kernels/core/RowTiles.h"
#include "kernels/core/Support.h"
#include "kernels/core/WideDot.h"

#if defined(__x86_64__)

namespace atc::kernels {

/// Arranges and multiplies matrices of depth k. Only where hasWideDot().
struct ByteDots {
  static constexpr int64_t kLanes = BytePanels::kColumns;
  static constexpr int64_t kDepthWords =
      128; ///< of k at a time: two panels stay in the first cache
  int64_t k;

  /// Returns the words of four bytes that a row, or a column, takes.
  int64_t words() const { return ceilDiv(k, int64_t(4)); }

  /// Writes a row as unsigned bytes, zeros behind k, and returns their sum.
  ATC_WIDE_DOT uint32_t arrangeRow(uint8_t *to, const uint8_t *from, int64_t step,
                                   bool isSigned) const {
    // A copy: for all the compiler knows, what is written may be a part of this.
    const int64_t count = k, padded = words() * 4;
    const uint8_t flip = isSigned ? 0x80 : 0;
    uint32_t sum = 0;
    if (step == 1)
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[i] ^ flip;
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = from[i * step] ^ flip;
    for (int64_t i = 0; i < count; ++i)
      sum += to[i];
    for (int64_t i = count; i < padded; ++i)
      to[i] = 0;
    return sum;
  }

  /// Writes up to kLanes columns of b as a panel, zeros behind k and behind the last column, and
  /// the sum of each.
  ATC_WIDE_DOT void packPanel(int8_t *to, int32_t *sums, const uint8_t *from, int64_t row,
                              int64_t column, int64_t columns, bool isSigned) const {
    const int8_t flip = isSigned ? 0 : -128;
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i total = _mm512_setzero_si512();
    for (int64_t w = 0; w < words(); ++w, to += 4 * kLanes) {
      const int64_t rows = minimum(int64_t(4), k - 4 * w);
      const uint8_t *lines = from + 4 * w * row;
      if (rows == 4 && columns == kLanes && column == 1) {
        __m128i line[4];
#pragma clang loop unroll(full)
        for (int i = 0; i < 4; ++i)
          line[i] =
              _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i *>(lines + i * row)),
                            _mm_set1_epi8(flip));
        storeQuads(to, line);
      } else {
        __builtin_memset(to, 0, 4 * kLanes);
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t i = 0; i < rows; ++i)
            to[4 * j + i] = int8_t(lines[i * row + j * column]) ^ flip;
      }
      total = _mm512_dpbusd_epi32(total, ones, _mm512_loadu_si512(to));
    }
    _mm512_storeu_si512(sums, total);
  }

  /// Writes 16 columns of four rows: what is in one column of the rows becomes neighbours.
  ATC_WIDE_DOT_PART static void storeQuads(void *to, const __m128i (&rows)[4]) {
    const __m128i low[2] = {_mm_unpacklo_epi8(rows[0], rows[1]),
                            _mm_unpacklo_epi8(rows[2], rows[3])};
    const __m128i high[2] = {_mm_unpackhi_epi8(rows[0], rows[1]),
                             _mm_unpackhi_epi8(rows[2], rows[3])};
    __m128i *own = static_cast<__m128i *>(to);
    _mm_storeu_si128(own, _mm_unpacklo_epi16(low[0], low[1]));
    _mm_storeu_si128(own + 1, _mm_unpackhi_epi16(low[0], low[1]));
    _mm_storeu_si128(own + 2, _mm_unpacklo_epi16(high[0], high[1]));
    _mm_storeu_si128(own + 3, _mm_unpackhi_epi16(high[0], high[1]));
  }

  /// Computes c = the products of m rows and as many panels, whose last columns may be beyond b:
  /// c has room for all. `panels`: those of the columns.
  void multiply(int32_t *c, int64_t cRow, const uint8_t *a, const int8_t *panels, int64_t m,
                int64_t count) const {
    int64_t covered = 0;
    const DotTiles tiles{words()};
    if (hasTileRegisters() && tiles.covered() > 0)
      covered = DotTiles::coveredRows(m);
    if (covered > 0) {
      tiles.multiply(c, cRow, a, panels, covered, count);
      multiplyFrom(tiles.covered(), c, cRow, a, panels, covered, count);
    }
    if (covered < m)
      multiplyFrom(0, c + covered * cRow, cRow, a + covered * words() * 4, panels, m - covered,
                   count);
  }

private:
  /// Adds the products from a word on to c, or computes c where that is the first one.
  void multiplyFrom(int64_t word, int32_t *c, int64_t cRow, const uint8_t *a, const int8_t *panels,
                    int64_t m, int64_t count) const {
    const int64_t panelStep = words() * 4 * kLanes;
    for (int64_t first = word; first < words(); first += kDepthWords) {
      const int64_t depth = minimum(kDepthWords, words() - first), next = first + depth;
      for (int64_t p = 0; p < count; p += 2) {
        const int8_t *b = panels + p * panelStep + first * 4 * kLanes;
        // The bytes that are multiplied next, of these columns or of those behind them.
        const int8_t *ahead = p + 2 < count    ? b + 2 * panelStep
                              : next < words() ? panels + next * 4 * kLanes
                                               : panels + count * panelStep;
        int32_t *to = c + p * kLanes;
        count - p > 1 ? multiplyPanels<2>(to, cRow, a + 4 * first, b, ahead, m, depth, first > 0)
                      : multiplyPanels<1>(to, cRow, a + 4 * first, b, ahead, m, depth, first > 0);
      }
    }
  }

  template <int R, int P>
  ATC_WIDE_DOT void tile(int32_t *c, int64_t cRow, const uint8_t *a, const int8_t *b,
                         const int8_t *ahead, int64_t depth, bool add) const {
    const int64_t aRow = words() * 4, panelStep = words() * 4 * kLanes;
    __m512i sums[R][P];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p)
        sums[r][p] = add ? _mm512_loadu_si512(c + r * cRow + p * kLanes) : _mm512_setzero_si512();
    for (int64_t w = 0; w < depth; ++w) {
      __m512i panel[P];
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p) {
        panel[p] = _mm512_loadu_si512(b + p * panelStep + w * 4 * kLanes);
        __builtin_prefetch(ahead + p * panelStep + w * 4 * kLanes);
      }
#pragma clang loop unroll(full)
      for (int r = 0; r < R; ++r) {
        int32_t word;
        __builtin_memcpy(&word, a + r * aRow + 4 * w, 4);
        const __m512i four = _mm512_set1_epi32(word);
#pragma clang loop unroll(full)
        for (int p = 0; p < P; ++p)
          sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], four, panel[p]);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r)
#pragma clang loop unroll(full)
      for (int p = 0; p < P; ++p)
        _mm512_storeu_si512(c + r * cRow + p * kLanes, sums[r][p]);
  }

  template <int P>
  void multiplyPanels(int32_t *c, int64_t cRow, const uint8_t *a, const int8_t *b,
                      const int8_t *ahead, int64_t m, int64_t depth, bool add) const {
    forRowTiles(m, [&]<int R>(int64_t row) {
      tile<R, P>(c + row * cRow, cRow, a + row * words() * 4, b, ahead, depth, add);
    });
  }
};

} // namespace atc::kernels

#endif // __x86_64__
#endif // OPENATC_KERNELS_CORE_BYTEDOTS_H
