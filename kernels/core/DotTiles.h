//===-- DotTiles.h - products of 8-bit matrices in tile registers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction of AMX adds the products of 16 rows of 64 unsigned bytes and of 16 columns of 64
// signed ones, four side by side, to 16 x 16 sums: the panels of ByteDots are such columns. Two
// tiles of rows and two panels are 4 products per 4 loads.

#ifndef OPENATC_KERNELS_CORE_DOTTILES_H
#define OPENATC_KERNELS_CORE_DOTTILES_H

#include "kernels/core/Support.h"
#include "kernels/core/WideDot.h"

#if defined(__x86_64__)

namespace atc::kernels {

/// Multiplies rows and panels of `words` words of four bytes. Only where hasTileRegisters().
struct DotTiles {
  static constexpr int64_t kRows = 16, kColumns = 16; ///< of the sums in a register
  static constexpr int64_t kWords = 16;               ///< per row of a register
  static constexpr int64_t kMinRows = 4; ///< below which vpdpbusd takes less time than a tile
  int64_t words;

  /// Returns the words that multiply() covers: whole registers.
  int64_t covered() const { return words / kWords * kWords; }
  /// Returns for how many of m rows tiles are worth it.
  static int64_t coveredRows(int64_t m) { return m % kRows < kMinRows ? m / kRows * kRows : m; }

  /// Computes c = the products of covered() words of m rows and of `count` panels, for
  /// m = coveredRows(m). The rows of c are cRow elements apart, and have room for all panels.
  ATC_TILE_REGISTERS void multiply(int32_t *c, int64_t cRow, const uint8_t *a, const int8_t *panels,
                                   int64_t m, int64_t count) const {
    const int64_t panelStep = words * 4 * kColumns;
    int64_t shaped = 0;
    for (int64_t row = 0; row < m; row += 2 * kRows) {
      const int64_t rows = minimum(2 * kRows, m - row);
      if (rows != shaped)
        shape(rows);
      shaped = rows;
      for (int64_t p = 0; p < count; p += 2) {
        int32_t *to = c + row * cRow + p * kColumns;
        const uint8_t *from = a + row * words * 4;
        const int8_t *b = panels + p * panelStep;
        if (rows > kRows)
          count - p > 1 ? product<2, 2>(to, cRow, from, b) : product<2, 1>(to, cRow, from, b);
        else
          count - p > 1 ? product<1, 2>(to, cRow, from, b) : product<1, 1>(to, cRow, from, b);
      }
    }
    // The system need not save the registers any more.
    _tile_release();
  }

  /// Shapes registers 0 to 3 for sums, 4 and 5 for up to 32 rows of a, and 6 and 7
  /// for panels.
  ATC_TILE_REGISTERS static void shape(int64_t rows) {
    Shapes shapes;
    const auto first = uint8_t(minimum(kRows, rows)),
               second = uint8_t(rows > kRows ? rows - kRows : kRows);
    const uint8_t counts[] = {first, first, second, second, first, second, kWords, kWords};
    for (int i = 0; i < 8; ++i) {
      shapes.rows[i] = counts[i];
      shapes.bytes[i] = 64;
    }
    _tile_loadconfig(&shapes);
  }

private:
  /// The operand of ldtilecfg, which sets the shapes of the registers.
  struct Shapes {
    uint8_t palette = 1, startRow = 0, reserved[14] = {};
    uint16_t bytes[16] = {}; ///< per row
    uint8_t rows[16] = {};
  };
  static_assert(sizeof(Shapes) == 64);

  /// Computes the sums of R tiles of rows and P panels.
  template <int R, int P>
  ATC_TILE_REGISTERS void product(int32_t *c, int64_t cRow, const uint8_t *a,
                                  const int8_t *b) const {
    const int64_t aRow = words * 4, panelStep = words * 4 * kColumns, cBytes = cRow * 4;
    const int64_t depth = covered();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t w = 0; w < depth; w += kWords) {
      // What is loaded next: products take as long as 64 lines from the second cache.
      const int64_t next = w + kWords;
      for (int64_t i = 0; i < R * kRows; ++i)
        __builtin_prefetch(a + i * aRow + 4 * next);
      for (int64_t p = 0; p < P; ++p)
        for (int64_t i = 0; i < kWords; ++i)
          __builtin_prefetch(b + p * panelStep + (next + i) * 4 * kColumns);
      _tile_loadd(4, a + 4 * w, aRow);
      _tile_loadd(6, b + w * 4 * kColumns, 4 * kColumns);
      _tile_dpbusd(0, 4, 6);
      if constexpr (R > 1) {
        _tile_loadd(5, a + kRows * aRow + 4 * w, aRow);
        _tile_dpbusd(2, 5, 6);
      }
      if constexpr (P > 1) {
        _tile_loadd(7, b + panelStep + w * 4 * kColumns, 4 * kColumns);
        _tile_dpbusd(1, 4, 7);
      }
      if constexpr (R > 1 && P > 1)
        _tile_dpbusd(3, 5, 7);
    }
    int32_t *below = c + kRows * cRow;
    _tile_stored(0, c, cBytes);
    if constexpr (P > 1)
      _tile_stored(1, c + kColumns, cBytes);
    if constexpr (R > 1)
      _tile_stored(2, below, cBytes);
    if constexpr (R > 1 && P > 1)
      _tile_stored(3, below + kColumns, cBytes);
  }
};

} // namespace atc::kernels

#endif // __x86_64__
#endif // OPENATC_KERNELS_CORE_DOTTILES_H
